// IDetailGroup.
// Source: CesiumGS/cesium-unreal Source/CesiumEditor/Private/CesiumCustomization.cpp (AddGroup, HeaderRow)
#pragma once

#include "DetailWidgetRow.h"

// Source: dev.epicgames.com/documentation/unreal-engine/API/Editor/PropertyEditor/IDetailGroup?application_version=5.5
// (AddWidgetRow, AddGroup; IDetailGroup/ToggleExpansion?application_version=5.5)
class IDetailGroup
{
public:
    virtual ~IDetailGroup() = default;
    FDetailWidgetRow& HeaderRow() { return StubHeader; }
    FDetailWidgetRow& AddWidgetRow()
    {
        StubRows.Add(MakeShared<FDetailWidgetRow>());
        return *StubRows.Last();
    }
    IDetailGroup& AddGroup(FName NewGroupName, const FText& InLocalizedDisplayName, bool bStartExpanded = false)
    {
        StubGroups.Add(MakeShared<IDetailGroup>());
        StubGroups.Last()->StubName = NewGroupName;
        StubGroups.Last()->StubTitle = InLocalizedDisplayName;
        return *StubGroups.Last();
    }
    void ToggleExpansion(bool bExpand) {}
    /// Its rows' widgets, header first.
    void StubWalk(const TFunction<void(SWidget&)>& Visit) const
    {
        StubWalkRow(StubHeader, Visit);
        for (const TSharedPtr<FDetailWidgetRow>& Row : StubRows)
        {
            StubWalkRow(*Row, Visit);
        }
        for (const TSharedPtr<IDetailGroup>& Group : StubGroups)
        {
            Group->StubWalk(Visit);
        }
    }
    static void StubWalkRow(const FDetailWidgetRow& Row, const TFunction<void(SWidget&)>& Visit)
    {
        for (const TSharedPtr<SWidget>& Widget : {Row.NameWidget.Widget, Row.ValueWidget.Widget, Row.WholeRowWidget.Widget})
        {
            if (Widget.IsValid())
            {
                Widget->StubWalk(Visit);
            }
        }
    }
    FName StubName;
    FText StubTitle;
    FDetailWidgetRow StubHeader;
    TArray<TSharedPtr<FDetailWidgetRow>> StubRows;
    TArray<TSharedPtr<IDetailGroup>> StubGroups;
};
