// FString: UTF-16, zero-terminated; compared by == without regard to case, as in the engine.
// Source: NotYetGames/DlgSystem Source/DlgSystem/IO/DlgJsonWriter.cpp, ufna/VaRest Source/VaRest/Private/VaRestJsonObject.cpp,
// getnamo/Llama-Unreal Source/LlamaCore/Private/Tests/UTF8RoundTripTests.cpp
#pragma once

#include "Containers/Array.h"
#include "Containers/StringView.h"
#include "Misc/CString.h"

#include <string>

namespace StubEngine
{
/// One argument of Printf, with what it may stand for.
struct FFormatArgument
{
    enum EKind
    {
        Signed,
        Unsigned,
        Real,
        Text,
        Ansi,
        Pointer,
        Character,
    };
    EKind Kind;
    int64 Whole = 0;
    double Fraction = 0;
    const void* Where = nullptr;
    std::size_t Size = 0;

    template <typename T>
    static FFormatArgument Of(T Value)
    {
        FFormatArgument Made{};
        if constexpr (std::is_enum_v<T>)
        {
            return Of(static_cast<std::underlying_type_t<T>>(Value));
        }
        else if constexpr (std::is_floating_point_v<T>)
        {
            Made.Kind = Real;
            Made.Fraction = static_cast<double>(Value);
        }
        else if constexpr (std::is_same_v<T, TCHAR>)
        {
            Made.Kind = Character;
            Made.Whole = static_cast<int64>(Value);
        }
        else if constexpr (std::is_integral_v<T>)
        {
            Made.Kind = std::is_signed_v<T> || std::is_same_v<T, bool> ? Signed : Unsigned;
            Made.Whole = static_cast<int64>(Value);
        }
        else if constexpr (std::is_same_v<T, const TCHAR*> || std::is_same_v<T, TCHAR*>)
        {
            Made.Kind = Text;
            Made.Where = Value;
        }
        else if constexpr (std::is_same_v<T, const char*> || std::is_same_v<T, char*>)
        {
            Made.Kind = Ansi;
            Made.Where = Value;
        }
        else
        {
            static_assert(std::is_pointer_v<T>, "Printf takes numbers and pointers; of an FString say *Text");
            Made.Kind = Pointer;
            Made.Where = static_cast<const void*>(Value);
        }
        Made.Size = sizeof(T);
        return Made;
    }
};
CORE_API std::u16string Format(const TCHAR* Format, const FFormatArgument* Arguments, std::size_t Many);
CORE_API std::u16string Utf16(std::string_view Utf8);
CORE_API std::string Utf8(std::u16string_view Utf16);
} // namespace StubEngine

// Source: ProjectBorealis/UEGitPlugin Source/GitSourceControl/Private/GitSourceControlUtils.cpp
class FString
{
public:
    using ElementType = TCHAR;

    FString() = default;
    FString(const TCHAR* InText)
        : Text(InText == nullptr ? u"" : InText)
    {
    }
    /// Each byte is one character, as in the engine: not UTF-8.
    FString(const ANSICHAR* InText)
    {
        for (; InText != nullptr && *InText != 0; ++InText)
        {
            Text += static_cast<TCHAR>(static_cast<unsigned char>(*InText));
        }
    }
    FString(int32 Length, const TCHAR* InText)
        : Text(InText, static_cast<std::size_t>(Length))
    {
    }
    explicit FString(FStringView View)
        : Text(View.GetData() == nullptr ? u"" : View.GetData(), static_cast<std::size_t>(View.Len()))
    {
    }
    FString(std::nullptr_t) {}
    FString& operator=(const TCHAR* InText)
    {
        Text = InText == nullptr ? u"" : InText;
        return *this;
    }

    int32 Len() const { return static_cast<int32>(Text.size()); }
    bool IsEmpty() const { return Text.empty(); }
    bool IsValidIndex(int32 Index) const { return Index >= 0 && Index < Len(); }
    const TCHAR* operator*() const { return Text.c_str(); }
    TCHAR& operator[](int32 Index)
    {
        check(IsValidIndex(Index));
        return Text[static_cast<std::size_t>(Index)];
    }
    const TCHAR& operator[](int32 Index) const
    {
        check(IsValidIndex(Index));
        return Text[static_cast<std::size_t>(Index)];
    }
    void Empty(int32 = 0) { Text.clear(); }
    void Reset(int32 = 0) { Text.clear(); }
    void Reserve(int32 Length) { Text.reserve(static_cast<std::size_t>(Length)); }

