// The one sidecar that all panels of the editor share.
#include "EditorSidecar.h"

#include "Models/ModelManagerModel.h"

#include "Core/CoreOptions.h"
#include "Core/GamePlaces.h"
#include "Core/ParleyCore.h"

#include "HAL/FileManager.h"
#include "Misc/App.h"
#include "Misc/EngineVersion.h"
#include "ParleyEditorModule.h"
#include "ParleyJson.h"
#include "ParleyLibrary.h"
#include "ParleyLog.h"
#include "ParleySettings.h"
#include "ParleyText.h"

namespace Parley::EditorSidecarLocal
{

constexpr int StopMs = 900;
constexpr int32 KeptLines = 200;

EParleyLogLevel LevelOf(LogLevel Level)
{
    switch (Level)
    {
    case LogLevel::Debug:
        return EParleyLogLevel::Debug;
    case LogLevel::Info:
        return EParleyLogLevel::Info;
    case LogLevel::Warning:
        return EParleyLogLevel::Warning;
    default:
        return EParleyLogLevel::Error;
    }
}

void Write(LogLevel Level, const FString& Text)
{
    if (LevelOf(Level) < UParleySettings::Get()->LogLevel)
    {
        return;
    }
    if (Level == LogLevel::Error)
    {
        UE_LOG(LogParley, Error, TEXT("%s"), *Text);
    }
    else if (Level == LogLevel::Warning)
    {
        UE_LOG(LogParley, Warning, TEXT("%s"), *Text);
    }
    else
    {
        UE_LOG(LogParley, Log, TEXT("%s"), *Text);
    }
}

} // namespace Parley::EditorSidecarLocal

FParleyEditorSidecar::FParleyEditorSidecar()
{
    Ticker = FTSTicker::GetCoreTicker().AddTicker(FTickerDelegate::CreateRaw(this, &FParleyEditorSidecar::Tick));
}

FParleyEditorSidecar::~FParleyEditorSidecar()
{
    FTSTicker::GetCoreTicker().RemoveTicker(Ticker);
    Stop();
}

FParleyEditorSidecar* FParleyEditorSidecar::Get()
{
    FParleyEditorModule* Module = FParleyEditorModule::GetIfLoaded();
    return Module == nullptr ? nullptr : Module->GetSidecar();
}

std::shared_ptr<Parley::ParleyCore> FParleyEditorSidecar::Start(FString& Fault)
{
    Fault.Reset();
    if (Core && Core->GetState() == Parley::CoreState::Down)
    {
        Stop(); // the settings that were in its way may be better by now
    }
    if (!Core)
    {
        const std::shared_ptr<const Parley::ZmqApi> Library = Parley::GetLibrary();
        if (!Library)
        {
            Fault = Parley::GetLibraryTrouble();
            return nullptr;
        }
        const UParleySettings* Settings = UParleySettings::Get();
        Parley::CoreOptions Options;
        Options.Codec = Parley::EngineCodec();
        Options.Zmq = Library;
        if (Settings->bAutoLaunch)
        {
            Parley::SidecarOptions Launch;
            FParleyFault Why;
            if (!Settings->ToLaunch(UParleySettings::GetPlaces(), Launch, Why))
            {
                Fault = Why.Message;
                return nullptr;
            }
            Options.Launch = MoveTemp(Launch);
        }
        Options.Endpoint = Parley::ToUtf8(Settings->Endpoint);
        Options.Token = Parley::ToUtf8(Settings->Token);
        Options.ServerPublicKey = Parley::ToUtf8(Settings->ServerPublicKey);
        Options.ClientName = "unreal editor " + Parley::ToUtf8(FEngineVersion::Current().ToString(EVersionComponent::Patch));
        Options.MaxRestarts = FMath::Max(Settings->MaxRestarts, 0);
        Options.Log = [this, Alive = std::weak_ptr<bool>(Life)](Parley::LogLevel Level, std::string_view Text)
        {
            const FString Line = Parley::ToFString(Text);
            if (!Alive.expired())
            {
                Log.Add(Line);
                if (Log.Num() > Parley::EditorSidecarLocal::KeptLines)
                {
                    Log.RemoveAt(0);
                }
            }
            Parley::EditorSidecarLocal::Write(Level, Line);
        };
        Core = std::make_shared<Parley::ParleyCore>(MoveTemp(Options));
        Configure();
    }
    Core->Start();
    OnChanged.Broadcast();
    return Core;
}

void FParleyEditorSidecar::Stop()
{
    if (!Core)
    {
        return;
    }
    const std::shared_ptr<Parley::ParleyCore> Ended = MoveTemp(Core);
    Core.reset();
    Ended->StopAndWait(Parley::EditorSidecarLocal::StopMs);
    OnChanged.Broadcast();
}

void FParleyEditorSidecar::TakeModels(std::vector<Parley::Editor::KnownModel> Known)
{
    Models = MoveTemp(Known);
    OnChanged.Broadcast();
}

void FParleyEditorSidecar::AskModels()
{
    if (!Core)
    {
        return;
    }
    Core->Request(std::make_shared<Parley::Messages::ListModels>(),
        [this, Alive = std::weak_ptr<bool>(Life)](std::unique_ptr<Parley::Reply> Answer, const Parley::Fault*)
    {
        const auto* List = Parley::As<Parley::Messages::Models>(Answer.get());
        if (List != nullptr && !Alive.expired())
        {
            TakeModels(Parley::Editor::ModelManagerModel::KnownOf(*List));
        }
    });
}

FString FParleyEditorSidecar::GetStorageFolder()
{
    FString Folder;
    FParleyFault Ignored; // a path that is none is as none: whoever needs the folder says what to do
    return UParleySettings::Get()->ToStorage(UParleySettings::GetPlaces(), Folder, Ignored) ? Folder : FString();
}

void FParleyEditorSidecar::Configure()
{
    const UParleySettings* Settings = UParleySettings::Get();
    const FString Storage = GetStorageFolder();
    const FString Name = Settings->GameName.IsEmpty() ? FString(FApp::GetProjectName()) : Settings->GameName;
    Parley::Messages::ConfigureSession Message;
    if (!Storage.IsEmpty() && IFileManager::Get().DirectoryExists(*Storage))
    {
        Message.StorageFolder = Parley::ToUtf8(Storage);
    }
    Message.AllowModelDownload = true; // it is a developer who presses Download
    Message.GameName = Parley::ToUtf8(Name) + " (editor)";
    Core->Configure(Message);
}

bool FParleyEditorSidecar::Tick(float)
{
    // Kept for the call: a callback may stop the sidecar.
    if (const std::shared_ptr<Parley::ParleyCore> Running = Core)
    {
        Running->Update(BudgetMs);
    }
    return true;
}
