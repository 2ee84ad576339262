// FStringView: text that another owns.
// Source: MothCocoon/FlowGraph Source/Flow/Public/Nodes/FlowPin.h (FStringView), VoxelPlugin/VoxelCore
// Source/VoxelCore/Private/VoxelGPUBufferReadback.cpp (TEXTVIEW)
#pragma once

#include "Containers/StringFwd.h"
#include "Misc/CString.h"

#include <string_view>

// Source: Sixze/ALS-Refactored Source/ALS/Private/AlsCharacter_Actions.cpp
template <typename CharType>
class TStringView
{
public:
    constexpr TStringView() = default;
    constexpr TStringView(const CharType* InText)
        : View(InText == nullptr ? std::basic_string_view<CharType>() : std::basic_string_view<CharType>(InText))
    {
    }
    constexpr TStringView(const CharType* InText, int32 Length)
        : View(InText, static_cast<std::size_t>(Length))
    {
    }
    TStringView(const FString& Text);
    constexpr int32 Len() const { return static_cast<int32>(View.size()); }
    constexpr bool IsEmpty() const { return View.empty(); }
    constexpr const CharType* GetData() const { return View.data(); }
    constexpr CharType operator[](int32 Index) const { return View[static_cast<std::size_t>(Index)]; }
    constexpr TStringView Left(int32 Many) const { return TStringView(View.data(), (std::min)(Many, Len())); }
    constexpr TStringView RightChop(int32 Many) const
    {
        const int32 Gone = (std::min)(Many, Len());
        return TStringView(View.data() + Gone, Len() - Gone);
    }
    constexpr TStringView Mid(int32 Start, int32 Many = 0x7fffffff) const { return RightChop(Start).Left(Many); }
    bool Equals(TStringView Other, ESearchCase::Type Case = ESearchCase::CaseSensitive) const
    {
        if (Len() != Other.Len())
        {
            return false;
        }
        for (int32 Index = 0; Index < Len(); ++Index)
        {
            const CharType A = (*this)[Index];
            const CharType B = Other[Index];
            if (A != B && (Case == ESearchCase::CaseSensitive || FChar::ToLower(A) != FChar::ToLower(B)))
            {
                return false;
            }
        }
        return true;
    }
    bool StartsWith(TStringView Prefix, ESearchCase::Type Case = ESearchCase::CaseSensitive) const
    {
        return Prefix.Len() <= Len() && Left(Prefix.Len()).Equals(Prefix, Case);
    }
    /// The engine's comparison of views ignores the case, as that of FString does.
    friend bool operator==(TStringView A, TStringView B) { return A.Equals(B, ESearchCase::IgnoreCase); }
    friend bool operator!=(TStringView A, TStringView B) { return !(A == B); }
    const CharType* begin() const { return View.data(); }
    const CharType* end() const { return View.data() + View.size(); }

private:
    std::basic_string_view<CharType> View;
};

#define TEXTVIEW(Text) FStringView(TEXT(Text))
