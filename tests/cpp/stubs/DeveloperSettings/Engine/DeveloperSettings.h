// UDeveloperSettings.
// Source: MothCocoon/FlowGraph Source/Flow/Public/FlowSettings.h, NotYetGames/DlgSystem
// Source/DlgSystem/DlgSystemSettings.h (GetContainerName, GetSectionDescription)
#pragma once

#include "UObject/Object.h"

#define DEVELOPERSETTINGS_API DLLEXPORT

// Source: MothCocoon/FlowGraph Source/Flow/Public/FlowSettings.h (GetCategoryName, GetSectionText)
class DEVELOPERSETTINGS_API UDeveloperSettings : public UObject
{
    STUB_CLASS_BODY(UDeveloperSettings, UObject)
    virtual FName GetContainerName() const { return FName(TEXT("Project")); }
    virtual FName GetCategoryName() const { return CategoryName; }
    virtual FName GetSectionName() const { return SectionName; }
#if WITH_EDITOR
    virtual FText GetSectionText() const { return FText(); }
    virtual FText GetSectionDescription() const { return FText(); }
#endif

protected:
    FName CategoryName;
    FName SectionName;
};
