// The one place of a game that has the sidecar.
#pragma once

#include "Containers/Ticker.h"
#include "CoreMinimal.h"
#include "ParleyTypes.h"
#include "Subsystems/GameInstanceSubsystem.h"
#include "Templates/Function.h"
#include "Templates/SharedPointer.h"

#include <memory>

#include "ParleySubsystem.generated.h"

class UParleyAgentComponent;
struct FParleyHub;

namespace Parley
{
class ParleyCore;
struct Push;
struct Reply;
struct Request;
struct SidecarOptions;
} // namespace Parley

DECLARE_MULTICAST_DELEGATE(FParleyEndingNative);

/**
 * Starts the sidecar, or connects to one, keeps it alive, and hands out what comes from it. There is one in a game; it
 * begins when the first Parley Agent does, or when it is asked for anything.
 *
 * Nothing here waits for the sidecar, but for the end of the game: then it is given less than a second to go. In the editor
 * the sidecar and its session are kept from one Play to the next. Threading: the game's thread.
 */
UCLASS()
class PARLEY_API UParleySubsystem : public UGameInstanceSubsystem
{
    GENERATED_BODY()

public:
    /// The subsystem of the game that an object is in; null: it is in none, or that one ends.
    static UParleySubsystem* Get(const UObject* WorldContext);

    virtual void Initialize(FSubsystemCollectionBase& Collection) override;
    virtual void Deinitialize() override;

    // ---- what it tells ----

    /** How it stands with the sidecar has changed. */
    UPROPERTY(BlueprintAssignable, Category = "Parley|Events")
    FParleyStateEvent OnStateChanged;

    /** The sidecar is there, and all characters are. */
    UPROPERTY(BlueprintAssignable, Category = "Parley|Events")
    FParleyEvent OnReady;

    /** The sidecar was lost, and why; another one is being started. */
    UPROPERTY(BlueprintAssignable, Category = "Parley|Events")
    FParleyTextEvent OnLost;

    /** Another sidecar has all that the lost one had. */
    UPROPERTY(BlueprintAssignable, Category = "Parley|Events")
    FParleyEvent OnBack;

    /** There is no sidecar and none will come, and why. Start Sidecar tries again. */
    UPROPERTY(BlueprintAssignable, Category = "Parley|Events")
    FParleyFaultEvent OnGaveUp;

    /** The sidecar warns of something; nothing stopped. */
    UPROPERTY(BlueprintAssignable, Category = "Parley|Events")
    FParleyWarningEvent OnWarning;

    /** How far something long is, such as a download. */
    UPROPERTY(BlueprintAssignable, Category = "Parley|Events")
    FParleyProgressEvent OnProgress;

    /** The connection broke (false) or is there again (true), with nothing missing. */
    UPROPERTY(BlueprintAssignable, Category = "Parley|Events")
    FParleyLinkEvent OnLinkChanged;

    // ---- the sidecar ----

    /** Start the sidecar, also again after On Gave Up or Stop Sidecar. Without effect while there is one. */
    UFUNCTION(BlueprintCallable, Category = "Parley")
    void StartSidecar();

    /** Connect to a sidecar of somebody else, whatever the settings say. Without effect while there is one. */
    UFUNCTION(BlueprintCallable, Category = "Parley", meta = (AdvancedDisplay = "ServerPublicKey"))
    void Connect(const FString& Endpoint, const FString& Token, const FString& ServerPublicKey = TEXT(""));

    /** Begin to end the sidecar; turns are cancelled. Agents stay, and are there again after Start Sidecar. */
    UFUNCTION(BlueprintCallable, Category = "Parley")
    void StopSidecar();

    /** How it stands with the sidecar. */
    UFUNCTION(BlueprintPure, Category = "Parley")
    EParleyState GetState() const;

    /** The sidecar is there, and all characters are. */
    UFUNCTION(BlueprintPure, Category = "Parley")
    bool IsReady() const;

    /** Why there is no sidecar; empty: there is one, or nobody asked for it. */
    UFUNCTION(BlueprintPure, Category = "Parley")
    FString GetTrouble() const;

    /** The process of the sidecar; 0: there is none, or it is not ours. */
    UFUNCTION(BlueprintPure, Category = "Parley")
    int32 GetSidecarPid() const;

    /** How many sidecars in a row were lost and replaced. */
    UFUNCTION(BlueprintPure, Category = "Parley")
    int32 GetRestarts() const;

    // ---- what every sidecar is told ----

    /** Set what the game may touch, here and in every sidecar to come. An empty text leaves what the settings say. */
    UFUNCTION(BlueprintCallable, Category = "Parley", meta = (AutoCreateRefTerm = "Done"))
    void Configure(const FString& StorageFolder, bool bAllowModelDownload, const FString& GameName, const FParleyDone& Done);

