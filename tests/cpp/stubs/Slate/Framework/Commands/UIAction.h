// FUIAction.
// Source: NotYetGames/DlgSystem Source/DlgSystemEditor/Browser/SDlgBrowser.cpp (FUIAction(FExecuteAction::CreateLambda(…)))
#pragma once

#include "Types/SlateEnums.h"

DECLARE_DELEGATE(FExecuteAction)
DECLARE_DELEGATE_RetVal(bool, FCanExecuteAction)

// Source: NotYetGames/DlgSystem Source/DlgSystemEditor/Browser/SDlgBrowser.cpp
struct FUIAction
{
    FUIAction() = default;
    FUIAction(FExecuteAction InExecuteAction)
        : ExecuteAction(InExecuteAction)
    {
    }
    FUIAction(FExecuteAction InExecuteAction, FCanExecuteAction InCanExecuteAction)
        : ExecuteAction(InExecuteAction)
        , CanExecuteAction(InCanExecuteAction)
    {
    }
    FExecuteAction ExecuteAction;
    FCanExecuteAction CanExecuteAction;
};
