// The hub of a game: one core, the agents that take part, and what becomes of both when a Play ends.
#include "ParleySubsystem.h"

#include "Core/GamePlaces.h"
#include "Core/Generated/Messages.h"
#include "Core/ParleyCore.h"
#include "Engine/GameInstance.h"
#include "Engine/World.h"
#include "Misc/App.h"
#include "Misc/EngineVersion.h"
#include "Misc/Paths.h"
#include "ParleyAgentComponent.h"
#include "ParleyJson.h"
#include "ParleyLibrary.h"
#include "ParleyLog.h"
#include "ParleyPlays.h"
#include "ParleySettings.h"
#include "ParleyText.h"

#include <memory>
#include <utility>

/// What the subsystem keeps out of the engine's sight. Threading: the game's thread.
struct FParleyHub
{
    struct FWaiting
    {
        UParleySubsystem::FReplyCallback Done;
    };

    std::unique_ptr<Parley::ParleyCore> Core;
    Parley::CoreOptions Options;
    Parley::GamePlaces Places;
    /// Why the settings cannot be used.
    FParleyFault SettingsFault;
    TArray<TWeakObjectPtr<UParleyAgentComponent>> Agents;
    TArray<TWeakObjectPtr<UParleyAgentComponent>> Deactivated;
    TArray<TSharedPtr<FWaiting>> Waiting;
    /// It was asked for: the sidecar is started by itself once.
    bool bHasBegun = false;
    /// Taken up from the last Play, of whose losses this one need not hear.
    bool bIsTakenUp = false;
    bool bHidesBack = false;
};

namespace ParleySubsystemLocal
{

constexpr int QuitMs = 900;

/// No program is called so: to start it fails, as it must where the settings name none.
const char* const NoProgram = "no-parley-sidecar";

EParleyState StateOf(Parley::CoreState State)
{
    static_assert(static_cast<int>(Parley::CoreState::Stopping) == static_cast<int>(EParleyState::Stopping), "the same words");
    return static_cast<EParleyState>(State);
}

EParleyLogLevel LevelOf(Parley::LogLevel Level)
{
    static_assert(static_cast<int>(Parley::LogLevel::Error) == static_cast<int>(EParleyLogLevel::Error), "the same words");
    return static_cast<EParleyLogLevel>(Level);
}

void Write(Parley::LogLevel Level, std::string_view Text)
{
    if (LevelOf(Level) < UParleySettings::Get()->LogLevel)
    {
        return;
    }
    const FString Line = Parley::ToFString(Text);
    switch (Level)
    {
        case Parley::LogLevel::Error:
            UE_LOG(LogParley, Error, TEXT("%s"), *Line);
            break;
        case Parley::LogLevel::Warning:
            UE_LOG(LogParley, Warning, TEXT("%s"), *Line);
            break;
        default:
            // Verbose lines are not in the output log unless somebody asks for them there too.
            UE_LOG(LogParley, Log, TEXT("%s"), *Line);
            break;
    }
}

Parley::DoneCallback Told(const FParleyDone& Done)
{
    if (!Done.IsBound())
    {
        return {};
    }
    return [Done](const Parley::Fault* Why) { Done.ExecuteIfBound(Why == nullptr ? FParleyFault() : FParleyFault(*Why)); };
}

std::vector<std::string> TextsOf(const TArray<FString>& Texts)
{
    std::vector<std::string> Out;
    Out.reserve(static_cast<std::size_t>(Texts.Num()));
    for (const FString& Text : Texts)
    {
        Out.push_back(Parley::ToUtf8(Text));
    }
    return Out;
}

bool IsRunning(const Parley::ParleyCore& Core)
{
    const Parley::CoreState State = Core.GetState();
    return State != Parley::CoreState::Down && State != Parley::CoreState::Stopped && State != Parley::CoreState::Stopping;
}

} // namespace ParleySubsystemLocal

UParleySubsystem* UParleySubsystem::Get(const UObject* WorldContext)
{
    const UWorld* World = WorldContext == nullptr ? nullptr : WorldContext->GetWorld();
    const UGameInstance* Game = World == nullptr ? nullptr : World->GetGameInstance();
    UParleySubsystem* Found = Game == nullptr ? nullptr : Game->GetSubsystem<UParleySubsystem>();
    return Found != nullptr && Found->Hub.IsValid() ? Found : nullptr;
}

// ---- beginning and end ----

