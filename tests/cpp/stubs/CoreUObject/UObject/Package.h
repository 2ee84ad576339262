// UPackage.
// Source: ufna/VaRest Source/VaRest/Private/VaRest.cpp
#pragma once

#include "UObject/Object.h"

// Source: ProjectBorealis/UEGitPlugin Source/GitSourceControl/Private/GitSourceControlUtils.cpp
class UPackage : public UObject
{
    STUB_CLASS_BODY(UPackage, UObject)
    bool IsDirty() const { return bStubDirty; }
    void SetDirtyFlag(bool bIsDirty) { bStubDirty = bIsDirty; }
    bool bStubDirty = false;
};
