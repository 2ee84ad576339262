// The game of the tests.
#include "Stage.h"

#include "Containers/Ticker.h"
#include "Core/Generated/Messages.h"
#include "Core/ParleyCore.h"
#include "HAL/PlatformTime.h"
#include "Interfaces/IPluginManager.h"
#include "Logging/LogMacros.h"
#include "Misc/Paths.h"
#include "Modules/ModuleManager.h"
#include "ParleyJson.h"
#include "ParleyModule.h"
#include "ParleyPlays.h"
#include "ParleyText.h"
#include "ParleyWorkflow.h"

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <thread>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define PARLEY_SANITIZED 1
// As <sanitizer/allocator_interface.h> has it, which not every compiler brings along.
extern "C" int __sanitizer_install_malloc_and_free_hooks(
    void (*OnMalloc)(const volatile void*, std::size_t), void (*OnFree)(const volatile void*));
#else
#include <new>
#endif

namespace RuntimeTests
{

namespace
{

thread_local std::uint64_t Allocated = 0;

std::map<std::string, TestBody>& Tests()
{
    static std::map<std::string, TestBody> All;
    return All;
}

std::string ReadFile(const char* Path)
{
    std::ifstream File(Path, std::ios::binary);
    std::ostringstream Out;
    Out << File.rdbuf();
    return Out.str();
}

#if PARLEY_SANITIZED
void CountAllocation(const volatile void*, std::size_t)
{
    Allocated++;
}

void CountNothing(const volatile void*)
{
}
#endif

} // namespace

// ---- what is not as it should be ----

void Fail(const std::string& What)
{
    std::fprintf(stderr, "failed: %s\n%s\n", What.c_str(), Log().c_str());
    std::fflush(nullptr);
    // At once: other threads may still use what an orderly end would take from under them.
    std::_Exit(1);
}

void That(bool bIsSo, const std::string& What)
{
    if (!bIsSo)
    {
        Fail(What);
    }
}

void Equal(std::int64_t Expected, std::int64_t Actual, const std::string& What)
{
    That(Expected == Actual, What + ": expected " + std::to_string(Expected) + ", got " + std::to_string(Actual));
}

void Text(const char* Expected, const FString& Actual, const std::string& What)
{
    const std::string Got = Parley::ToUtf8(Actual);
    That(Got == Expected, What + ": expected <" + Expected + ">, got <" + Got + ">");
}

void Texts(const char* Expected, const std::vector<std::string>& Actual, const std::string& What)
{
    std::string Joined;
    for (const std::string& One : Actual)
    {
        Joined += (Joined.empty() ? "" : "|") + One;
    }
    That(Joined == Expected, What + ": expected <" + Expected + ">, got <" + Joined + ">");
}

void Print(const std::string& Line)
{
    std::printf("%s\n", Line.c_str());
    std::fflush(stdout);
}

std::uint64_t Allocations()
{
    return Allocated;
}

FTest::FTest(const char* Name, TestBody Body)
{
    Tests()[Name] = Body;
}

// ---- the game ----

const Parley::Json& Given()
{
    static const Parley::Json Read = []
    {
        Parley::Json Out;
        std::string Fault;
        const char* File = std::getenv("PLAYER_TEST");
        That(File != nullptr, "PLAYER_TEST names no file");
        That(Parley::EngineCodec()->Read(ReadFile(File), Out, Fault), "what was given is no JSON: " + Fault);
        return Out;
    }();
    return Read;
}

std::string GivenText(std::string_view Name)
{
    const Parley::Json* Found = Given().Find(Name);
    That(Found != nullptr, "nothing is given as " + std::string(Name));
    return Found->AsText();
}

FGame::FGame()
{
    Instance = NewObject<UGameInstance>();
    World = NewObject<UWorld>();
    Instance->AddToRoot();
    World->AddToRoot();
    Instance->StubWorld = World;
    World->StubGameInstance = Instance;
    World->WorldType = EWorldType::PIE;
    That(Instance->GetSubsystem<UParleySubsystem>() != nullptr, "a game has its subsystem");
}

FGame::~FGame()
{
    Stop();
}

double FGame::Stop(bool bCollects)
{
    const double Begun = Clock();
    if (!bIsPlaying)
    {
        return 0.0;
    }
    bIsPlaying = false;
    for (AActor* Actor : Actors())
    {
        Actor->StubEnd(EEndPlayReason::EndPlayInEditor);
        Actor->RemoveFromRoot();
        Actor->StubWorld = nullptr;
    }
    Instance->StubShutdown();
    const double Took = Clock() - Begun;
    Instance->RemoveFromRoot();
    World->RemoveFromRoot();
    World->StubGameInstance = nullptr;
    if (bCollects)
    {
        CollectGarbage(RF_NoFlags);
    }
    return Took;
}

std::vector<AActor*> FGame::Actors() const
{
    std::vector<AActor*> Found;
    for (UObject* Object : StubEngine::AllObjects())
    {
        AActor* Actor = Cast<AActor>(Object);
        if (Actor != nullptr && Actor->StubWorld == World)
        {
            Found.push_back(Actor);
        }
    }
    return Found;
}

void FGame::Gather()
{
    Ticking.clear();
    for (UObject* Object : StubEngine::AllObjects())
    {
        UActorComponent* Component = Cast<UActorComponent>(Object);
        if (IsValid(Component) && Component->PrimaryComponentTick.bCanEverTick && Component->GetWorld() == World)
        {
            Ticking.push_back(Component);
        }
    }
}

void FGame::Frame(double Seconds)
{
    StubEngine::PassTime(Seconds);
    FTSTicker::GetCoreTicker().Tick(static_cast<float>(Seconds));
    if (bHasChanged)
    {
        bHasChanged = false;
        Gather();
    }
    for (std::size_t Index = 0; Index < Ticking.size(); Index++)
    {
        UActorComponent* Component = Ticking[Index].Get();
        if (Component != nullptr && Component->IsRegistered() && Component->HasBegunPlay() && Component->IsComponentTickEnabled())
        {
            Component->TickComponent(static_cast<float>(Seconds), LEVELTICK_All, &Component->PrimaryComponentTick);
        }
    }
}

void FGame::Until(const std::function<bool()>& IsSo, const std::string& What, double PatienceS)
{
    const double Begun = Clock();
    while (!IsSo())
    {
        That(Clock() - Begun < PatienceS, "after " + std::to_string(static_cast<int>(PatienceS)) + " s still not: " + What);
        Frame();
        Sleep(0.001);
    }
}

void FGame::UntilReady()
{
    Until([this] { return Hub().IsReady(); }, "the hub is ready");
}

AActor* FGame::Spawn(const char* Name)
{
    const bool bIsTaken = StaticFindObject(AActor::StaticClass(), World, UTF8_TO_TCHAR(Name)) != nullptr;
    const FName Called = FName(UTF8_TO_TCHAR(Name));
    AActor* Actor =
        NewObject<AActor>(World, bIsTaken ? MakeUniqueObjectName(World, AActor::StaticClass(), Called) : Called);
    Actor->StubWorld = World;
    Actor->AddToRoot();
    Actor->StubBegin();
    bHasChanged = true;
    return Actor;
}

UParleyAgentComponent* FGame::Character(const char* Name, const char* Which)
{
    UParleyAgentComponent* Agent = NewObject<UParleyAgentComponent>(Spawn(Name));
    Agent->Workflow = Workflow(Which);
    Agent->RegisterComponent();
    return Agent;
}

UParleyAgentComponent* FGame::CharacterOf(const char* Name, const FString& Workflow)
{
    FString Fault;
    UParleyAgentComponent* Agent = NewObject<UParleyAgentComponent>(Spawn(Name));
    Agent->Workflow = UParleyWorkflow::Make(nullptr, Workflow, Fault);
    That(Agent->Workflow != nullptr, "the workflow: " + Parley::ToUtf8(Fault));
    Agent->RegisterComponent();
    return Agent;
}

void FGame::Destroy(AActor* Actor)
{
    Actor->RemoveFromRoot();
    Actor->Destroy();
    bHasChanged = true;
}

UParleySubsystem& FGame::Hub() const
{
    UParleySubsystem* Found = UParleySubsystem::Get(World);
    That(Found != nullptr, "the game has a subsystem");
    return *Found;
}

UParleySettings& Alone()
{
    UParleySettings& Settings = *GetMutableDefault<UParleySettings>();
    const UParleySettings* Fresh = NewObject<UParleySettings>();
    Settings.bAutoLaunch = false;
    Settings.Endpoint = Fresh->Endpoint;
    Settings.Token = Fresh->Token;
    Settings.ServerPublicKey = Fresh->ServerPublicKey;
    Settings.SidecarFolder = Fresh->SidecarFolder;
    Settings.EditorCommand.Reset();
    Settings.ServeArguments.Reset();
    Settings.MaxRestarts = 3;
    Settings.bKeepBetweenPlays = false;
    Settings.CatalogFile = FString();
    Settings.ModelsFolder = FString();
    Settings.StorageFolder = TEXT("Parley/storage");
    Settings.bAllowModelDownload = false;
    Settings.GameName = FString();
    Settings.BudgetMs = 1.0f;
    Settings.LogLevel = EParleyLogLevel::Warning;
    return Settings;
}

UParleySettings& Project()
{
    UParleySettings& Settings = Alone();
    StubEngine::ProjectFolder() = Parley::ToFString(GivenText("folder"));
    Settings.bAutoLaunch = true;
    for (const Parley::Json& Part : Given().Find("command")->Items())
    {
        Settings.EditorCommand.Add(Parley::ToFString(Part.AsText()));
    }
    for (const Parley::Json& Argument : Given().Find("arguments")->Items())
    {
        Settings.ServeArguments.Add(Parley::ToFString(Argument.AsText()));
    }
    return Settings;
}

FString LoadModule()
{
    TSharedPtr<IPlugin>& Plugin = IPluginManager::Get().StubPlugins.FindOrAdd(TEXT("Parley"));
    if (!Plugin.IsValid())
    {
        Plugin = MakeShared<IPlugin>();
        const char* Folder = std::getenv("PLAYER_PLUGIN");
        That(Folder != nullptr, "PLAYER_PLUGIN names no folder");
        Plugin->StubBaseDir = UTF8_TO_TCHAR(Folder);
    }
    return FModuleManager::LoadModuleChecked<FParleyModule>(TEXT("Parley")).GetTrouble();
}

void UnloadModule()
{
    FModuleManager::Get().StubUnload(TEXT("Parley"));
}

void Clean()
{
    Parley::EndKeptPlays();
    CollectGarbage(RF_NoFlags);
    StubEngine::LogLines().Reset();
}

UParleyWorkflow* Workflow(const char* Name)
{
    const Parley::Json* Found = Given().Find("workflows")->Find(Name);
    That(Found != nullptr, std::string("there is no workflow ") + Name);
    FString Fault;
    UParleyWorkflow* Made = UParleyWorkflow::Make(nullptr, Parley::JsonToText(*Found), Fault);
    That(Made != nullptr, "the workflow cannot be read: " + Parley::ToUtf8(Fault));
    return Made;
}

void Signal(const char* Which, int Pid)
{
    kill(Pid, std::string_view(Which) == "KILL" ? SIGKILL : SIGSTOP);
}

bool IsAlive(int Pid)
{
    // A process that ended and that nobody waited for is a zombie: gone, but for its number.
    const std::string Stat = ReadFile(("/proc/" + std::to_string(Pid) + "/stat").c_str());
    const std::size_t End = Stat.rfind(')');
    return End != std::string::npos && End + 2 < Stat.size() && Stat[End + 2] != 'Z';
}

double Clock()
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void Sleep(double Seconds)
{
    std::this_thread::sleep_for(std::chrono::duration<double>(Seconds));
}

int CountLog(ELogVerbosity::Type Verbosity, const char* Part)
{
    int Count = 0;
    for (const StubEngine::FLogLine& Line : StubEngine::LogLines())
    {
        Count += Line.Verbosity == Verbosity && Parley::ToUtf8(Line.Text).find(Part) != std::string::npos ? 1 : 0;
    }
    return Count;
}

std::string Log()
{
    std::string All;
    for (const StubEngine::FLogLine& Line : StubEngine::LogLines())
    {
        All += Parley::ToUtf8(Line.Category) + ": " + Parley::ToUtf8(Line.Text) + "\n";
    }
    return All;
}

// ---- who listens ----

UNotes* UNotes::Of(UParleyAgentComponent* Agent)
{
    UNotes* Made = NewObject<UNotes>();
    Made->AddToRoot();
    Agent->OnAnswer.AddDynamic(Made, &UNotes::TakeAnswer);
    Agent->OnTurnComplete.AddDynamic(Made, &UNotes::TakeTurn);
    Agent->OnToolCall.AddDynamic(Made, &UNotes::TakeTool);
    Agent->OnError.AddDynamic(Made, &UNotes::TakeError);
    Agent->OnNodeEvent.AddDynamic(Made, &UNotes::TakeEvent);
    Agent->OnReady.AddDynamic(Made, &UNotes::TakeReady);
    return Made;
}

void UNotes::TakeAnswer(const FString& Speaker, const FString& Part, bool bIsFinal)
{
    Frames++;
    Said += Part;
    if (bIsFinal)
    {
        Speakers.push_back(Parley::ToUtf8(Speaker));
        Said += TEXT("|");
    }
    if (OnFirst)
    {
        const std::function<void()> First = std::move(OnFirst);
        OnFirst = nullptr;
        First();
    }
}

void UNotes::TakeTurn(const FParleyTurnComplete& Turn)
{
    Turns.Add(Turn);
}

void UNotes::TakeTool(const FParleyToolCall& Call)
{
    Tools.Add(Call);
}

void UNotes::TakeError(const FParleyFault& Fault)
{
    Errors.Add(Fault);
    Print("error: " + Parley::ToUtf8(Fault.ToString()));
}

void UNotes::TakeEvent(const FParleyNodeEvent& Happened)
{
    Events.Add(Happened);
}

void UNotes::TakeReady()
{
    Readies++;
}

UHubNotes* UHubNotes::Of(UParleySubsystem& Hub)
{
    UHubNotes* Made = NewObject<UHubNotes>();
    Made->AddToRoot();
    Hub.OnStateChanged.AddDynamic(Made, &UHubNotes::TakeState);
    Hub.OnReady.AddDynamic(Made, &UHubNotes::TakeReady);
    Hub.OnLost.AddDynamic(Made, &UHubNotes::TakeGone);
    Hub.OnBack.AddDynamic(Made, &UHubNotes::TakeBack);
    Hub.OnGaveUp.AddDynamic(Made, &UHubNotes::TakeGaveUp);
    Hub.OnWarning.AddDynamic(Made, &UHubNotes::TakeWarning);
    Hub.OnProgress.AddDynamic(Made, &UHubNotes::TakeProgress);
    return Made;
}

void UHubNotes::TakeState(EParleyState State)
{
    static const char* const Words[] = {"stopped", "starting", "ready", "gone", "down", "stopping"};
    States.push_back(Words[static_cast<int>(State)]);
}

void UHubNotes::TakeReady()
{
    Told.push_back("ready");
}

void UHubNotes::TakeGone(const FString&)
{
    Told.push_back("gone");
}

void UHubNotes::TakeBack()
{
    Told.push_back("back");
}

void UHubNotes::TakeGaveUp(const FParleyFault& Fault)
{
    Told.push_back("gave up");
    Faults.Add(Fault);
}

void UHubNotes::TakeWarning(const FParleyWarning&)
{
    Warnings++;
}

void UHubNotes::TakeProgress(const FParleyProgress&)
{
    Steps++;
}

void UHubNotes::TakeDone(const FParleyFault& Fault)
{
    Dones.Add(Fault);
}

} // namespace RuntimeTests