    FString& Append(const FString& Other)
    {
        Text += Other.Text;
        return *this;
    }
    FString& Append(const TCHAR* Other, int32 Length)
    {
        Text.append(Other, static_cast<std::size_t>(Length));
        return *this;
    }
    FString& AppendChar(TCHAR Character)
    {
        Text += Character;
        return *this;
    }
    void AppendChars(const TCHAR* Other, int32 Length) { Text.append(Other, static_cast<std::size_t>(Length)); }
    void AppendInt(int32 Number);
    FString& operator+=(const FString& Other) { return Append(Other); }
    FString& operator+=(const TCHAR* Other)
    {
        Text += Other;
        return *this;
    }
    FString& operator+=(FStringView Other) { return Append(Other.GetData(), Other.Len()); }
    FString& operator+=(TCHAR Character) { return AppendChar(Character); }
    friend FString operator+(const FString& A, const FString& B) { return FString(A).Append(B); }
    friend FString operator+(const FString& A, const TCHAR* B) { return FString(A).Append(FString(B)); }
    friend FString operator+(const TCHAR* A, const FString& B) { return FString(A).Append(B); }
    friend FString operator+(const FString& A, TCHAR B) { return FString(A).AppendChar(B); }
    friend FString operator/(const FString& A, const FString& B) { return Joined(A, B); }
    friend FString operator/(const FString& A, const TCHAR* B) { return Joined(A, FString(B)); }
    friend FString operator/(const TCHAR* A, const FString& B) { return Joined(FString(A), B); }
    FString& operator/=(const TCHAR* Other) { return *this = Joined(*this, FString(Other)); }
    FString& operator/=(const FString& Other) { return *this = Joined(*this, Other); }

    bool Equals(const FString& Other, ESearchCase::Type Case = ESearchCase::CaseSensitive) const
    {
        return FStringView(*this).Equals(FStringView(Other), Case);
    }
    int32 Compare(const FString& Other, ESearchCase::Type Case = ESearchCase::CaseSensitive) const
    {
        return Case == ESearchCase::CaseSensitive ? FCString::Strcmp(**this, *Other) : FCString::Stricmp(**this, *Other);
    }
    friend bool operator==(const FString& A, const FString& B) { return A.Equals(B, ESearchCase::IgnoreCase); }
    friend bool operator!=(const FString& A, const FString& B) { return !(A == B); }
    friend bool operator==(const FString& A, const TCHAR* B) { return FCString::Stricmp(*A, B) == 0; }
    friend bool operator!=(const FString& A, const TCHAR* B) { return FCString::Stricmp(*A, B) != 0; }
    friend bool operator==(const TCHAR* A, const FString& B) { return B == A; }
    friend bool operator!=(const TCHAR* A, const FString& B) { return B != A; }
    friend bool operator<(const FString& A, const FString& B) { return FCString::Stricmp(*A, *B) < 0; }
    friend bool operator>(const FString& A, const FString& B) { return B < A; }

