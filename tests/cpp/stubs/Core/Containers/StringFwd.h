// Names of the text classes.
// Source: gtreshchev/RuntimeAudioImporter Source/RuntimeAudioImporter/Public/RuntimeAudioImporterTypes.h
#pragma once
#include "HAL/Platform.h"

// Source: NotYetGames/DlgSystem Source/DlgSystem/DlgDialogue.h
class FString;
template <typename CharType>
class TStringView;
using FStringView = TStringView<TCHAR>;
using FAnsiStringView = TStringView<ANSICHAR>;