// ---- the program ----

#if !PARLEY_SANITIZED
void* operator new(std::size_t Bytes)
{
    RuntimeTests::Allocated++;
    void* Made = std::malloc(Bytes == 0 ? 1 : Bytes);
    if (Made == nullptr)
    {
        std::abort();
    }
    return Made;
}

void operator delete(void* Made) noexcept
{
    std::free(Made);
}

void operator delete(void* Made, std::size_t) noexcept
{
    std::free(Made);
}
#endif

/// Runs the tests that are named, each after the other; lists them all where none is.
int main(int Count, char** Names)
{
#if PARLEY_SANITIZED
    __sanitizer_install_malloc_and_free_hooks(RuntimeTests::CountAllocation, RuntimeTests::CountNothing);
#endif
    if (Count == 1)
    {
        for (const auto& [Name, Body] : RuntimeTests::Tests())
        {
            std::printf("%s\n", Name.c_str());
        }
        return 0;
    }
    for (int Index = 1; Index < Count; Index++)
    {
        const auto Found = RuntimeTests::Tests().find(Names[Index]);
        RuntimeTests::That(Found != RuntimeTests::Tests().end(), std::string("there is no test ") + Names[Index]);
        const FString Trouble = RuntimeTests::LoadModule();
        RuntimeTests::That(Trouble.IsEmpty(), Parley::ToUtf8(Trouble));
        Found->second();
        RuntimeTests::Clean();
    }
    RuntimeTests::UnloadModule();
    return 0;
}
