// New workflows and casts, workflow files into assets, and out of them.
#include "WorkflowFactory.h"

#include "WorkflowFiles.h"

#include "DialogueCast.h"
#include "Misc/FeedbackContext.h"
#include "Misc/Paths.h"
#include "ParleyLog.h"
#include "ParleyText.h"
#include "ParleyWorkflow.h"
#include "Serialization/Archive.h"
#include "UObject/Package.h"

#define LOCTEXT_NAMESPACE "ParleyWorkflowFactory"

// ---- new ones

UParleyWorkflowFactory::UParleyWorkflowFactory()
{
    SupportedClass = UParleyWorkflow::StaticClass();
    bCreateNew = true;
    bEditAfterNew = true;
}

UObject* UParleyWorkflowFactory::FactoryCreateNew(
    UClass* InClass, UObject* InParent, FName InName, EObjectFlags Flags, UObject*, FFeedbackContext*)
{
    UParleyWorkflow* Made = NewObject<UParleyWorkflow>(InParent, InClass, InName, Flags | RF_Transactional);
    FString Ignored; // it can be read, as the tests of the runtime module see to
    Made->ImportText(UParleyWorkflow::EmptyJson, Ignored);
    return Made;
}

FText UParleyWorkflowFactory::GetDisplayName() const
{
    return LOCTEXT("Workflow", "Parley Workflow");
}

UParleyCastFactory::UParleyCastFactory()
{
    SupportedClass = UDialogueCast::StaticClass();
    bCreateNew = true;
    bEditAfterNew = true;
}

UObject* UParleyCastFactory::FactoryCreateNew(
    UClass* InClass, UObject* InParent, FName InName, EObjectFlags Flags, UObject*, FFeedbackContext*)
{
    return NewObject<UDialogueCast>(InParent, InClass, InName, Flags | RF_Transactional);
}

FText UParleyCastFactory::GetDisplayName() const
{
    return LOCTEXT("Cast", "Dialogue Cast");
}

// ---- of files

UParleyWorkflowImportFactory::UParleyWorkflowImportFactory()
{
    SupportedClass = UParleyWorkflow::StaticClass();
    bCreateNew = false;
    bEditorImport = true;
    bText = false; // as bytes: the text reader would guess at their encoding
    // The editor knows files by what follows the last point; FactoryCanImport looks at the rest. Others take .json too, and do
    // not look further: it has to be asked before them.
    Formats.Add(TEXT("json;Parley workflow (.workflow.json)"));
    ImportPriority = DefaultImportPriority + 1;
}

bool UParleyWorkflowImportFactory::FactoryCanImport(const FString& Filename)
{
    return FParleyWorkflowFiles::IsWorkflow(Filename);
}

UObject* UParleyWorkflowImportFactory::FactoryCreateFile(
    UClass* InClass,
    UObject* InParent,
    FName InName,
    EObjectFlags Flags,
    const FString& Filename,
    const TCHAR*,
    FFeedbackContext* Warn,
    bool& bOutOperationCanceled)
{
    bOutOperationCanceled = false;
    UParleyWorkflow* Made = NewObject<UParleyWorkflow>(InParent, InClass, InName, Flags | RF_Transactional);
    FString Fault;
    if (!Made->ImportFile(Filename, Fault))
    {
        if (Warn != nullptr)
        {
            Warn->Logf(ELogVerbosity::Error, TEXT("%s"), *Fault);
        }
        Made->MarkAsGarbage();
        return nullptr;
    }
    SetSource(*Made, Filename);
    return Made;
}

bool UParleyWorkflowImportFactory::CanReimport(UObject* Obj, TArray<FString>& OutFilenames)
{
    const FString File = GetSource(Cast<UParleyWorkflow>(Obj));
    if (File.IsEmpty())
    {
        return false;
    }
    OutFilenames.Add(File);
    return true;
}

void UParleyWorkflowImportFactory::SetReimportPaths(UObject* Obj, const TArray<FString>& NewReimportPaths)
{
    UParleyWorkflow* Workflow = Cast<UParleyWorkflow>(Obj);
    if (Workflow != nullptr && NewReimportPaths.Num() == 1)
    {
        Workflow->Modify();
        SetSource(*Workflow, NewReimportPaths[0]);
    }
}

EReimportResult::Type UParleyWorkflowImportFactory::Reimport(UObject* Obj)
{
    UParleyWorkflow* Workflow = Cast<UParleyWorkflow>(Obj);
    const FString File = GetSource(Workflow);
    if (File.IsEmpty())
    {
        return EReimportResult::Failed;
    }
    FString Fault;
    if (!FParleyWorkflowFiles::ImportInto(Workflow, File, Fault))
    {
        UE_LOG(LogParley, Error, TEXT("%s"), *Fault);
        return EReimportResult::Failed;
    }
    return EReimportResult::Succeeded;
}

int32 UParleyWorkflowImportFactory::GetPriority() const
{
    return ImportPriority;
}

FString UParleyWorkflowImportFactory::GetSource(const UParleyWorkflow* Workflow)
{
    if (Workflow == nullptr || Workflow->SourceFile.IsEmpty())
    {
        return FString();
    }
    // What the engine says of the project's folder is itself a path from its own on.
    return FPaths::ConvertRelativePathToFull(FPaths::ConvertRelativePathToFull(FPaths::ProjectDir()), Workflow->SourceFile);
}

void UParleyWorkflowImportFactory::SetSource(UParleyWorkflow& Workflow, const FString& File)
{
    const FString Project = FPaths::ConvertRelativePathToFull(FPaths::ProjectDir());
    FString Source = FPaths::ConvertRelativePathToFull(File);
    if (FPaths::IsUnderDirectory(Source, Project))
    {
        FPaths::MakePathRelativeTo(Source, *Project);
    }
    Workflow.SourceFile = Source;
}

// ---- into files

UParleyWorkflowExporter::UParleyWorkflowExporter()
{
    SupportedClass = UParleyWorkflow::StaticClass();
    bText = false; // as bytes: the text writer has its own mind about encoding and line ends
    PreferredFormatIndex = 0;
    FormatExtension.Add(FParleyWorkflowFiles::Extension);
    FormatDescription.Add(TEXT("Parley workflow"));
    // The editor looks for who writes a chosen file by what follows its last point.
    FormatExtension.Add(TEXT("json"));
    FormatDescription.Add(TEXT("Parley workflow"));
}

bool UParleyWorkflowExporter::ExportBinary(UObject* Object, const TCHAR*, FArchive& Ar, FFeedbackContext* Warn, int32, uint32)
{
    const UParleyWorkflow* Workflow = Cast<UParleyWorkflow>(Object);
    FString Text;
    FString Fault;
    if (Workflow == nullptr || !Workflow->ExportText(Text, Fault))
    {
        if (Warn != nullptr)
        {
            Warn->Logf(ELogVerbosity::Error, TEXT("%s"), *Fault);
        }
        return false;
    }
    std::string Bytes = Parley::ToUtf8(Text);
    Ar.Serialize(Bytes.data(), static_cast<int64>(Bytes.size()));
    return true;
}

#undef LOCTEXT_NAMESPACE