    bool Contains(const FString& Part, ESearchCase::Type Case = ESearchCase::IgnoreCase,
        ESearchDir::Type Direction = ESearchDir::FromStart) const
    {
        return Find(Part, Case, Direction) != INDEX_NONE;
    }
    CORE_API int32 Find(const FString& Part, ESearchCase::Type Case = ESearchCase::IgnoreCase,
        ESearchDir::Type Direction = ESearchDir::FromStart, int32 StartPosition = INDEX_NONE) const;
    bool FindChar(TCHAR Character, int32& Index) const
    {
        const std::size_t Found = Text.find(Character);
        Index = Found == std::u16string::npos ? INDEX_NONE : static_cast<int32>(Found);
        return Index != INDEX_NONE;
    }
    bool FindLastChar(TCHAR Character, int32& Index) const
    {
        const std::size_t Found = Text.rfind(Character);
        Index = Found == std::u16string::npos ? INDEX_NONE : static_cast<int32>(Found);
        return Index != INDEX_NONE;
    }
    bool StartsWith(const FString& Prefix, ESearchCase::Type Case = ESearchCase::IgnoreCase) const
    {
        return Prefix.Len() <= Len() && Left(Prefix.Len()).Equals(Prefix, Case);
    }
    bool EndsWith(const FString& Suffix, ESearchCase::Type Case = ESearchCase::IgnoreCase) const
    {
        return Suffix.Len() <= Len() && Right(Suffix.Len()).Equals(Suffix, Case);
    }
    bool RemoveFromStart(const FString& Prefix, ESearchCase::Type Case = ESearchCase::IgnoreCase)
    {
        const bool bFound = !Prefix.IsEmpty() && StartsWith(Prefix, Case);
        if (bFound)
        {
            Text.erase(0, static_cast<std::size_t>(Prefix.Len()));
        }
        return bFound;
    }
    bool RemoveFromEnd(const FString& Suffix, ESearchCase::Type Case = ESearchCase::IgnoreCase)
    {
        const bool bFound = !Suffix.IsEmpty() && EndsWith(Suffix, Case);
        if (bFound)
        {
            Text.resize(Text.size() - static_cast<std::size_t>(Suffix.Len()));
        }
        return bFound;
    }
    void RemoveAt(int32 Index, int32 Many) { Text.erase(static_cast<std::size_t>(Index), static_cast<std::size_t>(Many)); }
    void InsertAt(int32 Index, const FString& Part) { Text.insert(static_cast<std::size_t>(Index), Part.Text); }
    void InsertAt(int32 Index, TCHAR Character) { Text.insert(static_cast<std::size_t>(Index), 1, Character); }
    FString Left(int32 Many) const { return Mid(0, Many); }
    FString LeftChop(int32 Many) const { return Left((std::max)(0, Len() - Many)); }
    FString Right(int32 Many) const { return Mid((std::max)(0, Len() - (std::max)(0, Many))); }
    FString RightChop(int32 Many) const { return Mid(Many); }
    FString Mid(int32 Start, int32 Many = 0x7fffffff) const
    {
        const int32 From = (std::min)((std::max)(0, Start), Len());
        const int32 Length = (std::min)((std::max)(0, Many), Len() - From);
        return FString(Length, **this + From);
    }
    void LeftInline(int32 Many) { *this = Left(Many); }
    void MidInline(int32 Start, int32 Many = 0x7fffffff) { *this = Mid(Start, Many); }
    bool Split(const FString& Separator, FString* LeftPart, FString* RightPart,
        ESearchCase::Type Case = ESearchCase::IgnoreCase, ESearchDir::Type Direction = ESearchDir::FromStart) const
    {
        const int32 At = Find(Separator, Case, Direction);
        if (At < 0)
        {
            return false;
        }
        const FString All = *this;
        if (LeftPart != nullptr)
        {
            *LeftPart = All.Left(At);
        }
        if (RightPart != nullptr)
        {
            *RightPart = All.Mid(At + Separator.Len());
        }
        return true;
    }
    CORE_API FString Replace(const TCHAR* From, const TCHAR* To, ESearchCase::Type Case = ESearchCase::IgnoreCase) const;
    int32 ReplaceInline(const TCHAR* From, const TCHAR* To, ESearchCase::Type Case = ESearchCase::IgnoreCase)
    {
        *this = Replace(From, To, Case);
        return 0;
    }
    FString TrimStart() const
    {
        int32 From = 0;
        while (From < Len() && FChar::IsWhitespace((*this)[From]))
        {
            ++From;
        }
        return Mid(From);
    }
    FString TrimEnd() const
    {
        int32 To = Len();
        while (To > 0 && FChar::IsWhitespace((*this)[To - 1]))
        {
            --To;
        }
        return Left(To);
    }
    FString TrimStartAndEnd() const { return TrimStart().TrimEnd(); }
    void TrimStartAndEndInline() { *this = TrimStartAndEnd(); }
    FString TrimQuotes() const
    {
        return Len() > 1 && StartsWith(TEXT("\"")) && EndsWith(TEXT("\"")) ? Mid(1, Len() - 2) : *this;
    }
    FString ToLower() const
    {
        FString Made = *this;
        for (TCHAR& Character : Made.Text)
        {
            Character = FChar::ToLower(Character);
        }
        return Made;
    }
    FString ToUpper() const
    {
        FString Made = *this;
        for (TCHAR& Character : Made.Text)
        {
            Character = FChar::ToUpper(Character);
        }
        return Made;
    }
    bool IsNumeric() const;
    bool ToBool() const;
    CORE_API int32 ParseIntoArray(TArray<FString>& Out, const TCHAR* Delimiter, bool bCullEmpty = true) const;
    CORE_API int32 ParseIntoArrayLines(TArray<FString>& Out, bool bCullEmpty = true) const;
    CORE_API FString ReplaceCharWithEscapedChar() const;

