// UInterface.
// Source: NotYetGames/DlgSystem Source/DlgSystem/DlgParticipantName.h
#pragma once

#include "UObject/Object.h"

// Source: CesiumGS/cesium-unreal Source/CesiumRuntime/Public/CesiumLoadedTile.h
class UInterface : public UObject
{
    STUB_CLASS_BODY(UInterface, UObject)
};

// Source: JonasReich/OpenUnrealUtilities Source/OUURuntime/Public/Templates/InterfaceUtils.h
class IInterface
{
protected:
    virtual ~IInterface() = default;
};
