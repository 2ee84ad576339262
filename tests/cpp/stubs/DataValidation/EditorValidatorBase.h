// UEditorValidatorBase, as 5.3 has it and as 5.4 and later have it.
// Source: dev.epicgames.com/documentation/unreal-engine/API/Plugins/DataValidation/UEditorValidatorBase/AssetFails?application_version=5.3
// (and the same page for 5.4; ValidateLoadedAsset?application_version=5.1, AssetPasses?application_version=5.4,
// AssetWarning?application_version=5.5), dev.epicgames.com/documentation/en-us/unreal-engine/API/Plugins
// /DataValidation/UEditorValidatorBase/CanValidateAsset_Implementation (both of its forms)
#pragma once

#include "AssetRegistry/AssetData.h"
#include "Misc/DataValidation.h"
#include "UObject/Object.h"

// Source: JonasReich/OpenUnrealUtilities Source/OUUEditor/Public/AssetValidation/OUUTextValidator.h
class UEditorValidatorBase : public UObject
{
    STUB_CLASS_BODY(UEditorValidatorBase, UObject)
#if ENGINE_MINOR_VERSION < 4
    virtual bool CanValidateAsset_Implementation(UObject* InAsset) const { return true; }
    virtual EDataValidationResult ValidateLoadedAsset_Implementation(UObject* InAsset, TArray<FText>& ValidationErrors)
    {
        return EDataValidationResult::NotValidated;
    }
    void AssetFails(UObject* InAsset, const FText& InMessage, TArray<FText>& ValidationErrors)
    {
        ValidationErrors.Add(InMessage);
        StubResult = EDataValidationResult::Invalid;
    }
    // No public page shows these two as 5.3 has them; taken to want what AssetFails wants there.
    void AssetWarning(UObject* InAsset, const FText& InMessage) { StubWarnings.Add(InMessage); }
    void AssetPasses(UObject* InAsset) { StubResult = EDataValidationResult::Valid; }
#else
    virtual bool CanValidateAsset_Implementation(
        const FAssetData& InAssetData, UObject* InObject, FDataValidationContext& InContext) const
    {
        return true;
    }
    virtual EDataValidationResult ValidateLoadedAsset_Implementation(
        const FAssetData& InAssetData, UObject* InAsset, FDataValidationContext& Context)
    {
        return EDataValidationResult::NotValidated;
    }
    void AssetFails(const UObject* InAsset, const FText& InMessage)
    {
        StubErrors.Add(InMessage);
        StubResult = EDataValidationResult::Invalid;
    }
    void AssetWarning(const UObject* InAsset, const FText& InMessage) { StubWarnings.Add(InMessage); }
    void AssetPasses(const UObject* InAsset) { StubResult = EDataValidationResult::Valid; }
#endif
    EDataValidationResult GetValidationResult() const { return StubResult; }
    TArray<FText> StubWarnings;
    TArray<FText> StubErrors;
    EDataValidationResult StubResult = EDataValidationResult::NotValidated;
};
