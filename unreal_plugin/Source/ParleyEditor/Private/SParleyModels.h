// The tab with the models of the catalog: download, load, remove.
#pragma once

#include "Models/ModelManagerModel.h"

#include "CoreMinimal.h"
#include "Widgets/DeclarativeSyntaxSupport.h"
#include "Widgets/SCompoundWidget.h"

#include <memory>
#include <string>

class SScrollBox;

/// Threading: the game thread.
class SParleyModels final : public SCompoundWidget
{
public:
    SLATE_BEGIN_ARGS(SParleyModels)
    {
    }
    SLATE_END_ARGS()

    void Construct(const FArguments& InArgs);
    virtual void Tick(const FGeometry& AllottedGeometry, const double InCurrentTime, const float InDeltaTime) override;

    /// Asks for the list; the sidecar is started where there is none.
    void Ask();

    /// The list; null: it was not asked for.
    Parley::Editor::ModelManagerModel* GetModels() const
    {
        return Models.get();
    }

private:
    using FAction = void (Parley::Editor::ModelManagerModel::*)(const std::string&);

    TSharedRef<SWidget> MakeRow(const Parley::Editor::ModelRow& Row);
    TSharedRef<SWidget> MakeButton(const FText& Text, const std::string& Name, bool bIsEnabled, FAction Action);
    void Draw();

    std::unique_ptr<Parley::Editor::ModelManagerModel> Models;
    std::weak_ptr<Parley::ParleyCore> Core;
    TSharedPtr<SScrollBox> Content;
    FString Fault;
    bool bIsDirty = true;
};
