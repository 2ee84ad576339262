// FWorkspaceItem.
// Source: NotYetGames/DlgSystem Source/DlgSystemEditor/Search/DlgSearchManager.h
#pragma once

#include "Textures/SlateIcon.h"

// Source: NotYetGames/DlgSystem Source/DlgSystemEditor/Search/DlgSearchManager.h
class FWorkspaceItem : public TSharedFromThis<FWorkspaceItem>
{
public:
    FText GetDisplayName() const { return StubName; }
    FText StubName;
};
