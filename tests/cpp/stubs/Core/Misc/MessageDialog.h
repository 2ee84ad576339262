// FMessageDialog: answers what a test set.
// Source: NotYetGames/DlgSystem Source/DlgSystemEditor/DlgEditorUtilities.cpp
#pragma once

#include "Internationalization/Text.h"
#include "Misc/Optional.h"

// Source: NotYetGames/DlgSystem Source/DlgSystemEditor/DlgEditorUtilities.cpp (EAppMsgType::YesNo)
namespace EAppMsgType
{
// Source: NotYetGames/DlgSystem Source/DlgSystemEditor/DlgEditorUtilities.cpp
enum Type
{
    Ok,
    YesNo,
    OkCancel,
    YesNoCancel,
};
} // namespace EAppMsgType

// Source: NotYetGames/DlgSystem Source/DlgSystemEditor/DlgEditorUtilities.cpp
namespace EAppReturnType
{
// Source: NotYetGames/DlgSystem Source/DlgSystemEditor/DlgEditorUtilities.cpp
enum Type
{
    No,
    Yes,
    YesAll,
    NoAll,
    Cancel,
    Ok,
    Retry,
    Continue,
};
} // namespace EAppReturnType

// Source: JonasReich/OpenUnrealUtilities Source/OUUBlueprintRuntime/Private/Misc/MessageDialogLibrary.cpp
class CORE_API FMessageDialog
{
public:
    static EAppReturnType::Type Open(EAppMsgType::Type MessageType, const FText& Message);
    static TArray<FText>& StubShown();
    static EAppReturnType::Type& StubAnswer();
};
