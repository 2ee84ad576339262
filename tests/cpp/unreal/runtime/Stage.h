// A game for the tests of the Unreal layer: its frames, its folders, characters, and notes of what they say.
#pragma once

#include "Components/ActorComponent.h"
#include "Core/Json.h"
#include "CoreMinimal.h"
#include "Engine/GameInstance.h"
#include "Engine/World.h"
#include "GameFramework/Actor.h"
#include "ParleyAgentComponent.h"
#include "ParleySettings.h"
#include "ParleySubsystem.h"
#include "ParleyTypes.h"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace RuntimeTests
{

// ---- what is not as it should be ----

/// Ends the program and says why.
[[noreturn]] void Fail(const std::string& What);
void That(bool bIsSo, const std::string& What);
void Equal(std::int64_t Expected, std::int64_t Actual, const std::string& What);
void Text(const char* Expected, const FString& Actual, const std::string& What);
/// Texts, joined by bars.
void Texts(const char* Expected, const std::vector<std::string>& Actual, const std::string& What);

/// Prints for whoever reads the test's output.
void Print(const std::string& Line);

/// How often this thread has allocated.
std::uint64_t Allocations();

// ---- tests by their names ----

using TestBody = void (*)();

struct FTest
{
    FTest(const char* Name, TestBody Body);
};

#define PARLEY_TEST(Kind, Name) \
    static void Kind##_##Name(); \
    static const ::RuntimeTests::FTest Kind##_##Name##_Entry(#Kind "." #Name, &Kind##_##Name); \
    static void Kind##_##Name()

// ---- the game ----

/// What the test that runs this program wrote down for it.
const Parley::Json& Given();
std::string GivenText(std::string_view Name);

/// Plays one game, a frame at a time. Threading: the game's thread.
class FGame
{
public:
    /// Begins to play.
    FGame();
    /// Ends the play, if it goes on.
    ~FGame();
    FGame(const FGame&) = delete;
    FGame& operator=(const FGame&) = delete;

    /// As the editor ends a play: actors, then the game; `bCollects`: then what nobody holds goes. Seconds that it took.
    double Stop(bool bCollects = true);

    /// One frame of so many seconds: the core's ticker, then the components of each actor.
    void Frame(double Seconds = 0.01);
    /// Frames with some real time between them until something is so.
    void Until(const std::function<bool()>& IsSo, const std::string& What, double PatienceS = 20.0);
    void UntilReady();

    /// An actor that plays. Its components begin with it.
    AActor* Spawn(const char* Name);
    /// A component that is made while its actor plays.
    template <class T>
    T* Add(AActor* Actor)
    {
        T* Made = NewObject<T>(Actor);
        Made->RegisterComponent();
        bHasChanged = true;
        return Made;
    }
    /// A character of one of the workflows.
    UParleyAgentComponent* Character(const char* Name, const char* Workflow);
    /// As Character, with the text of a workflow.
    UParleyAgentComponent* CharacterOf(const char* Name, const FString& Text);
    void Destroy(AActor* Actor);

    UParleySubsystem& Hub() const;

    UGameInstance* Instance = nullptr;
    UWorld* World = nullptr;

private:
    std::vector<AActor*> Actors() const;
    /// Which components may tick, as far as actors came and went by this object.
    void Gather();

    bool bIsPlaying = true;
    bool bHasChanged = true;
    std::vector<TWeakObjectPtr<UActorComponent>> Ticking;
};

/// The settings of the project, as they are new, with a real sidecar to start.
UParleySettings& Project();
/// As they are new, without a sidecar to start.
UParleySettings& Alone();
/// The module of the plugin, loaded as the engine does; what it did not find, if anything.
FString LoadModule();
void UnloadModule();
/// Ends what earlier plays left, and forgets what the log said.
void Clean();

UParleyWorkflow* Workflow(const char* Name);

void Signal(const char* Signal, int Pid);
bool IsAlive(int Pid);
double Clock();
void Sleep(double Seconds);
/// How many lines of the log say it.
int CountLog(ELogVerbosity::Type Verbosity, const char* Part);
std::string Log();

// ---- who listens ----

/// Notes what a character's events say.
class UNotes : public UObject
{
    STUB_CLASS_BODY(UNotes, UObject)

public:
    static UNotes* Of(UParleyAgentComponent* Agent);

    void TakeAnswer(const FString& Speaker, const FString& Part, bool bIsFinal);
    void TakeTurn(const FParleyTurnComplete& Turn);
    void TakeTool(const FParleyToolCall& Call);
    void TakeError(const FParleyFault& Fault);
    void TakeEvent(const FParleyNodeEvent& Happened);
    void TakeReady();

    /// All that was said, with a bar behind each speaker's end.
    FString Said;
    std::vector<std::string> Speakers;
    TArray<FParleyTurnComplete> Turns;
    TArray<FParleyToolCall> Tools;
    TArray<FParleyFault> Errors;
    TArray<FParleyNodeEvent> Events;
    int Frames = 0;
    int Readies = 0;
    /// Called by the first answer, turn or error.
    std::function<void()> OnFirst;
};

/// Notes what the subsystem says, a word each.
class UHubNotes : public UObject
{
    STUB_CLASS_BODY(UHubNotes, UObject)

public:
    static UHubNotes* Of(UParleySubsystem& Hub);

    void TakeState(EParleyState State);
    void TakeReady();
    void TakeGone(const FString& Why);
    void TakeBack();
    void TakeGaveUp(const FParleyFault& Fault);
    void TakeWarning(const FParleyWarning& Warning);
    void TakeProgress(const FParleyProgress& Progress);
    void TakeDone(const FParleyFault& Fault);

    std::vector<std::string> Told;
    std::vector<std::string> States;
    TArray<FParleyFault> Faults;
    TArray<FParleyFault> Dones;
    int Warnings = 0;
    int Steps = 0;
};

} // namespace RuntimeTests