void UParleySubsystem::Initialize(FSubsystemCollectionBase& Collection)
{
    Super::Initialize(Collection);
    Hub = MakeShared<FParleyHub>();
    Begin();
    Ticker = FTSTicker::GetCoreTicker().AddTicker(FTickerDelegate::CreateUObject(this, &UParleySubsystem::Tick));
}

void UParleySubsystem::Deinitialize()
{
    FTSTicker::GetCoreTicker().RemoveTicker(Ticker);
    Ticker.Reset();
    if (Hub.IsValid())
    {
        // What is asked from now on finds nobody.
        const TSharedPtr<FParleyHub> Ended = Hub;
        Hub.Reset();
        Ending.Broadcast();
        const TArray<TWeakObjectPtr<UParleyAgentComponent>> Agents = Ended->Agents;
        for (const TWeakObjectPtr<UParleyAgentComponent>& Agent : Agents)
        {
            if (UParleyAgentComponent* Each = Agent.Get())
            {
                Each->Part();
            }
        }
        if (Ended->Core)
        {
            bool bIsKept = false;
#if WITH_EDITOR
            bIsKept = GIsEditor && UParleySettings::Get()->bKeepBetweenPlays && Ended->Options.Launch
                && Ended->Core->IsConnected() && Ended->Core->GetSidecarPid() != 0;
            if (bIsKept)
            {
                Parley::KeepPlay(Ended->Options, *Ended->Core);
            }
#endif
            if (!bIsKept)
            {
                Ended->Core->StopAndWait(ParleySubsystemLocal::QuitMs);
                Ended->Core->Update(0);
            }
            Ended->Core.reset();
        }
        const FParleyFault Fault(TEXT("SessionClosed"), TEXT("the game has ended"));
        const TArray<TSharedPtr<FParleyHub::FWaiting>> Waiting = MoveTemp(Ended->Waiting);
        for (const TSharedPtr<FParleyHub::FWaiting>& One : Waiting)
        {
            if (One->Done)
            {
                const FReplyCallback Done = MoveTemp(One->Done);
                One->Done = nullptr;
                Done(nullptr, &Fault);
            }
        }
    }
    Super::Deinitialize();
}

void UParleySubsystem::Begin()
{
    Hub->Places = UParleySettings::GetPlaces();
    const UParleySettings& Settings = *UParleySettings::Get();
    Parley::CoreOptions& Options = Hub->Options;
    Options.Codec = Parley::EngineCodec();
    Options.Zmq = Parley::GetLibrary();
    Options.Endpoint = Parley::ToUtf8(Settings.Endpoint);
    Options.Token = Parley::ToUtf8(Settings.Token);
    Options.ServerPublicKey = Parley::ToUtf8(Settings.ServerPublicKey);
    Options.ClientName = "unreal " + Parley::ToUtf8(FEngineVersion::Current().ToString(EVersionComponent::Patch));
    Options.MaxRestarts = Settings.MaxRestarts < 0 ? 0 : Settings.MaxRestarts;
    Options.Log = ParleySubsystemLocal::Write;
    if (!Options.Zmq)
    {
        return;
    }
    if (Settings.bAutoLaunch)
    {
        Options.Launch = Launch();
    }
    if (!TakeUp())
    {
        Hub->Core = std::make_unique<Parley::ParleyCore>(Options);
    }
    Listen();

    Parley::Messages::ConfigureSession Session;
    FString Storage;
    FParleyFault Fault;
    if (!Settings.ToStorage(Hub->Places, Storage, Fault))
    {
        UE_LOG(LogParley, Warning, TEXT("%s"), *Fault.Message);
    }
    if (!Storage.IsEmpty())
    {
        Session.StorageFolder = Parley::ToUtf8(Storage);
    }
    Session.AllowModelDownload = Settings.bAllowModelDownload;
    Session.GameName = Parley::ToUtf8(Settings.GameName.IsEmpty() ? FString(FApp::GetProjectName()) : Settings.GameName);
    Hub->Core->Configure(Session);
}

bool UParleySubsystem::TakeUp()
{
#if WITH_EDITOR
    if (!GIsEditor || !UParleySettings::Get()->bKeepBetweenPlays)
    {
        return false;
    }
    Parley::FLeftBehind Left;
    Hub->Core = Parley::TakePlay(Hub->Options, Left);
    if (!Hub->Core)
    {
        return false;
    }
    Hub->bIsTakenUp = true;
    Hub->bHasBegun = true;
    // What the last Play made in the session is not this one's. Nobody waits for what comes of it.
    const auto Ignore = [](const Parley::Fault*) {};
    for (const std::string& Name : Left.StringStorages)
    {
        Hub->Core->DropStringStorage(Name, Ignore);
    }
    for (const std::string& Name : Left.EmbeddedStorages)
    {
        Hub->Core->DropEmbeddedStorage(Name, Ignore);
    }
    for (const std::string& Model : Left.Models)
    {
        Hub->Core->UnpinModel(Model, Ignore);
    }
    return true;
#else
    return false;
#endif
}

