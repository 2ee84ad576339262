// TJsonReader.
// Source: NotYetGames/DlgSystem Source/DlgSystem/IO/DlgJsonParser.cpp (TJsonReaderFactory<TCHAR>::Create(JsonString)),
// ufna/VaRest Source/VaRest/Private/VaRestJsonObject.cpp
#pragma once

#include "Serialization/JsonTypes.h"

// Source: getnamo/SocketIOClient-Unreal Source/SIOJson/Private/SIOJConvert.cpp
template <class CharType = TCHAR>
class TJsonReader;

/// As the engine's reader: duplicate keys and deep nesting are its caller's business.
// Source: getnamo/SocketIOClient-Unreal Source/SIOJson/Private/SIOJConvert.cpp
template <>
class JSON_API TJsonReader<TCHAR>
{
public:
    explicit TJsonReader(FString InText);
    virtual ~TJsonReader() = default;
    bool ReadNext(EJsonNotation& Notation);
    bool SkipObject();
    bool SkipArray();
    const FString& GetIdentifier() const { return Identifier; }
    FString&& StealIdentifier() { return static_cast<FString&&>(Identifier); }
    const FString& GetValueAsString() const { return StringValue; }
    FString StealInternalValueAsString() { return StringValue; }
    double GetValueAsNumber() const { return NumberValue; }
    const FString& GetValueAsNumberString() const { return StringValue; }
    bool GetValueAsBoolean() const { return BoolValue; }
    const FString& GetErrorMessage() const { return ErrorMessage; }
    uint32 GetLineNumber() const { return Line; }
    uint32 GetCharacterNumber() const { return Column; }

private:
    bool Fail(const TCHAR* Message);
    void Skip();
    bool ReadText(FString& Out);
    bool Next(EJsonNotation& Notation);
    FString Text;
    int32 At = 0;
    TArray<bool> Inside; // true: an object
    bool bAfterValue = false;
    bool bFinished = false;
    FString Identifier;
    FString StringValue;
    FString ErrorMessage;
    double NumberValue = 0;
    bool BoolValue = false;
    uint32 Line = 1;
    uint32 Column = 0;
};

// Source: NotYetGames/DlgSystem Source/DlgSystem/IO/DlgJsonParser.cpp, ufna/VaRest Source/VaRest/Private/VaRestJsonObject.cpp
template <class CharType = TCHAR>
class TJsonReaderFactory
{
public:
    static TSharedRef<TJsonReader<TCHAR>> Create(const FString& JsonString) { return MakeShared<TJsonReader<TCHAR>>(JsonString); }
    static TSharedRef<TJsonReader<TCHAR>> Create(FString&& JsonString) { return MakeShared<TJsonReader<TCHAR>>(JsonString); }
};
typedef TJsonReaderFactory<TCHAR> FJsonStringReaderFactory;
