// What IsDataValid reports into.
// Source: BenPyton/ProceduralDungeon Source/ProceduralDungeon/Private/RoomData.cpp (IsDataValid(FDataValidationContext&) const)
#pragma once

#include "UObject/Object.h"

// Source: JonasReich/OpenUnrealUtilities Source/OUUEditor/Public/AssetValidation/OUUAssetValidatorBase_EngineVersionGlue.h
class FDataValidationContext
{
public:
    void AddError(const FText& Text) { StubErrors.Add(Text); }
    void AddWarning(const FText& Text) { StubWarnings.Add(Text); }
    uint32 GetNumErrors() const { return static_cast<uint32>(StubErrors.Num()); }
    uint32 GetNumWarnings() const { return static_cast<uint32>(StubWarnings.Num()); }
    TArray<FText> StubErrors;
    TArray<FText> StubWarnings;
};
