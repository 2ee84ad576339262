// What the engine's reader finds becomes values of the core; what it lets through and JSON does not is refused here.
#include "JsonCodecUnreal.h"

#include "Core/JsonBuilder.h"
#include "Core/Numbers.h"
#include "Core/Utf8.h"
#include "ParleyText.h"
#include "Serialization/JsonReader.h"
#include "Serialization/JsonTypes.h"

#include <cstddef>
#include <utility>

namespace Parley
{

namespace JsonCodecUnrealLocal
{

using FReader = TJsonReader<TCHAR>;

/// Looks at the words of a JSON text one by one, not at how they are put together: that is the engine's reader's.
/// It takes words in capitals, a comma behind the last item, control characters and half surrogates.
class Words final
{
public:
    explicit Words(std::string_view InText) noexcept : Text(InText) {}

    bool AreGood(std::string& Fault)
    {
        if (Text.substr(0, 3) == "\xEF\xBB\xBF")
        {
            return Fail("it begins with a byte order mark", 0, Fault);
        }
        const std::size_t Bad = Utf8::FindFault(Text);
        if (Bad != std::string_view::npos)
        {
            return Fail("it is not UTF-8", Bad, Fault);
        }
        bool bBehindComma = false;
        while (At < Text.size())
        {
            const char First = Text[At];
            if (First == ' ' || First == '\t' || First == '\n' || First == '\r')
            {
                At++;
                continue;
            }
            if (bBehindComma && (First == ']' || First == '}'))
            {
                return Fail("a comma with nothing behind it", At, Fault);
            }
            bBehindComma = First == ',';
            if (!OneIsGood(First, Fault))
            {
                return false;
            }
        }
        return true;
    }

private:
    bool OneIsGood(char First, std::string& Fault)
    {
        switch (First)
        {
            case '{':
            case '}':
            case '[':
            case ']':
            case ':':
            case ',':
                At++;
                return true;
            case '"':
                return StringIsGood(Fault);
            default:
                break;
        }
        std::size_t End = At;
        while (End < Text.size() && IsOfWord(Text[End]))
        {
            End++;
        }
        const std::string_view Word = Text.substr(At, End - At);
        if (Word != "true" && Word != "false" && Word != "null" && !Numbers::IsJson(Word))
        {
            return Fail(Word.empty() ? "no JSON begins so" : "neither a number nor a word of JSON", At, Fault);
        }
        At = End;
        return true;
    }

    static bool IsOfWord(char One) noexcept
    {
        return (One >= '0' && One <= '9') || (One >= 'a' && One <= 'z') || (One >= 'A' && One <= 'Z') || One == '-' || One == '+'
            || One == '.' || One == '_';
    }

    bool StringIsGood(std::string& Fault)
    {
        const std::size_t Begin = At;
        for (At++; At < Text.size(); At++)
        {
            const char One = Text[At];
            if (One == '"')
            {
                At++;
                return true;
            }
            if (static_cast<unsigned char>(One) < 0x20)
            {
                return Fail("a control character within a string", At, Fault);
            }
            if (One == '\\' && !EscapeIsGood())
            {
                return Fail("no escape of JSON", At, Fault);
            }
        }
        return Fail("a string without an end", Begin, Fault);
    }

    /// Leaves At on its last character.
    bool EscapeIsGood()
    {
        const std::size_t Begin = At;
        const char What = Begin + 1 < Text.size() ? Text[Begin + 1] : '\0';
        if (What != 'u')
        {
            At += 1;
            return std::string_view("\"\\/bfnrt").find(What) != std::string_view::npos && What != '\0';
        }
        unsigned First = 0;
        unsigned Second = 0;
        if (!Hex(Begin + 2, First) || (First >= 0xDC00 && First < 0xE000))
        {
            return false;
        }
        At = Begin + 5;
        if (First < 0xD800 || First >= 0xDC00)
        {
            return true;
        }
        if (Text.substr(Begin + 6, 2) != "\\u" || !Hex(Begin + 8, Second) || Second < 0xDC00 || Second >= 0xE000)
        {
            At = Begin;
            return false;
        }
        At = Begin + 11;
        return true;
    }

    bool Hex(std::size_t From, unsigned& Out) const noexcept
    {
        if (From + 4 > Text.size())
        {
            return false;
        }
        Out = 0;
        for (std::size_t Index = From; Index < From + 4; Index++)
        {
            const char One = Text[Index];
            const int Digit = One >= '0' && One <= '9' ? One - '0'
                : One >= 'a' && One <= 'f'             ? One - 'a' + 10
                : One >= 'A' && One <= 'F'             ? One - 'A' + 10
                                                       : -1;
            if (Digit < 0)
            {
                return false;
            }
            Out = Out * 16 + static_cast<unsigned>(Digit);
        }
        return true;
    }

