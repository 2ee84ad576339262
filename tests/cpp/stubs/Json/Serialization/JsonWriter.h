// TJsonWriter.
// Source: ufna/VaRest Source/VaRest/Private/VaRestJsonObject.cpp (TJsonWriterFactory<TCHAR, TCondensedJsonPrintPolicy<TCHAR>>)
#pragma once

#include "Policies/PrettyJsonPrintPolicy.h"
#include "Serialization/JsonTypes.h"

namespace StubEngine
{
JSON_API FString QuotedJson(const FString& Text);
} // namespace StubEngine

// Source: ufna/VaRest Source/VaRest/Private/VaRestJsonObject.cpp,
// dev.epicgames.com/documentation/en-us/unreal-engine/API/Runtime/Json/TJsonWriter
template <class CharType = TCHAR, class PrintPolicy = TPrettyJsonPrintPolicy<CharType>>
class TJsonWriter
{
public:
    explicit TJsonWriter(FString* InOut, int32 InitialIndent = 0)
        : Out(InOut)
        , Depth(InitialIndent)
    {
    }
    void WriteObjectStart() { Open('{'); }
    void WriteObjectStart(const FString& Identifier)
    {
        Name(Identifier);
        Open('{', true);
    }
    void WriteObjectEnd() { Shut('}'); }
    void WriteArrayStart() { Open('['); }
    void WriteArrayStart(const FString& Identifier)
    {
        Name(Identifier);
        Open('[', true);
    }
    void WriteArrayEnd() { Shut(']'); }
    void WriteValue(bool Value) { Put(Value ? TEXT("true") : TEXT("false")); }
    void WriteValue(const FString& Value) { Put(StubEngine::QuotedJson(Value)); }
    void WriteValue(const TCHAR* Value) { WriteValue(FString(Value)); }
    void WriteValue(float Value) { WriteValue(static_cast<double>(Value)); }
    void WriteValue(double Value) { Put(FString::Printf(TEXT("%.17g"), Value)); }
    void WriteValue(int32 Value) { Put(LexToString(Value)); }
    void WriteValue(int64 Value) { Put(LexToString(Value)); }
    void WriteValue(uint64 Value) { Put(LexToString(Value)); }
    template <class T>
    void WriteValue(const FString& Identifier, T Value)
    {
        Name(Identifier);
        bNamed = true;
        WriteValue(Value);
    }
    void WriteNull() { Put(TEXT("null")); }
    void WriteNull(const FString& Identifier)
    {
        Name(Identifier);
        bNamed = true;
        WriteNull();
    }
    void WriteRawJSONValue(const FString& Value) { Put(Value); }
    void WriteRawJSONValue(const FString& Identifier, const FString& Value)
    {
        Name(Identifier);
        bNamed = true;
        Put(Value);
    }
    bool Close() { return Depth == 0; }

private:
    void Separate()
    {
        if (bNeedComma)
        {
            *Out += TEXT(",");
        }
        if (PrintPolicy::bPretty && Depth > 0)
        {
            *Out += TEXT("\n") + FString::ChrN(Depth, '\t');
        }
    }
    void Put(const FString& Written)
    {
        if (!bNamed)
        {
            Separate();
        }
        bNamed = false;
        *Out += Written;
        bNeedComma = true;
    }
    void Name(const FString& Identifier)
    {
        Separate();
        *Out += StubEngine::QuotedJson(Identifier);
        *Out += PrintPolicy::bPretty ? TEXT(": ") : TEXT(":");
        bNeedComma = false;
    }
    void Open(TCHAR Mark, bool bInNamed = false)
    {
        if (!bInNamed)
        {
            Separate();
        }
        *Out += Mark;
        ++Depth;
        bNeedComma = false;
    }
    void Shut(TCHAR Mark)
    {
        --Depth;
        if (PrintPolicy::bPretty)
        {
            *Out += TEXT("\n") + FString::ChrN(Depth, '\t');
        }
        *Out += Mark;
        bNeedComma = true;
    }
    FString* Out;
    int32 Depth;
    bool bNeedComma = false;
    bool bNamed = false;
};

// Source: ufna/VaRest Source/VaRest/Private/VaRestJsonObject.cpp
template <class CharType = TCHAR, class PrintPolicy = TPrettyJsonPrintPolicy<CharType>>
class TJsonWriterFactory
{
public:
    static TSharedRef<TJsonWriter<CharType, PrintPolicy>> Create(FString* Stream, int32 InitialIndent = 0)
    {
        return MakeShared<TJsonWriter<CharType, PrintPolicy>>(Stream, InitialIndent);
    }
};
