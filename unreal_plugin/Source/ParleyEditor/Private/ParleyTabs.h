// The tabs of the editor: test chat, turn inspector, models.
#pragma once

#include "Models/TurnInspectorModel.h"

#include "CoreMinimal.h"
#include "Delegates/DelegateCombinations.h"

#include <memory>

class FParleyRegistrations;
class UParleyWorkflow;

DECLARE_MULTICAST_DELEGATE(FParleyTurnShown);

/// Threading: the game thread.
struct FParleyTabs
{
    static const FName Chat;
    static const FName Turn;
    static const FName Models;

    /// Lets the tab manager make them.
    static void Register(FParleyRegistrations& Registrations);

    /// Opens the test chat with a workflow; null: with the one that it has.
    static void OpenChat(UParleyWorkflow* Workflow);
    /// Opens the turn inspector with a turn; null: with the latest one.
    static void OpenTurn(std::shared_ptr<const Parley::Editor::TurnInspectorModel> Shown);

    /// The turn that the turn inspector shows; null: none.
    static const std::shared_ptr<const Parley::Editor::TurnInspectorModel>& GetTurn();
    /// A turn has ended, or is to be looked into: the inspector shows it where it is open.
    static void ShowTurn(std::shared_ptr<const Parley::Editor::TurnInspectorModel> Shown);
    /// The inspector has another turn to show.
    static FParleyTurnShown& OnTurnShown();
};
