// UTexture2D.
// Source: NotYetGames/DlgSystem Source/DlgSystem/DlgDialogueParticipant.h
#pragma once

#include "UObject/Object.h"

// Source: NotYetGames/DlgSystem Source/DlgSystem/DlgDialogueParticipant.h
class ENGINE_API UTexture2D : public UObject
{
    STUB_CLASS_BODY(UTexture2D, UObject)
};
