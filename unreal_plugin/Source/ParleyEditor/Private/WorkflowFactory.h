// New workflows and casts, workflow files into assets, and out of them.
#pragma once

#include "CoreMinimal.h"
#include "EditorReimportHandler.h"
#include "Exporters/Exporter.h"
#include "Factories/Factory.h"

#include "WorkflowFactory.generated.h"

class UParleyWorkflow;

/** Makes an empty workflow. */
UCLASS(HideCategories = Object)
class UParleyWorkflowFactory : public UFactory
{
    GENERATED_BODY()

public:
    UParleyWorkflowFactory();

    virtual UObject* FactoryCreateNew(
        UClass* InClass, UObject* InParent, FName InName, EObjectFlags Flags, UObject* Context, FFeedbackContext* Warn) override;
    virtual FText GetDisplayName() const override;
};

/** Makes an empty cast. */
UCLASS(HideCategories = Object)
class UParleyCastFactory : public UFactory
{
    GENERATED_BODY()

public:
    UParleyCastFactory();

    virtual UObject* FactoryCreateNew(
        UClass* InClass, UObject* InParent, FName InName, EObjectFlags Flags, UObject* Context, FFeedbackContext* Warn) override;
    virtual FText GetDisplayName() const override;
};

/** Makes a workflow of a `.workflow.json` file, and takes the file again when it has changed. */
UCLASS(HideCategories = Object)
class UParleyWorkflowImportFactory : public UFactory, public FReimportHandler
{
    GENERATED_BODY()

public:
    UParleyWorkflowImportFactory();

    virtual bool FactoryCanImport(const FString& Filename) override;
    virtual UObject* FactoryCreateFile(
        UClass* InClass,
        UObject* InParent,
        FName InName,
        EObjectFlags Flags,
        const FString& Filename,
        const TCHAR* Parms,
        FFeedbackContext* Warn,
        bool& bOutOperationCanceled) override;

    virtual bool CanReimport(UObject* Obj, TArray<FString>& OutFilenames) override;
    virtual void SetReimportPaths(UObject* Obj, const TArray<FString>& NewReimportPaths) override;
    virtual EReimportResult::Type Reimport(UObject* Obj) override;
    virtual int32 GetPriority() const override;

    /// The file that a workflow came from, whole; empty: it came from none.
    static FString GetSource(const UParleyWorkflow* Workflow);
    /// Says so.
    static void SetSource(UParleyWorkflow& Workflow, const FString& File);
};

/** Writes the `.workflow.json` file of a workflow. */
UCLASS()
class UParleyWorkflowExporter : public UExporter
{
    GENERATED_BODY()

public:
    UParleyWorkflowExporter();

    virtual bool ExportBinary(
        UObject* Object, const TCHAR* Type, FArchive& Ar, FFeedbackContext* Warn, int32 FileIndex, uint32 PortFlags) override;
};
