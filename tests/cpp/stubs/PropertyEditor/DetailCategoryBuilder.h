// IDetailCategoryBuilder.
// Source: CesiumGS/cesium-unreal Source/CesiumEditor/Private/CesiumCustomization.cpp
#pragma once

#include "DetailWidgetRow.h"
#include "IDetailGroup.h"

// Source: NotYetGames/DlgSystem Source/DlgSystemEditor/Editor/DetailsPanel/DlgGraphNode_Details.cpp
class IDetailCategoryBuilder
{
public:
    virtual ~IDetailCategoryBuilder() = default;
    FDetailWidgetRow& AddCustomRow(const FText& FilterString, bool bForAdvanced = false)
    {
        StubRows.Add(MakeShared<FDetailWidgetRow>());
        StubRows.Last()->StubFilter = FilterString;
        return *StubRows.Last();
    }
    IDetailGroup& AddGroup(FName GroupName, const FText& LocalizedDisplayName, bool bForAdvanced = false, bool bStartExpanded = false)
    {
        StubGroups.Add(MakeShared<IDetailGroup>());
        StubGroups.Last()->StubName = GroupName;
        StubGroups.Last()->StubTitle = LocalizedDisplayName;
        return *StubGroups.Last();
    }
    void StubWalk(const TFunction<void(SWidget&)>& Visit) const
    {
        for (const TSharedPtr<FDetailWidgetRow>& Row : StubRows)
        {
            IDetailGroup::StubWalkRow(*Row, Visit);
        }
        for (const TSharedPtr<IDetailGroup>& Group : StubGroups)
        {
            Group->StubWalk(Visit);
        }
    }
    FText StubTitle;
    TArray<TSharedPtr<FDetailWidgetRow>> StubRows;
    TArray<TSharedPtr<IDetailGroup>> StubGroups;
};