Parley::SidecarOptions UParleySubsystem::Launch()
{
    Parley::SidecarOptions Found;
    Hub->SettingsFault = FParleyFault();
    if (!UParleySettings::Get()->ToLaunch(Hub->Places, Found, Hub->SettingsFault))
    {
        Found.Executable = ParleySubsystemLocal::NoProgram;
    }
    return Found;
}

void UParleySubsystem::Listen()
{
    Parley::ParleyCore& Core = *Hub->Core;
    const TWeakObjectPtr<UParleySubsystem> Weak(this);
    Core.StateChanged.Add(
        [Weak](Parley::CoreState State)
        {
            if (UParleySubsystem* Self = Weak.Get())
            {
                Self->TellState(ParleySubsystemLocal::StateOf(State));
            }
        });
    Core.Gone.Add(
        [Weak](const std::string& Why)
        {
            if (UParleySubsystem* Self = Weak.Get())
            {
                Self->TellGone(Parley::ToFString(Why));
            }
        });
    Core.Back.Add(
        [Weak]
        {
            if (UParleySubsystem* Self = Weak.Get())
            {
                Self->TellBack();
            }
        });
    Core.GaveUp.Add(
        [Weak](const std::string& Why)
        {
            if (UParleySubsystem* Self = Weak.Get())
            {
                Self->TellGaveUp(Parley::ToFString(Why));
            }
        });
    Core.Pushed.Add(
        [Weak](const Parley::Push& What)
        {
            if (UParleySubsystem* Self = Weak.Get())
            {
                Self->TakePush(What);
            }
        });
    Core.LinkChanged.Add(
        [Weak](bool bIsThere)
        {
            if (UParleySubsystem* Self = Weak.Get())
            {
                Self->OnLinkChanged.Broadcast(bIsThere);
            }
        });
}

bool UParleySubsystem::Tick(float)
{
    if (Hub.IsValid() && Hub->Core)
    {
        if (Hub->Deactivated.Num() > 0)
        {
            CancelDeactivated();
        }
        // What is called in it may end this game.
        Hub->Core->Update(UParleySettings::Get()->GetBudgetMs());
    }
    return true;
}

void UParleySubsystem::StartIfWanted()
{
    if (!Hub.IsValid() || Hub->bHasBegun)
    {
        return;
    }
    Hub->bHasBegun = true;
    if (!Hub->Core)
    {
        const FParleyFault Fault = WhyNobody();
        OnGaveUp.Broadcast(Fault);
        return;
    }
    if (Hub->Options.Launch || !Hub->Options.Endpoint.empty())
    {
        Hub->Core->Start();
    }
}

// ---- the sidecar ----

void UParleySubsystem::StartSidecar()
{
    if (!Hub.IsValid())
    {
        return;
    }
    if (!Hub->Core)
    {
        Hub->bHasBegun = false;
        StartIfWanted();
        return;
    }
    Hub->bHasBegun = true;
    if (Hub->Options.Launch && !ParleySubsystemLocal::IsRunning(*Hub->Core))
    {
        // What was in its way may have been put right by now.
        Hub->Options.Launch = Launch();
        SetWhere();
    }
    Hub->Core->Start();
}

void UParleySubsystem::Connect(const FString& Endpoint, const FString& Token, const FString& ServerPublicKey)
{
    if (!Hub.IsValid() || !Hub->Core || ParleySubsystemLocal::IsRunning(*Hub->Core))
    {
        return;
    }
    Hub->bHasBegun = true;
    Hub->SettingsFault = FParleyFault();
    Hub->Options.Launch.reset();
    Hub->Options.Endpoint = Parley::ToUtf8(Endpoint);
    Hub->Options.Token = Parley::ToUtf8(Token);
    Hub->Options.ServerPublicKey = Parley::ToUtf8(ServerPublicKey);
    SetWhere();
    Hub->Core->Start();
}

void UParleySubsystem::SetWhere()
{
    const Parley::CoreOptions& Options = Hub->Options;
    Hub->Core->SetWhere(Options.Launch, Options.Endpoint, Options.Token, Options.ServerPublicKey);
}

