// SCheckBox.
// Source: MothCocoon/FlowGraph Source/FlowEditor/Private/Graph/Widgets/SFlowGraphNode.cpp, NotYetGames/DlgSystem
// Source/DlgSystemEditor/Search/SDlgFindInDialogues.cpp
#pragma once

#include "Widgets/DeclarativeSyntaxSupport.h"

DECLARE_DELEGATE_OneParam(FOnCheckStateChanged, ECheckBoxState)

// Source: NotYetGames/DlgSystem Source/DlgSystemEditor/Search/SDlgFindInDialogues.cpp
class SCheckBox : public SWidget
{
public:
    SLATE_BEGIN_ARGS(SCheckBox) {}
        SLATE_DEFAULT_SLOT(FArguments, Content)
        SLATE_ATTRIBUTE(ECheckBoxState, IsChecked)
        SLATE_EVENT(FOnCheckStateChanged, OnCheckStateChanged)
    SLATE_END_ARGS()
    void Construct(const FArguments& InArgs) { StubChildren.Add(InArgs._Content); }
    bool IsChecked() const { return StubArgs._IsChecked.Get() == ECheckBoxState::Checked; }
    void StubSet(ECheckBoxState State)
    {
        if (IsEnabled())
        {
            StubArgs._OnCheckStateChanged.ExecuteIfBound(State);
        }
    }
};
