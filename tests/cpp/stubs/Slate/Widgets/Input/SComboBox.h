// SComboBox.
// Source: CesiumGS/cesium-unreal Source/CesiumEditor/Private/CesiumFeaturesMetadataViewer.cpp (OptionsSource, OnGenerateWidget,
// OnSelectionChanged, InitiallySelectedItem), MothCocoon/FlowGraph
// Source/FlowEditor/Private/DetailCustomizations/FlowNode_CustomEventBaseDetails.cpp (OnComboBoxOpening)
#pragma once

#include "Widgets/DeclarativeSyntaxSupport.h"

// Source: CesiumGS/cesium-unreal Source/CesiumEditor/Private/CesiumFeaturesMetadataViewer.cpp
template <typename OptionType>
class SComboBox : public SWidget
{
public:
    typedef TDelegate<TSharedRef<SWidget>(OptionType)> FOnGenerateWidget;
    typedef TDelegate<void(OptionType, ESelectInfo::Type)> FOnSelectionChanged;
    SLATE_BEGIN_ARGS(SComboBox<OptionType>) {}
        SLATE_DEFAULT_SLOT(FArguments, Content)
        SLATE_ARGUMENT(const TArray<OptionType>*, OptionsSource)
        SLATE_EVENT(FOnSelectionChanged, OnSelectionChanged)
        SLATE_EVENT(FOnGenerateWidget, OnGenerateWidget)
        SLATE_ARGUMENT(OptionType, InitiallySelectedItem)
        SLATE_EVENT(FSimpleDelegate, OnComboBoxOpening)
    SLATE_END_ARGS()
    void Construct(const FArguments& InArgs)
    {
        StubChildren.Add(InArgs._Content);
        Selected = InArgs._InitiallySelectedItem;
    }
    void RefreshOptions() {}
    void SetSelectedItem(OptionType Item, ESelectInfo::Type How = ESelectInfo::Direct)
    {
        // As in the engine: nothing is told where nothing changes.
        if (!(Selected == Item))
        {
            Selected = Item;
            StubArgs._OnSelectionChanged.ExecuteIfBound(Item, How);
        }
    }
    void ClearSelection() { Selected = OptionType(); }
    OptionType GetSelectedItem() { return Selected; }
    /// As a person does: opens it and clicks on one.
    void StubPick(int32 Index)
    {
        StubArgs._OnComboBoxOpening.ExecuteIfBound();
        const OptionType Item = (*StubArgs._OptionsSource)[Index];
        StubArgs._OnGenerateWidget.Execute(Item);
        SetSelectedItem(Item, ESelectInfo::OnMouseClick);
    }

private:
    OptionType Selected{};
};