void UParleySubsystem::StopSidecar()
{
    if (Hub.IsValid() && Hub->Core)
    {
        Hub->bHasBegun = true;
        Hub->Core->Stop();
    }
}

EParleyState UParleySubsystem::GetState() const
{
    if (!Hub.IsValid() || !Hub->Core)
    {
        return EParleyState::Stopped;
    }
    const EParleyState State = ParleySubsystemLocal::StateOf(Hub->Core->GetState());
    return Hub->bIsTakenUp && State == EParleyState::Gone ? EParleyState::Starting : State;
}

bool UParleySubsystem::IsReady() const
{
    return GetState() == EParleyState::Ready;
}

FString UParleySubsystem::GetTrouble() const
{
    if (!Hub.IsValid())
    {
        return FString();
    }
    if (!Hub->Core)
    {
        return Parley::GetLibraryTrouble();
    }
    return Hub->SettingsFault.IsFault() ? Hub->SettingsFault.Message : Parley::ToFString(Hub->Core->GetTrouble());
}

int32 UParleySubsystem::GetSidecarPid() const
{
    return Hub.IsValid() && Hub->Core ? static_cast<int32>(Hub->Core->GetSidecarPid()) : 0;
}

int32 UParleySubsystem::GetRestarts() const
{
    return Hub.IsValid() && Hub->Core ? static_cast<int32>(Hub->Core->GetRestarts()) : 0;
}

Parley::ParleyCore* UParleySubsystem::GetCore() const
{
    return Hub.IsValid() ? Hub->Core.get() : nullptr;
}

Parley::ParleyCore* UParleySubsystem::Wanted(const FParleyDone& Done)
{
    StartIfWanted();
    Parley::ParleyCore* Core = GetCore();
    if (Core == nullptr)
    {
        Done.ExecuteIfBound(WhyNobody());
    }
    return Core;
}

// ---- what every sidecar is told ----

void UParleySubsystem::Configure(const FString& StorageFolder, bool bAllowModelDownload, const FString& GameName, const FParleyDone& Done)
{
    if (Parley::ParleyCore* Core = Wanted(Done))
    {
        Parley::Messages::ConfigureSession Session;
        Session.AllowModelDownload = bAllowModelDownload;
        if (!StorageFolder.IsEmpty())
        {
            // Whole: the sidecar has a working folder of its own.
            const FString Content = Parley::ToFString(Hub->Places.ContentFolder);
            Session.StorageFolder = Parley::ToUtf8(FPaths::ConvertRelativePathToFull(Content, StorageFolder));
        }
        if (!GameName.IsEmpty())
        {
            Session.GameName = Parley::ToUtf8(GameName);
        }
        Core->Configure(Session, ParleySubsystemLocal::Told(Done));
    }
}

void UParleySubsystem::MakeStringStorage(
    const FString& Name,
    const TArray<FString>& Strings,
    const TArray<FString>& Keys,
    const FString& File,
    const FParleyDone& Done)
{
    if (Parley::ParleyCore* Core = Wanted(Done))
    {
        Parley::Messages::CreateStringStorage Storage;
        Storage.Name = Parley::ToUtf8(Name);
        if (File.IsEmpty() || Strings.Num() > 0)
        {
            Storage.Strings = ParleySubsystemLocal::TextsOf(Strings);
        }
        if (Keys.Num() > 0)
        {
            Storage.Keys = ParleySubsystemLocal::TextsOf(Keys);
        }
        if (!File.IsEmpty())
        {
            Storage.File = Parley::ToUtf8(File);
        }
        Core->MakeStorage(Storage, ParleySubsystemLocal::Told(Done));
    }
}

void UParleySubsystem::DropStringStorage(const FString& Name, const FParleyDone& Done)
{
    if (Parley::ParleyCore* Core = Wanted(Done))
    {
        Core->DropStringStorage(Parley::ToUtf8(Name), ParleySubsystemLocal::Told(Done));
    }
}

