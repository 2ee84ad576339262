// Types for StubProgram.cpp: one of each kind that the stand-in for the header tool makes code for.
#pragma once

#include "CoreMinimal.h"
#include "Engine/DataAsset.h"
#include "UObject/Interface.h"

#include "StubThing.generated.h"

DECLARE_DYNAMIC_MULTICAST_DELEGATE_OneParam(FStubThingEvent, const FString&, Text);
DECLARE_DYNAMIC_DELEGATE_OneParam(FStubThingDone, const FString&, Text);

UENUM(BlueprintType)
enum class EStubThingKind : uint8
{
    Door,
    Lamp UMETA(DisplayName = "A lamp"),
};

UINTERFACE()
class TESTED_API UStubSpeaks : public UInterface
{
    GENERATED_BODY()
};

class TESTED_API IStubSpeaks
{
    GENERATED_BODY()

public:
    UFUNCTION(BlueprintNativeEvent, Category = "Stub")
    int32 Hear(const FString& Line);
};

USTRUCT(BlueprintType)
struct TESTED_API FStubPart
{
    GENERATED_BODY()

    UPROPERTY(EditAnywhere, Category = "Stub", meta = (ClampMin = "1"))
    int32 Size = 4;

    UPROPERTY(EditAnywhere, Category = "Stub")
    TObjectPtr<UObject> Held;
};

UCLASS()
class TESTED_API UStubThing : public UDataAsset, public IStubSpeaks
{
    GENERATED_BODY()

public:
    /** What it is called. */
    UPROPERTY(EditAnywhere, Category = "Stub")
    FString Name = TEXT("new");

    UPROPERTY(EditAnywhere, Instanced, Category = "Stub")
    TArray<TObjectPtr<UStubThing>> Inner;

    UPROPERTY(EditAnywhere, Category = "Stub")
    FStubPart Part;

    UPROPERTY(BlueprintAssignable, Category = "Stub")
    FStubThingEvent OnThing;

    UFUNCTION()
    void Remember(const FString& Text);

    UFUNCTION(BlueprintImplementableEvent, Category = "Stub")
    void Fires();

    virtual int32 Hear_Implementation(const FString& Line) override;

    FString Heard;
    /// Not kept for undo: no UPROPERTY.
    FString Plain;
};
