// Delegates of text boxes, declared together so that both kinds of box have them.
// Source: NotYetGames/DlgSystem Source/DlgSystemEditor/Search/SDlgFindInDialogues.cpp (OnTextChanged, OnTextCommitted)
#pragma once

#include "Widgets/DeclarativeSyntaxSupport.h"

DECLARE_DELEGATE_OneParam(FOnTextChanged, const FText&)
DECLARE_DELEGATE_TwoParams(FOnTextCommitted, const FText&, ETextCommit::Type)
