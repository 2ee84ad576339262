// Small help for Blueprints: values, faults, JSON, and text that appears bit by bit.
#pragma once

#include "CoreMinimal.h"
#include "Kismet/BlueprintFunctionLibrary.h"
#include "ParleyTypes.h"

#include "ParleyBlueprintLibrary.generated.h"

/** Small help for Blueprints. */
UCLASS()
class PARLEY_API UParleyBlueprintLibrary : public UBlueprintFunctionLibrary
{
    GENERATED_BODY()

public:
    // ---- values of variables ----

    /** A whole number for a variable. */
    UFUNCTION(BlueprintPure, Category = "Parley|Variables", meta = (DisplayName = "To Parley Value (Int)", CompactNodeTitle = "->", BlueprintAutocast))
    static FParleyValue Conv_IntToParleyValue(int32 Value);

    /** A whole number for a variable. */
    UFUNCTION(BlueprintPure, Category = "Parley|Variables", meta = (DisplayName = "To Parley Value (Int64)", CompactNodeTitle = "->", BlueprintAutocast))
    static FParleyValue Conv_Int64ToParleyValue(int64 Value);

    /** A number for a variable. */
    UFUNCTION(BlueprintPure, Category = "Parley|Variables", meta = (DisplayName = "To Parley Value (Float)", CompactNodeTitle = "->", BlueprintAutocast))
    static FParleyValue Conv_DoubleToParleyValue(double Value);

    /** Yes or no for a variable. */
    UFUNCTION(BlueprintPure, Category = "Parley|Variables", meta = (DisplayName = "To Parley Value (Bool)", CompactNodeTitle = "->", BlueprintAutocast))
    static FParleyValue Conv_BoolToParleyValue(bool bValue);

    /** A text for a variable. */
    UFUNCTION(BlueprintPure, Category = "Parley|Variables", meta = (DisplayName = "To Parley Value (String)", CompactNodeTitle = "->", BlueprintAutocast))
    static FParleyValue Conv_StringToParleyValue(const FString& Value);

    /** Texts for a variable. */
    UFUNCTION(BlueprintPure, Category = "Parley|Variables", meta = (DisplayName = "To Parley Value (String Set)", CompactNodeTitle = "->", BlueprintAutocast))
    static FParleyValue Conv_StringsToParleyValue(const TArray<FString>& Value);

    // ---- faults ----

    /** Something failed. */
    UFUNCTION(BlueprintPure, Category = "Parley|Faults")
    static bool IsFault(const FParleyFault& Fault);

    /** Name and code, then the message. */
    UFUNCTION(BlueprintPure, Category = "Parley|Faults", meta = (DisplayName = "To String (Parley Fault)", CompactNodeTitle = "->", BlueprintAutocast))
    static FString Conv_ParleyFaultToString(const FParleyFault& Fault);

    // ---- workflows ----

    /** What is wrong with the text of a workflow, as far as can be seen without a sidecar. */
    UFUNCTION(BlueprintCallable, Category = "Parley|Workflow")
    static TArray<FParleyProblem> ValidateWorkflowText(const FString& Text);

    // ---- JSON ----

    /** Whether a text is JSON. False: Fault says what is wrong and where. */
    UFUNCTION(BlueprintCallable, Category = "Parley|JSON")
    static bool IsJson(const FString& Text, FString& Fault);

    /** A text within a JSON text, by its place, such as arguments.items[0].name. False: there is none. A number or a flag comes as it is written. */
    UFUNCTION(BlueprintCallable, Category = "Parley|JSON")
    static bool GetJsonText(const FString& Json, const FString& Place, FString& Value);

    /** A number within a JSON text, by its place. False: there is none. */
    UFUNCTION(BlueprintCallable, Category = "Parley|JSON")
    static bool GetJsonNumber(const FString& Json, const FString& Place, double& Value);

    /** A flag within a JSON text, by its place. False: there is none. */
    UFUNCTION(BlueprintCallable, Category = "Parley|JSON")
    static bool GetJsonFlag(const FString& Json, const FString& Place, bool& bValue);

    /** A JSON object of values, for Change Params. */
    UFUNCTION(BlueprintPure, Category = "Parley|JSON")
    static FString MakeJson(const TArray<FParleyVariable>& Values);

    // ---- text that appears bit by bit ----

    /** How many characters a reader counts in a text: a letter with its marks, a flag or a family is one. */
    UFUNCTION(BlueprintPure, Category = "Parley|Text")
    static int32 CountCharacters(const FString& Text);

    /** The first so many characters of a text, never cut within one that a reader counts. */
    UFUNCTION(BlueprintPure, Category = "Parley|Text")
    static FString FirstCharacters(const FString& Text, int32 Count);
};