    static FString FromInt(int32 Number);
    CORE_API static FString SanitizeFloat(double Number, int32 MinFractionalDigits = 1);
    static FString Chr(TCHAR Character) { return FString(1, &Character); }
    CORE_API static FString ChrN(int32 Many, TCHAR Character);
    template <typename T>
    static FString Join(const TArray<T>& Parts, const TCHAR* Separator)
    {
        FString Made;
        bool bFirst = true;
        for (const T& Part : Parts)
        {
            if (!bFirst)
            {
                Made += Separator;
            }
            bFirst = false;
            Made += Part;
        }
        return Made;
    }
    template <std::size_t N, typename... A>
    static FString Printf(const TCHAR (&Format)[N], A... Arguments)
    {
        const StubEngine::FFormatArgument All[] = {StubEngine::FFormatArgument::Of(Arguments)..., StubEngine::FFormatArgument()};
        return FString(StubEngine::Format(Format, All, sizeof...(A)).c_str());
    }
    /// Since 5.1 or so; the plugin may use it for text that has no zero behind it.
    static FString ConstructFromPtrSize(const TCHAR* InText, int32 Length) { return FString(Length, InText); }

    TCHAR* begin() { return Text.data(); }
    TCHAR* end() { return Text.data() + Text.size(); }
    const TCHAR* begin() const { return Text.data(); }
    const TCHAR* end() const { return Text.data() + Text.size(); }

private:
    static FString Joined(const FString& A, const FString& B)
    {
        return A.IsEmpty() || A.EndsWith(TEXT("/")) || B.StartsWith(TEXT("/")) ? A + B : A + TEXT("/") + B;
    }

    std::u16string Text;
};

template <typename CharType>
TStringView<CharType>::TStringView(const FString& Text)
    : View(*Text, static_cast<std::size_t>(Text.Len()))
{
}

inline void FString::AppendInt(int32 Number)
{
    *this += FString::Printf(TEXT("%d"), Number);
}
inline FString FString::FromInt(int32 Number)
{
    return FString::Printf(TEXT("%d"), Number);
}
inline bool FString::ToBool() const
{
    return *this == TEXT("true") || *this == TEXT("yes") || *this == TEXT("on") || FCString::Atoi(**this) != 0;
}
inline bool FString::IsNumeric() const
{
    bool bDigit = false;
    for (int32 Index = 0; Index < Len(); ++Index)
    {
        const TCHAR Character = Text[static_cast<std::size_t>(Index)];
        if (Index == 0 && (Character == '-' || Character == '+'))
        {
            continue;
        }
        if (!FChar::IsDigit(Character) && Character != '.')
        {
            return false;
        }
        bDigit = bDigit || FChar::IsDigit(Character);
    }
    return bDigit;
}

inline uint32 GetTypeHash(const FString& Text)
{
    uint32 Hash = 2166136261u;
    for (TCHAR Character : Text)
    {
        Hash = (Hash ^ FChar::ToLower(Character)) * 16777619u;
    }
    return Hash;
}

// Source: NotYetGames/DlgSystem Source/DlgSystem/IO/DlgJsonWriter.cpp, getnamo/SocketIOClient-Unreal
// Source/SIOJson/Private/SIOJConvert.cpp (LexToString)
inline FString LexToString(bool bValue)
{
    return bValue ? TEXT("true") : TEXT("false");
}
inline FString LexToString(int32 Value)
{
    return FString::Printf(TEXT("%d"), Value);
}
inline FString LexToString(uint32 Value)
{
    return FString::Printf(TEXT("%u"), Value);
}
inline FString LexToString(int64 Value)
{
    return FString::Printf(TEXT("%lld"), Value);
}
inline FString LexToString(uint64 Value)
{
    return FString::Printf(TEXT("%llu"), Value);
}
inline FString LexToString(float Value)
{
    return FString::Printf(TEXT("%f"), Value);
}
inline FString LexToString(double Value)
{
    return FString::Printf(TEXT("%f"), Value);
}
inline FString LexToString(const FString& Value)
{
    return Value;
}
inline void LexFromString(int32& Out, const TCHAR* Text)
{
    Out = FCString::Atoi(Text);
}
inline void LexFromString(int64& Out, const TCHAR* Text)
{
    Out = FCString::Atoi64(Text);
}
inline void LexFromString(float& Out, const TCHAR* Text)
{
    Out = FCString::Atof(Text);
}
inline void LexFromString(double& Out, const TCHAR* Text)
{
    Out = FCString::Atod(Text);
}
