// FJsonSerializer.
// Source: ufna/VaRest Source/VaRest/Private/VaRestJsonObject.cpp, NotYetGames/DlgSystem Source/DlgSystem/IO/DlgJsonParser.cpp
#pragma once

#include "Serialization/JsonReader.h"
#include "Serialization/JsonWriter.h"

// Source: ufna/VaRest Source/VaRest/Private/VaRestJsonObject.cpp (FJsonSerializer::Serialize, Deserialize)
class FJsonSerializer
{
public:
    // Source: JonasReich/OpenUnrealUtilities Source/OUURuntime/Public/GameEntitlements/OUUGameEntitlementsTags.h
    enum class EFlags
    {
        None = 0,
        StoreNumbersAsStrings = 1,
    };
    template <class CharType>
    static bool Deserialize(const TSharedRef<TJsonReader<CharType>>& Reader, TSharedPtr<FJsonObject>& OutObject,
        EFlags InOptions = EFlags::None)
    {
        TSharedPtr<FJsonValue> Value;
        if (!Read(*Reader, InOptions, Value) || Value->Type != EJson::Object)
        {
            return false;
        }
        OutObject = Value->AsObject();
        return true;
    }
    template <class CharType>
    static bool Deserialize(const TSharedRef<TJsonReader<CharType>>& Reader, TArray<TSharedPtr<FJsonValue>>& OutArray,
        EFlags InOptions = EFlags::None)
    {
        TSharedPtr<FJsonValue> Value;
        if (!Read(*Reader, InOptions, Value) || Value->Type != EJson::Array)
        {
            return false;
        }
        OutArray = Value->AsArray();
        return true;
    }
    template <class CharType>
    static bool Deserialize(const TSharedRef<TJsonReader<CharType>>& Reader, TSharedPtr<FJsonValue>& OutValue,
        EFlags InOptions = EFlags::None)
    {
        return Read(*Reader, InOptions, OutValue);
    }
    template <class CharType, class PrintPolicy>
    static bool Serialize(const TSharedRef<FJsonObject>& Object, const TSharedRef<TJsonWriter<CharType, PrintPolicy>>& Writer,
        bool bCloseWriter = true)
    {
        Write(*Writer, nullptr, MakeShared<FJsonValueObject>(Object));
        return !bCloseWriter || Writer->Close();
    }
    template <class CharType, class PrintPolicy>
    static bool Serialize(const TArray<TSharedPtr<FJsonValue>>& Array,
        const TSharedRef<TJsonWriter<CharType, PrintPolicy>>& Writer, bool bCloseWriter = true)
    {
        Write(*Writer, nullptr, MakeShared<FJsonValueArray>(Array));
        return !bCloseWriter || Writer->Close();
    }
    template <class CharType, class PrintPolicy>
    static bool Serialize(const TSharedPtr<FJsonValue>& Value, const FString& Identifier,
        const TSharedRef<TJsonWriter<CharType, PrintPolicy>>& Writer, bool bCloseWriter = true)
    {
        Write(*Writer, Identifier.IsEmpty() ? nullptr : &Identifier, Value);
        return !bCloseWriter || Writer->Close();
    }

private:
    JSON_API static bool Read(TJsonReader<TCHAR>& Reader, EFlags Options, TSharedPtr<FJsonValue>& Out);
    template <class W>
    static void Write(W& Writer, const FString* Name, const TSharedPtr<FJsonValue>& Value)
    {
        const auto Put = [&Writer, Name](const auto& Plain)
        {
            if (Name == nullptr)
            {
                Writer.WriteValue(Plain);
            }
            else
            {
                Writer.WriteValue(*Name, Plain);
            }
        };
        switch (Value->Type)
        {
        case EJson::String:
            Put(Value->AsString());
            break;
        case EJson::Number:
            if (Value->PreferStringRepresentation())
            {
                Name == nullptr ? Writer.WriteRawJSONValue(Value->AsString())
                                : Writer.WriteRawJSONValue(*Name, Value->AsString());
            }
            else
            {
                Put(Value->AsNumber());
            }
            break;
        case EJson::Boolean:
            Put(Value->AsBool());
            break;
        case EJson::Array:
            Name == nullptr ? Writer.WriteArrayStart() : Writer.WriteArrayStart(*Name);
            for (const TSharedPtr<FJsonValue>& Item : Value->AsArray())
            {
                Write(Writer, nullptr, Item);
            }
            Writer.WriteArrayEnd();
            break;
        case EJson::Object:
            Name == nullptr ? Writer.WriteObjectStart() : Writer.WriteObjectStart(*Name);
            for (const auto& Pair : Value->AsObject()->Values)
            {
                Write(Writer, &Pair.Key, Pair.Value);
            }
            Writer.WriteObjectEnd();
            break;
        default:
            Name == nullptr ? Writer.WriteNull() : Writer.WriteNull(*Name);
        }
    }
};
