// What PreSave is told.
// Source: NotYetGames/DlgSystem Source/DlgSystem/DlgDialogue.h
#pragma once

#include "UObject/Object.h"

// Source: NotYetGames/DlgSystem Source/DlgSystem/DlgDialogue.h
class FObjectPreSaveContext
{
public:
    bool IsCooking() const { return bStubCooking; }
    bool IsProceduralSave() const { return false; }
    bool bStubCooking = false;
};