    /** Make a string storage, here and in every sidecar to come. Either Strings (with Keys for a Map or Multimap), or a File of the storage folder. */
    UFUNCTION(BlueprintCallable, Category = "Parley|Storages", meta = (AutoCreateRefTerm = "Strings,Keys,Done"))
    void MakeStringStorage(
        const FString& Name,
        const TArray<FString>& Strings,
        const TArray<FString>& Keys,
        const FString& File,
        const FParleyDone& Done);

    /** Release the name of a string storage; agents that use it keep it until the next sidecar. */
    UFUNCTION(BlueprintCallable, Category = "Parley|Storages", meta = (AutoCreateRefTerm = "Done"))
    void DropStringStorage(const FString& Name, const FParleyDone& Done);

    /** Make an embedded storage, here and in every sidecar to come. Either a Config (a JSON object), or Strings and an Embedding Model. */
    UFUNCTION(BlueprintCallable, Category = "Parley|Storages", meta = (AutoCreateRefTerm = "Strings,Done"))
    void MakeEmbeddedStorage(
        const FString& Name,
        const FString& Config,
        const TArray<FString>& Strings,
        const FString& EmbeddingModel,
        const FParleyDone& Done);

    /** Release the name of an embedded storage; agents that use it keep it until the next sidecar. */
    UFUNCTION(BlueprintCallable, Category = "Parley|Storages", meta = (AutoCreateRefTerm = "Done"))
    void DropEmbeddedStorage(const FString& Name, const FParleyDone& Done);

    /** Load a model and keep it loaded, here and in every sidecar to come. */
    UFUNCTION(BlueprintCallable, Category = "Parley|Models", meta = (AutoCreateRefTerm = "Done"))
    void PinModel(const FString& Model, const FParleyDone& Done);

    /** Take Pin Model back. */
    UFUNCTION(BlueprintCallable, Category = "Parley|Models", meta = (AutoCreateRefTerm = "Done"))
    void UnpinModel(const FString& Model, const FParleyDone& Done);

    /** Stop a download; what there is of it is kept, and the next one goes on from there. */
    UFUNCTION(BlueprintCallable, Category = "Parley|Models", meta = (AutoCreateRefTerm = "Done"))
    void CancelDownload(const FString& Model, const FParleyDone& Done);

    /** Delete what was downloaded of a model. */
    UFUNCTION(BlueprintCallable, Category = "Parley|Models", meta = (AutoCreateRefTerm = "Done"))
    void DeleteModel(const FString& Model, const FParleyDone& Done);

    // ---- for C++ ----

    /// Hears a reply, or a fault and no reply. Called once, in a frame of the game; with SessionClosed where the game ends
    /// first.
    using FReplyCallback = TFunction<void(const Parley::Reply*, const FParleyFault*)>;

    /// Any request that names no agent and makes nothing. The sidecar is started for it where it should be.
    void Ask(std::shared_ptr<const Parley::Request> Message, FReplyCallback Done);

    /// The heart of it, which needs no engine; null before Initialize and after Deinitialize, or where ZeroMQ's library is
    /// missing. The sidecar is not started for it.
    Parley::ParleyCore* GetCore() const;

    /// The game ends: whoever waits for something does so in vain.
    FParleyEndingNative& OnEnding()
    {
        return Ending;
    }

    // ---- for agents ----

    /// An agent takes part: the sidecar is started for it where it should be.
    void Join(UParleyAgentComponent* Agent);
    void Leave(UParleyAgentComponent* Agent);
    /// Where it still is inactive in the next frame, its turn is cancelled.
    void Deactivated(UParleyAgentComponent* Agent);
    /// Why there is no sidecar, for whoever wants one.
    FParleyFault WhyNobody() const;

private:
    bool Tick(float DeltaSeconds);
    void Begin();
    bool TakeUp();
    /// What starts the sidecar. Where the settings cannot be used it fails to start, and On Gave Up says why.
    Parley::SidecarOptions Launch();
    void Listen();
    /// The core is told where the sidecar of the next start is.
    void SetWhere();
    void StartIfWanted();
    /// The core, for whoever wants something of it; null, and `Done` is told why.
    Parley::ParleyCore* Wanted(const FParleyDone& Done);
    void AskFor(std::shared_ptr<const Parley::Request> Message, const FParleyDone& Done);
    void TellState(EParleyState State);
    void TellGone(const FString& Why);
    void TellBack();
    void TellGaveUp(const FString& Why);
    void TakePush(const Parley::Push& What);
    void CancelDeactivated();
    FParleyFault FaultOf(const FString& Why) const;

    FTSTicker::FDelegateHandle Ticker;
    FParleyEndingNative Ending;
    TSharedPtr<FParleyHub> Hub;
};
