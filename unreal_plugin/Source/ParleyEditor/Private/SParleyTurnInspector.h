// The tab that shows what became of a turn, step by step.
#pragma once

#include "Models/TurnInspectorModel.h"

#include "CoreMinimal.h"
#include "Widgets/DeclarativeSyntaxSupport.h"
#include "Widgets/SCompoundWidget.h"

#include <string>
#include <vector>

class SScrollBox;

/// Threading: the game thread.
class SParleyTurnInspector final : public SCompoundWidget
{
public:
    SLATE_BEGIN_ARGS(SParleyTurnInspector)
    {
    }
    SLATE_END_ARGS()

    void Construct(const FArguments& InArgs);
    virtual ~SParleyTurnInspector() override;

private:
    void Draw();
    void TakeClipboard();
    static TSharedRef<SWidget> MakeStep(const Parley::Editor::StepView& Shown);
    static TSharedRef<SWidget> MakeFacts(const char* Title, const std::vector<Parley::Editor::Fact>& Facts);
    static TSharedRef<SWidget> MakeText(const char* Title, const std::string& Text);

    TSharedPtr<SScrollBox> Content;
    FDelegateHandle OnTurn;
    FString Fault;
};
