// The tab in which a developer talks with a workflow, without Play.
#pragma once

#include "Models/ChatModel.h"

#include "CoreMinimal.h"
#include "Input/Reply.h"
#include "Types/SlateEnums.h"
#include "UObject/SoftObjectPtr.h"
#include "Widgets/DeclarativeSyntaxSupport.h"
#include "Widgets/SCompoundWidget.h"

#include <memory>

class SEditableTextBox;
class SScrollBox;
class SVerticalBox;
class UParleyWorkflow;
struct FAssetData;

/// Threading: the game thread.
class SParleyTestChat final : public SCompoundWidget
{
public:
    SLATE_BEGIN_ARGS(SParleyTestChat)
    {
    }
    SLATE_END_ARGS()

    void Construct(const FArguments& InArgs);
    virtual ~SParleyTestChat() override;

    /// Takes another workflow; the conversation ends.
    void Choose(UParleyWorkflow* Workflow);
    /// Begins the conversation anew; `bKeepDialog`: with what was said.
    void Begin(bool bKeepDialog);
    /// Says what a person typed. False: it was refused.
    bool Say(const FString& Text);

    /// The conversation; null: none was begun.
    Parley::Editor::ChatModel* GetChat() const
    {
        return Chat.get();
    }

    /// Why there is none; empty: there is one, or none was asked for.
    const FString& GetFault() const
    {
        return Fault;
    }

    virtual void Tick(const FGeometry& AllottedGeometry, const double InCurrentTime, const float InDeltaTime) override;

private:
    TSharedRef<SWidget> MakeHead();
    TSharedRef<SWidget> MakeInput();
    TSharedRef<SWidget> MakeVariable(const Parley::Editor::ChatVariable& Variable);
    TSharedRef<SWidget> MakeToolCall(const Parley::Editor::ChatToolCall& Call);
    TSharedRef<SWidget> MakeLine(int32 At);
    FString GetPath() const;
    void OnChosen(const FAssetData& Chosen);
    void OnCommitted(const FText& Text, ETextCommit::Type How);
    FReply OnSay();
    FText GetStatus() const;
    FSlateColor ColourOf(const Parley::Editor::ChatLine& Line);
    void Draw();
    void DrawLines();
    void DrawEntries();
    void LookWhetherStale(double Now);
    void DrawTurns();

    TSoftObjectPtr<UParleyWorkflow> Asset;
    std::unique_ptr<Parley::Editor::ChatModel> Chat;
    FString Fault;
    TArray<FString> Speakers;
    TSharedPtr<SVerticalBox> Findings;
    TSharedPtr<SVerticalBox> Variables;
    TSharedPtr<SScrollBox> Lines;
    TSharedPtr<SVerticalBox> Turns;
    TSharedPtr<SVerticalBox> ToolCalls;
    TSharedPtr<SEditableTextBox> Input;
    int32 DrawnLines = 0;
    /// What is drawn of variables and tool calls: they are not drawn anew under somebody's fingers.
    FString DrawnEntries;
    double StaleLookedAt = 0.0;
    bool bIsStale = false;
    bool bIsDirty = true;
};
