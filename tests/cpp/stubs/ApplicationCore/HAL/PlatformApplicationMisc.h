// The clipboard.
// Source: NotYetGames/DlgSystem Source/DlgSystemEditor/Editor/DlgEditor.cpp (FPlatformApplicationMisc::ClipboardCopy(*Text))
#pragma once

#include "Containers/UnrealString.h"

// Source: NotYetGames/DlgSystem Source/DlgSystemEditor/Editor/DlgEditor.cpp
struct FPlatformApplicationMisc
{
    static void ClipboardCopy(const TCHAR* Str) { StubClipboard() = Str; }
    static void ClipboardPaste(FString& Dest) { Dest = StubClipboard(); }
    static FString& StubClipboard()
    {
        static FString Text;
        return Text;
    }
};