void UParleySubsystem::MakeEmbeddedStorage(
    const FString& Name,
    const FString& Config,
    const TArray<FString>& Strings,
    const FString& EmbeddingModel,
    const FParleyDone& Done)
{
    Parley::Messages::CreateEmbeddedStorage Storage;
    Storage.Name = Parley::ToUtf8(Name);
    Storage.EmbeddingModel = Parley::ToUtf8(EmbeddingModel);
    if (!Config.IsEmpty())
    {
        Parley::Json Read;
        FString Fault;
        if (!Parley::JsonFromText(Config, Read, Fault))
        {
            const FParleyFault Why(Parley::ErrorCode::InvalidEmbeddedStorageData, TEXT("the config is no JSON: ") + Fault);
            UE_LOG(LogParley, Error, TEXT("%s"), *Why.ToString());
            Done.ExecuteIfBound(Why);
            return;
        }
        Storage.Config = std::move(Read);
    }
    if (Config.IsEmpty() || Strings.Num() > 0)
    {
        Storage.Strings = ParleySubsystemLocal::TextsOf(Strings);
    }
    if (Parley::ParleyCore* Core = Wanted(Done))
    {
        Core->MakeStorage(Storage, ParleySubsystemLocal::Told(Done));
    }
}

void UParleySubsystem::DropEmbeddedStorage(const FString& Name, const FParleyDone& Done)
{
    if (Parley::ParleyCore* Core = Wanted(Done))
    {
        Core->DropEmbeddedStorage(Parley::ToUtf8(Name), ParleySubsystemLocal::Told(Done));
    }
}

void UParleySubsystem::PinModel(const FString& Model, const FParleyDone& Done)
{
    if (Parley::ParleyCore* Core = Wanted(Done))
    {
        Core->PinModel(Parley::ToUtf8(Model), ParleySubsystemLocal::Told(Done));
    }
}

void UParleySubsystem::UnpinModel(const FString& Model, const FParleyDone& Done)
{
    if (Parley::ParleyCore* Core = Wanted(Done))
    {
        Core->UnpinModel(Parley::ToUtf8(Model), ParleySubsystemLocal::Told(Done));
    }
}

void UParleySubsystem::CancelDownload(const FString& Model, const FParleyDone& Done)
{
    Parley::Messages::CancelDownload Message;
    Message.Model = Parley::ToUtf8(Model);
    AskFor(std::make_shared<Parley::Messages::CancelDownload>(std::move(Message)), Done);
}

void UParleySubsystem::DeleteModel(const FString& Model, const FParleyDone& Done)
{
    Parley::Messages::DeleteModel Message;
    Message.Model = Parley::ToUtf8(Model);
    AskFor(std::make_shared<Parley::Messages::DeleteModel>(std::move(Message)), Done);
}

void UParleySubsystem::AskFor(std::shared_ptr<const Parley::Request> Message, const FParleyDone& Done)
{
    Ask(std::move(Message),
        [Done](const Parley::Reply*, const FParleyFault* Fault)
        {
            if (Fault != nullptr && !Done.IsBound())
            {
                UE_LOG(LogParley, Error, TEXT("%s"), *Fault->ToString());
            }
            Done.ExecuteIfBound(Fault == nullptr ? FParleyFault() : *Fault);
        });
}

void UParleySubsystem::Ask(std::shared_ptr<const Parley::Request> Message, FReplyCallback Done)
{
    StartIfWanted();
    Parley::ParleyCore* Core = GetCore();
    if (Core == nullptr)
    {
        const FParleyFault Fault = WhyNobody();
        Done(nullptr, &Fault);
        return;
    }
    const TSharedPtr<FParleyHub::FWaiting> One = MakeShared<FParleyHub::FWaiting>();
    One->Done = MoveTemp(Done);
    Hub->Waiting.Add(One);
    Core->Request(
        std::move(Message),
        [One, Weak = TWeakObjectPtr<UParleySubsystem>(this)](std::unique_ptr<Parley::Reply> Reply, const Parley::Fault* Why)
        {
            if (UParleySubsystem* Self = Weak.Get())
            {
                if (Self->Hub.IsValid())
                {
                    Self->Hub->Waiting.Remove(One);
                }
            }
            if (!One->Done)
            {
                return;
            }
            const FReplyCallback Told = MoveTemp(One->Done);
            One->Done = nullptr;
            if (Why == nullptr)
            {
                Told(Reply.get(), nullptr);
                return;
            }
            const FParleyFault Fault(*Why);
            Told(nullptr, &Fault);
        });
}

// ---- agents ----

void UParleySubsystem::Join(UParleyAgentComponent* Agent)
{
    if (Hub.IsValid())
    {
        Hub->Agents.AddUnique(Agent);
        StartIfWanted();
    }
}

void UParleySubsystem::Leave(UParleyAgentComponent* Agent)
{
    if (Hub.IsValid())
    {
        Hub->Agents.Remove(Agent);
    }
}

