// FCString, FChar and the cases of a comparison.
// Source: NotYetGames/DlgSystem Source/DlgSystem/IO/DlgConfigParser.cpp (FChar, FCString)
#pragma once

#include "HAL/Platform.h"

// Source: NotYetGames/DlgSystem Source/DlgSystemEditor/Commandlets/DlgExportTwineCommandlet.h
namespace ESearchCase
{
// Source: NotYetGames/DlgSystem Source/DlgSystemEditor/Commandlets/DlgExportTwineCommandlet.h
enum Type
{
    CaseSensitive,
    IgnoreCase,
};
} // namespace ESearchCase

// Source: VoxelPlugin/VoxelCore Source/VoxelCore/Private/VoxelMinimal/Utilities/VoxelObjectUtilities.cpp
namespace ESearchDir
{
// Source: VoxelPlugin/VoxelCore Source/VoxelCore/Private/VoxelMinimal/Utilities/VoxelObjectUtilities.cpp
enum Type
{
    FromStart,
    FromEnd,
};
} // namespace ESearchDir

// Source: NotYetGames/DlgSystem Source/DlgSystem/IO/DlgConfigParser.cpp (FChar::IsWhitespace, FChar::IsAlnum)
struct FChar
{
    static bool IsDigit(TCHAR C) { return C >= '0' && C <= '9'; }
    static bool IsUpper(TCHAR C) { return C >= 'A' && C <= 'Z'; }
    static bool IsLower(TCHAR C) { return C >= 'a' && C <= 'z'; }
    static bool IsAlpha(TCHAR C) { return IsUpper(C) || IsLower(C) || C >= 0xC0; }
    static bool IsAlnum(TCHAR C) { return IsAlpha(C) || IsDigit(C); }
    static bool IsHexDigit(TCHAR C) { return IsDigit(C) || (C >= 'a' && C <= 'f') || (C >= 'A' && C <= 'F'); }
    static bool IsWhitespace(TCHAR C) { return C == ' ' || (C >= 9 && C <= 13) || C == 0x85 || C == 0xA0 || C == 0x3000; }
    static bool IsLinebreak(TCHAR C) { return (C >= 10 && C <= 13) || C == 0x85 || C == 0x2028 || C == 0x2029; }
    static TCHAR ToLower(TCHAR C) { return IsUpper(C) ? static_cast<TCHAR>(C + 32) : C; }
    static TCHAR ToUpper(TCHAR C) { return IsLower(C) ? static_cast<TCHAR>(C - 32) : C; }
};

// Source: getnamo/SocketIOClient-Unreal Source/SIOJson/Private/SIOJConvert.cpp (FCString::Atof), CesiumGS/cesium-unreal
// Source/CesiumEditor/Private/CesiumDegreesMinutesSecondsEditor.cpp (FCString::Atod)
struct FCString
{
    static int32 Strlen(const TCHAR* Text)
    {
        int32 Length = 0;
        while (Text[Length] != 0)
        {
            ++Length;
        }
        return Length;
    }
    static int32 Strcmp(const TCHAR* A, const TCHAR* B)
    {
        while (*A != 0 && *A == *B)
        {
            ++A;
            ++B;
        }
        return static_cast<int32>(*A) - static_cast<int32>(*B);
    }
    static int32 Stricmp(const TCHAR* A, const TCHAR* B)
    {
        while (*A != 0 && FChar::ToLower(*A) == FChar::ToLower(*B))
        {
            ++A;
            ++B;
        }
        return static_cast<int32>(FChar::ToLower(*A)) - static_cast<int32>(FChar::ToLower(*B));
    }
    CORE_API static int32 Atoi(const TCHAR* Text);
    CORE_API static int64 Atoi64(const TCHAR* Text);
    CORE_API static uint64 Strtoui64(const TCHAR* Text, TCHAR** End, int32 Base);
    CORE_API static float Atof(const TCHAR* Text);
    CORE_API static double Atod(const TCHAR* Text);
};