    bool Fail(std::string_view Why, std::size_t Where, std::string& Fault) const
    {
        std::size_t Line = 1;
        std::size_t Column = 1;
        for (std::size_t Index = 0; Index < Where; Index++)
        {
            const bool bIsEnd = Text[Index] == '\n';
            // Columns count characters, not bytes.
            const bool bIsPart = (static_cast<unsigned char>(Text[Index]) & 0xC0) == 0x80;
            Line += bIsEnd ? 1 : 0;
            Column = bIsEnd ? 1 : Column + (bIsPart ? 0 : 1);
        }
        Fault = "line " + Numbers::Of(Line) + ", column " + Numbers::Of(Column) + ": " + std::string(Why);
        return false;
    }

    const std::string_view Text;
    std::size_t At = 0;
};

/// The engine's reader wants an object or an array: anything else is read as the one item of an array.
bool NeedsArray(std::string_view Text) noexcept
{
    const std::size_t First = Text.find_first_not_of(" \t\r\n");
    return First == std::string_view::npos || (Text[First] != '{' && Text[First] != '[');
}

std::string FaultOf(const FReader& Reader)
{
    return "line " + Numbers::Of(static_cast<std::uint32_t>(Reader.GetLineNumber())) + ", column "
        + Numbers::Of(static_cast<std::uint32_t>(Reader.GetCharacterNumber())) + ": " + ToUtf8(Reader.GetErrorMessage());
}

/// Puts what the reader tells of into the builder. False: it is no JSON, or nested too deeply.
bool ReadAll(FReader& Reader, JsonBuilder& Builder, std::string& Fault)
{
    EJsonNotation Notation = EJsonNotation::Null;
    while (Reader.ReadNext(Notation))
    {
        switch (Notation)
        {
            case EJsonNotation::ObjectEnd:
            case EJsonNotation::ArrayEnd:
                Builder.End();
                continue;
            case EJsonNotation::Error:
                Fault = FaultOf(Reader);
                return false;
            default:
                break;
        }
        // Of an item of an array it is empty, and the builder passes over it.
        Builder.Name(ToUtf8(FString(Reader.GetIdentifier())));
        bool bIsPossible = true;
        switch (Notation)
        {
            case EJsonNotation::ObjectStart:
                bIsPossible = Builder.BeginObject();
                break;
            case EJsonNotation::ArrayStart:
                bIsPossible = Builder.BeginArray();
                break;
            case EJsonNotation::Boolean:
                Builder.Add(Json::Boolean(Reader.GetValueAsBoolean()));
                break;
            case EJsonNotation::String:
                Builder.Add(Json::String(ToUtf8(FString(Reader.GetValueAsString()))));
                break;
            case EJsonNotation::Number:
                Builder.Add(Json::Spelled(ToUtf8(FString(Reader.GetValueAsNumberString()))));
                break;
            default:
                Builder.Add(Json());
                break;
        }
        if (!bIsPossible)
        {
            Fault = JsonBuilder::TooDeep();
            return false;
        }
    }
    if (!Reader.GetErrorMessage().IsEmpty())
    {
        Fault = FaultOf(Reader);
        return false;
    }
    return true;
}

} // namespace JsonCodecUnrealLocal

bool JsonCodecUnreal::Read(std::string_view Text, Json& Out, std::string& Fault) const
{
    Out = Json();
    if (!JsonCodecUnrealLocal::Words(Text).AreGood(Fault))
    {
        return false;
    }
    const bool bIsItem = JsonCodecUnrealLocal::NeedsArray(Text);
    const FString Whole = bIsItem ? TEXT("[") + ToFString(Text) + TEXT("]") : ToFString(Text);
    const TSharedRef<JsonCodecUnrealLocal::FReader> Reader = TJsonReaderFactory<TCHAR>::Create(Whole);
    JsonBuilder Builder;
    if (!JsonCodecUnrealLocal::ReadAll(*Reader, Builder, Fault))
    {
        return false;
    }
    Json Found = Builder.Take();
    if (!bIsItem)
    {
        Out = std::move(Found);
        return true;
    }
    if (Found.Items().size() != 1)
    {
        Fault = Found.Items().empty() ? "line 1, column 1: there is nothing" : "line 1, column 1: more than one value";
        return false;
    }
    Out = std::move(Found.Items()[0]);
    return true;
}

} // namespace Parley
