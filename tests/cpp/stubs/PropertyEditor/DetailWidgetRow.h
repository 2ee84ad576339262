// FDetailWidgetRow.
// Source: NotYetGames/DlgSystem Source/DlgSystemEditor/Editor/DetailsPanel/DlgCondition_Details.cpp
#pragma once

#include "Widgets/DeclarativeSyntaxSupport.h"

// Source: NotYetGames/DlgSystem Source/DlgSystemEditor/Editor/DetailsPanel/DlgCondition_Details.cpp
class FDetailWidgetRow
{
public:
    // Source: dev.epicgames.com/documentation/unreal-engine/API/Editor/PropertyEditor/FDetailWidgetDecl?application_version=5.1
    // (there a class of its own; nobody writes its name)
    class FDetailWidgetDecl
    {
    public:
        explicit FDetailWidgetDecl(FDetailWidgetRow& InParent)
            : ParentDecl(&InParent)
        {
        }
        FDetailWidgetDecl& HAlign(EHorizontalAlignment) { return *this; }
        FDetailWidgetDecl& VAlign(EVerticalAlignment) { return *this; }
        FDetailWidgetDecl& MinDesiredWidth(TOptional<float>) { return *this; }
        FDetailWidgetDecl& MaxDesiredWidth(TOptional<float>) { return *this; }
        FDetailWidgetRow& operator[](TSharedRef<SWidget> InWidget)
        {
            Widget = InWidget;
            return *ParentDecl;
        }
        TSharedPtr<SWidget> Widget;

    private:
        FDetailWidgetRow* ParentDecl;
    };
    FDetailWidgetRow()
        : NameWidget(*this)
        , ValueWidget(*this)
        , WholeRowWidget(*this)
    {
    }
    FDetailWidgetRow(const FDetailWidgetRow&) = delete;
    FDetailWidgetDecl& NameContent() { return NameWidget; }
    FDetailWidgetDecl& ValueContent() { return ValueWidget; }
    FDetailWidgetDecl& WholeRowContent() { return WholeRowWidget; }
    FDetailWidgetRow& operator[](TSharedRef<SWidget> InWidget) { return WholeRowWidget[InWidget]; }
    FDetailWidgetRow& Visibility(TAttribute<EVisibility> InVisibility)
    {
        StubVisibility = InVisibility;
        return *this;
    }
    FDetailWidgetRow& IsEnabled(TAttribute<bool>) { return *this; }
    FDetailWidgetRow& FilterString(const FText& InText)
    {
        StubFilter = InText;
        return *this;
    }
    FDetailWidgetRow& RowTag(const FName&) { return *this; }
    FDetailWidgetDecl NameWidget;
    FDetailWidgetDecl ValueWidget;
    FDetailWidgetDecl WholeRowWidget;
    FText StubFilter;
    TAttribute<EVisibility> StubVisibility;
};
