// FJsonObject: fields in the order of adding, their names without regard to case.
// Source: ufna/VaRest Source/VaRest/Private/VaRestJsonObject.cpp, getnamo/SocketIOClient-Unreal
// Source/SIOJson/Private/SIOJConvert.cpp
#pragma once

#include "Dom/JsonValue.h"

#if ENGINE_MINOR_VERSION >= 8
namespace UE
{
// Source: rdeioris/glTFRuntime Source/glTFRuntime/Private/glTFRuntimeParserCustom.cpp (pull request 128: the names of fields
// from Unreal 5.8 on; it gives its characters as an FString does, and becomes none by itself)
struct FSharedString
{
    FSharedString(const FString& InText)
        : Text(InText)
    {
    }
    const TCHAR* operator*() const { return *Text; }
    bool operator==(const FSharedString& Other) const { return Text == Other.Text; }
    FString Text;
};
inline uint32 GetTypeHash(const FSharedString& Key)
{
    return ::GetTypeHash(Key.Text);
}
} // namespace UE
using FStubJsonName = UE::FSharedString;
#else
using FStubJsonName = FString;
#endif

// Source: ufna/VaRest Source/VaRest/Private/VaRestJsonObject.cpp
class JSON_API FJsonObject
{
public:
    TMap<FStubJsonName, TSharedPtr<FJsonValue>> Values;

    template <EJson JsonType>
    TSharedPtr<FJsonValue> GetField(const FString& FieldName) const
    {
        const TSharedPtr<FJsonValue>* Field = Values.Find(FieldName);
        if (Field != nullptr && Field->IsValid() && (JsonType == EJson::None || (*Field)->Type == JsonType))
        {
            return *Field;
        }
        return MakeShared<FJsonValueNull>();
    }
    TSharedPtr<FJsonValue> TryGetField(const FString& FieldName) const;
    bool HasField(const FString& FieldName) const;
    template <EJson JsonType>
    bool HasTypedField(const FString& FieldName) const
    {
        const TSharedPtr<FJsonValue>* Field = Values.Find(FieldName);
        return Field != nullptr && Field->IsValid() && (*Field)->Type == JsonType;
    }
    void SetField(const FString& FieldName, const TSharedPtr<FJsonValue>& Value);
    void RemoveField(const FString& FieldName);
    double GetNumberField(const FString& FieldName) const;
    int32 GetIntegerField(const FString& FieldName) const;
    bool TryGetNumberField(const FString& FieldName, double& OutNumber) const;
    bool TryGetNumberField(const FString& FieldName, float& OutNumber) const;
    bool TryGetNumberField(const FString& FieldName, int32& OutNumber) const;
    bool TryGetNumberField(const FString& FieldName, int64& OutNumber) const;
    void SetNumberField(const FString& FieldName, double Number);
    FString GetStringField(const FString& FieldName) const;
    bool TryGetStringField(const FString& FieldName, FString& OutString) const;
    bool TryGetStringArrayField(const FString& FieldName, TArray<FString>& OutArray) const;
    void SetStringField(const FString& FieldName, const FString& StringValue);
    bool GetBoolField(const FString& FieldName) const;
    bool TryGetBoolField(const FString& FieldName, bool& OutBool) const;
    void SetBoolField(const FString& FieldName, bool InValue);
    const TArray<TSharedPtr<FJsonValue>>& GetArrayField(const FString& FieldName) const;
    bool TryGetArrayField(const FString& FieldName, const TArray<TSharedPtr<FJsonValue>>*& OutArray) const;
    void SetArrayField(const FString& FieldName, const TArray<TSharedPtr<FJsonValue>>& Array);
    const TSharedPtr<FJsonObject>& GetObjectField(const FString& FieldName) const;
    bool TryGetObjectField(const FString& FieldName, const TSharedPtr<FJsonObject>*& OutObject) const;
    bool TryGetObjectField(const FString& FieldName, TSharedPtr<FJsonObject>*& OutObject);
    void SetObjectField(const FString& FieldName, const TSharedPtr<FJsonObject>& JsonObject);
};
