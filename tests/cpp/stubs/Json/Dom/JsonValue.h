// FJsonValue and its kinds.
// Source: ufna/VaRest Source/VaRest/Private/VaRestJsonValue.cpp, getnamo/SocketIOClient-Unreal
// Source/SIOJson/Private/SIOJConvert.cpp
#pragma once

#include "CoreMinimal.h"

#define JSON_API DLLEXPORT

class FJsonObject;
class FJsonValue;

// Source: ufna/VaRest Source/VaRest/Private/VaRestJsonValue.cpp (EJson::String), getnamo/SocketIOClient-Unreal
// Source/SIOJson/Private/SIOJsonValue.cpp
enum class EJson
{
    None,
    Null,
    String,
    Number,
    Boolean,
    Array,
    Object
};

// Source: ufna/VaRest Source/VaRest/Private/VaRestJsonValue.cpp
class FJsonValue
{
public:
    virtual ~FJsonValue() = default;
    JSON_API double AsNumber() const;
    JSON_API FString AsString() const;
    JSON_API bool AsBool() const;
    JSON_API const TArray<TSharedPtr<FJsonValue>>& AsArray() const;
    JSON_API const TSharedPtr<FJsonObject>& AsObject() const;
    virtual bool TryGetNumber(double& OutNumber) const { return false; }
    JSON_API bool TryGetNumber(int32& OutNumber) const;
    JSON_API bool TryGetNumber(int64& OutNumber) const;
    virtual bool TryGetString(FString& OutString) const { return false; }
    virtual bool TryGetBool(bool& OutBool) const { return false; }
    virtual bool TryGetArray(const TArray<TSharedPtr<FJsonValue>>*& OutArray) const { return false; }
    virtual bool TryGetObject(const TSharedPtr<FJsonObject>*& Object) const { return false; }
    virtual bool TryGetObject(TSharedPtr<FJsonObject>*& Object) { return false; }
    bool IsNull() const { return Type == EJson::Null || Type == EJson::None; }
    virtual bool PreferStringRepresentation() const { return false; }
    static JSON_API bool CompareEqual(const FJsonValue& Lhs, const FJsonValue& Rhs);
    EJson Type = EJson::None;

protected:
    explicit FJsonValue(EJson InType)
        : Type(InType)
    {
    }
};

// Source: NotYetGames/DlgSystem Source/DlgSystem/IO/DlgJsonWriter.cpp
class FJsonValueString : public FJsonValue
{
public:
    explicit FJsonValueString(const FString& InString)
        : FJsonValue(EJson::String)
        , Value(InString)
    {
    }
    bool TryGetString(FString& OutString) const override
    {
        OutString = Value;
        return true;
    }
    /// Text that is a number is taken for one, as in the engine.
    JSON_API bool TryGetNumber(double& OutNumber) const override;
    JSON_API bool TryGetBool(bool& OutBool) const override;

protected:
    FString Value;
};

// Source: NotYetGames/DlgSystem Source/DlgSystem/IO/DlgJsonWriter.cpp
class FJsonValueNumber : public FJsonValue
{
public:
    explicit FJsonValueNumber(double InNumber)
        : FJsonValue(EJson::Number)
        , Value(InNumber)
    {
    }
    bool TryGetNumber(double& OutNumber) const override
    {
        OutNumber = Value;
        return true;
    }
    bool TryGetBool(bool& OutBool) const override
    {
        OutBool = Value != 0.0;
        return true;
    }
    bool TryGetString(FString& OutString) const override
    {
        OutString = FString::SanitizeFloat(Value, 0);
        return true;
    }

protected:
    double Value;
};

// Source: CesiumGS/cesium-unreal Source/CesiumRuntime/Private/CesiumGeoJsonObject.cpp
class FJsonValueNumberString : public FJsonValue
{
public:
    explicit FJsonValueNumberString(const FString& InNumber)
        : FJsonValue(EJson::Number)
        , Value(InNumber)
    {
    }
    JSON_API bool TryGetNumber(double& OutNumber) const override;
    using FJsonValue::TryGetNumber;
    bool TryGetBool(bool& OutBool) const override
    {
        OutBool = Value.ToBool();
        return true;
    }
    bool TryGetString(FString& OutString) const override
    {
        OutString = Value;
        return true;
    }
    bool PreferStringRepresentation() const override { return true; }

protected:
    FString Value;
};

// Source: ufna/VaRest Source/VaRest/Private/VaRestJsonParser.h
class FJsonValueBoolean : public FJsonValue
{
public:
    explicit FJsonValueBoolean(bool InBool)
        : FJsonValue(EJson::Boolean)
        , Value(InBool)
    {
    }
    bool TryGetNumber(double& OutNumber) const override
    {
        OutNumber = Value ? 1 : 0;
        return true;
    }
    bool TryGetBool(bool& OutBool) const override
    {
        OutBool = Value;
        return true;
    }
    bool TryGetString(FString& OutString) const override
    {
        OutString = Value ? TEXT("true") : TEXT("false");
        return true;
    }

protected:
    bool Value;
};

// Source: NotYetGames/DlgSystem Source/DlgSystem/IO/DlgJsonWriter.cpp
class FJsonValueArray : public FJsonValue
{
public:
    explicit FJsonValueArray(const TArray<TSharedPtr<FJsonValue>>& InArray)
        : FJsonValue(EJson::Array)
        , Value(InArray)
    {
    }
    bool TryGetArray(const TArray<TSharedPtr<FJsonValue>>*& OutArray) const override
    {
        OutArray = &Value;
        return true;
    }

protected:
    TArray<TSharedPtr<FJsonValue>> Value;
};

// Source: ufna/VaRest Source/VaRest/Private/VaRestJsonParser.cpp
class FJsonValueObject : public FJsonValue
{
public:
    explicit FJsonValueObject(TSharedPtr<FJsonObject> InObject)
        : FJsonValue(EJson::Object)
        , Value(InObject)
    {
    }
    bool TryGetObject(const TSharedPtr<FJsonObject>*& Object) const override
    {
        Object = &Value;
        return true;
    }
    bool TryGetObject(TSharedPtr<FJsonObject>*& Object) override
    {
        Object = &Value;
        return true;
    }

protected:
    TSharedPtr<FJsonObject> Value;
};

// Source: NotYetGames/DlgSystem Source/DlgSystem/IO/DlgJsonWriter.cpp
class FJsonValueNull : public FJsonValue
{
public:
    FJsonValueNull()
        : FJsonValue(EJson::Null)
    {
    }
};