void UParleySubsystem::Deactivated(UParleyAgentComponent* Agent)
{
    if (Hub.IsValid())
    {
        Hub->Deactivated.AddUnique(Agent);
    }
}

void UParleySubsystem::CancelDeactivated()
{
    const TArray<TWeakObjectPtr<UParleyAgentComponent>> Agents = MoveTemp(Hub->Deactivated);
    Hub->Deactivated.Reset();
    for (const TWeakObjectPtr<UParleyAgentComponent>& Agent : Agents)
    {
        UParleyAgentComponent* Each = Agent.Get();
        if (Each != nullptr && !Each->IsActive())
        {
            Each->Cancel();
        }
    }
}

FParleyFault UParleySubsystem::WhyNobody() const
{
    if (Hub.IsValid() && !Hub->Core)
    {
        return FParleyFault(TEXT("LibraryMissing"), Parley::GetLibraryTrouble());
    }
    if (Hub.IsValid() && Hub->SettingsFault.IsFault())
    {
        return Hub->SettingsFault;
    }
    const FString Why = GetTrouble();
    return FParleyFault(
        TEXT("SidecarFailed"),
        Why.IsEmpty() ? FString(TEXT("there is no sidecar; start one with Start Sidecar of the Parley Subsystem")) : Why);
}

// ---- what comes ----

void UParleySubsystem::TellState(EParleyState State)
{
    if (!Hub.IsValid())
    {
        return;
    }
    if (Hub->bIsTakenUp && State == EParleyState::Gone)
    {
        // The last Play lost it, or it was lost between both: this one never had it.
        return;
    }
    if (State == EParleyState::Ready || State == EParleyState::Down || State == EParleyState::Stopped)
    {
        Hub->bIsTakenUp = false;
    }
    OnStateChanged.Broadcast(State);
    if (State == EParleyState::Ready)
    {
        OnReady.Broadcast();
    }
}

void UParleySubsystem::TellGone(const FString& Why)
{
    if (!Hub.IsValid())
    {
        return;
    }
    if (Hub->bIsTakenUp)
    {
        Hub->bHidesBack = true;
        UE_LOG(LogParley, Log, TEXT("what the last Play left is gone (%s); a new sidecar is started"), *Why);
        return;
    }
    OnLost.Broadcast(Why);
}

void UParleySubsystem::TellBack()
{
    if (Hub.IsValid() && Hub->bHidesBack)
    {
        Hub->bHidesBack = false;
        return;
    }
    OnBack.Broadcast();
}

void UParleySubsystem::TellGaveUp(const FString& Why)
{
    if (!Hub.IsValid())
    {
        return;
    }
    const FParleyFault Fault = Hub->SettingsFault.IsFault() ? Hub->SettingsFault : FaultOf(Why);
    const TArray<TWeakObjectPtr<UParleyAgentComponent>> Agents = Hub->Agents;
    OnGaveUp.Broadcast(Fault);
    for (const TWeakObjectPtr<UParleyAgentComponent>& Agent : Agents)
    {
        if (UParleyAgentComponent* Each = Agent.Get())
        {
            Each->Fail(Fault);
        }
    }
}

FParleyFault UParleySubsystem::FaultOf(const FString& Why) const
{
    const UParleySettings& Settings = *UParleySettings::Get();
    const std::string Folder = Parley::ToUtf8(UParleySettings::Clean(Settings.SidecarFolder));
    // Nothing is to be started where the game connected to a sidecar by itself.
    const bool bIsMissing = Hub->Options.Launch && !Settings.UsesCommand(Hub->Places)
        && !FPaths::FileExists(Parley::ToFString(Hub->Options.Launch->Executable)) && Hub->Places.FindSidecar(Folder).empty();
    return bIsMissing ? FParleyFault(
                            TEXT("SidecarMissing"),
                            Parley::ToFString(Hub->Places.NoSidecar(Folder)) + TEXT(" (") + Why + TEXT(")"))
                      : FParleyFault(TEXT("SidecarFailed"), Why);
}

void UParleySubsystem::TakePush(const Parley::Push& What)
{
    if (const Parley::Messages::Progress* Progress = Parley::As<Parley::Messages::Progress>(&What))
    {
        OnProgress.Broadcast(FParleyProgress(*Progress));
    }
    else if (const Parley::Messages::Warning* Warning = Parley::As<Parley::Messages::Warning>(&What))
    {
        OnWarning.Broadcast(FParleyWarning(*Warning));
    }
}
