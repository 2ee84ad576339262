// Words of Slate.
// Source: CesiumGS/cesium-unreal Source/CesiumEditor/Private/IonLoginPanel.cpp, MothCocoon/FlowGraph
// Source/FlowEditor/Private/Graph/Widgets/SFlowGraphNode.cpp
#pragma once

#include "CoreMinimal.h"

#define SLATECORE_API DLLEXPORT
#define SLATE_API DLLEXPORT

// Source: NotYetGames/DlgSystem Source/DlgSystemEditor/Search/SDlgFindInDialogues.cpp (OnTextCommitted(const FText&, ETextCommit::Type))
namespace ETextCommit
{
// Source: NotYetGames/DlgSystem Source/DlgSystemEditor/Editor/DetailsPanel/Widgets/SDlgTextPropertyPickList.cpp
enum Type
{
    Default,
    OnEnter,
    OnUserMovedFocus,
    OnCleared,
};
} // namespace ETextCommit

// Source: NotYetGames/DlgSystem Source/DlgSystemEditor/Browser/SDlgBrowser.cpp (ESelectInfo::Type)
namespace ESelectInfo
{
// Source: MothCocoon/FlowGraph Source/FlowEditor/Private/Graph/Widgets/SFlowPalette.cpp
enum Type
{
    OnKeyPress,
    OnNavigation,
    OnMouseClick,
    Direct,
};
} // namespace ESelectInfo

// Source: CesiumGS/cesium-unreal Source/CesiumEditor/Private/CesiumIonPanel.cpp
enum EHorizontalAlignment : int
{
    HAlign_Fill,
    HAlign_Left,
    HAlign_Center,
    HAlign_Right,
};

// Source: CesiumGS/cesium-unreal Source/CesiumEditor/Private/CesiumFeaturesMetadataViewer.cpp
enum EVerticalAlignment : int
{
    VAlign_Fill,
    VAlign_Top,
    VAlign_Center,
    VAlign_Bottom,
};

// Source: VoxelPlugin/VoxelCore Source/VoxelCoreEditor/Public/SVoxelSegmentedControl.h
enum class ECheckBoxState : uint8
{
    Unchecked,
    Checked,
    Undetermined,
};

// Source: dev.epicgames.com/documentation/en-us/unreal-engine/python-api/class/ButtonClickMethod?application_version=5.1
// (its values), 20tab/UnrealEnginePython Source/UnrealEnginePython/Private/Slate/UEPySButton.cpp (EButtonClickMethod::Type)
namespace EButtonClickMethod
{
// Source: dev.epicgames.com/documentation/en-us/unreal-engine/python-api/class/ButtonClickMethod?application_version=5.1
// (its values), 20tab/UnrealEnginePython Source/UnrealEnginePython/Private/Slate/UEPySButton.cpp (EButtonClickMethod::Type)
enum Type : uint8
{
    DownAndUp,
    MouseDown,
    MouseUp,
    PreciseClick,
};
} // namespace EButtonClickMethod

// Source: NotYetGames/DlgSystem Source/DlgSystemEditor/Editor/DetailsPanel/Widgets/SDlgTextPropertyPickList.cpp
enum class EFocusCause : uint8
{
    Mouse,
    Navigation,
    SetDirectly,
    Cleared,
    OtherWidgetLostFocus,
    WindowActivate,
};

// Source: JonasReich/OpenUnrealUtilities Source/OUURuntime/Public/Slate/SplitterColumnSizeData.h
enum EOrientation : int
{
    Orient_Horizontal,
    Orient_Vertical,
};
