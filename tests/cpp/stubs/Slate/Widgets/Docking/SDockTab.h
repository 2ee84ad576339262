// SDockTab.
// Source: CesiumGS/cesium-unreal Source/CesiumEditor/Private/CesiumEditor.cpp (SNew(SDockTab).TabRole(ETabRole::NomadTab)[…])
#pragma once

#include "Widgets/DeclarativeSyntaxSupport.h"

// Source: CesiumGS/cesium-unreal Source/CesiumEditor/Private/CesiumEditor.cpp
enum ETabRole : uint8
{
    MajorTab,
    PanelTab,
    NomadTab,
    DocumentTab,
    NumRoles
};

// Source: CesiumGS/cesium-unreal Source/CesiumEditor/Private/CesiumEditor.cpp
class SDockTab : public SWidget
{
public:
    SLATE_BEGIN_ARGS(SDockTab) {}
        SLATE_DEFAULT_SLOT(FArguments, Content)
        SLATE_ARGUMENT(ETabRole, TabRole)
        SLATE_ATTRIBUTE(FText, Label)
    SLATE_END_ARGS()
    void Construct(const FArguments& InArgs) { StubChildren.Add(InArgs._Content); }
    void SetContent(TSharedRef<SWidget> InContent) { StubChildren[0] = InContent; }
    TSharedPtr<SWidget> StubContent() const { return StubChildren[0]; }
};
