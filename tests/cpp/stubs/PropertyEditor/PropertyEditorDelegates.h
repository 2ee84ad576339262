// FOnGetDetailCustomizationInstance.
// Source: MothCocoon/FlowGraph Source/FlowEditor/Private/FlowEditorModule.cpp
#pragma once

#include "IDetailCustomization.h"

DECLARE_DELEGATE_RetVal(TSharedRef<class IDetailCustomization>, FOnGetDetailCustomizationInstance)
