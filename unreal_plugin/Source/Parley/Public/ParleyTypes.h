// The small types that Blueprints and C++ see of Parley: states, faults, values, tool calls.
#pragma once

#include "CoreMinimal.h"
#include "Core/Fault.h"
#include "Core/Json.h"
#include "Generated/ParleyErrorCode.h"
#include "Generated/ParleyMessages.h"

#include "ParleyTypes.generated.h"

/** How it stands with the sidecar. */
UENUM(BlueprintType)
enum class EParleyState : uint8
{
    /** Nothing was started, or it was stopped. */
    Stopped,
    /** The first sidecar is being started, and what it should have is made. */
    Starting,
    /** All is there. */
    Ready,
    /** The sidecar is lost; another one is being started, and gets all that the old one had. */
    Gone,
    /** There is no sidecar, and none will be started until Start Sidecar is called. */
    Down,
    /** It is ending. */
    Stopping,
};

/** How far a character is. */
UENUM(BlueprintType)
enum class EParleyAgentState : uint8
{
    /** It has no conversation: it has not begun, or has ended. */
    None,
    /** The sidecar does not have it yet, or not any more; what it is asked waits. */
    Making,
    /** It can be spoken to. */
    Ready,
    /** The sidecar refused it; On Error said why. */
    Failed,
};

/** What becomes of a line that is said while a turn runs. */
UENUM(BlueprintType)
enum class EParleyWhenBusy : uint8
{
    /** One line waits and is said next; a second one is refused. */
    QueueOne,
    /** It is refused. */
    Refuse,
};

/** What became of a line. */
UENUM(BlueprintType)
enum class EParleySayOutcome : uint8
{
    /** It is on its way. Its On Turn Complete will come. */
    Sent,
    /** It is said as soon as it can be. Its On Turn Complete will come. */
    Queued,
    /** It was refused: a turn runs, and a line may be waiting already. */
    Busy,
    /** It was refused: there is no sidecar, or this agent could not be made. */
    Unavailable,
};

/** How much a line of the log matters. */
UENUM(BlueprintType)
enum class EParleyLogLevel : uint8
{
    /** For whoever looks for a fault in Parley itself. */
    Debug,
    /** What goes as it should. */
    Info,
    /** Something a developer should know; nothing stopped. */
    Warning,
    /** Something failed. */
    Error,
};

/** Something that a developer is told about: an error of the sidecar, or one found on this side. */
USTRUCT(BlueprintType)
struct PARLEY_API FParleyFault
{
    GENERATED_BODY()

    /** The error code of the wire, such as 3004; 0: it was found on this side, or nothing failed. */
    UPROPERTY(BlueprintReadOnly, Category = "Parley")
    int32 Code = 0;

    /** Which error of the wire it is. */
    UPROPERTY(BlueprintReadOnly, Category = "Parley")
    EParleyErrorCode Kind = EParleyErrorCode::None;

    /** The error's name, such as AgentBusy; empty: nothing failed. */
    UPROPERTY(BlueprintReadOnly, Category = "Parley")
    FString Name;

    /** What was wrong, where, and what to do. */
    UPROPERTY(BlueprintReadOnly, Category = "Parley")
    FString Message;

    /** The conversation it is about; empty: none. */
    UPROPERTY(BlueprintReadOnly, Category = "Parley")
    FString AgentId;

    /** The node it is about; empty: none. */
    UPROPERTY(BlueprintReadOnly, Category = "Parley")
    FString NodeName;

    /** Where in the JSON, such as $.nodes[2].template; empty: nowhere. */
    UPROPERTY(BlueprintReadOnly, Category = "Parley")
    FString Path;

    /** Every finding, where it is about a workflow. */
    UPROPERTY(BlueprintReadOnly, Category = "Parley")
    TArray<FParleyProblem> Problems;

    FParleyFault() = default;
    FParleyFault(const FString& InName, const FString& InMessage);
    FParleyFault(Parley::ErrorCode InCode, const FString& InMessage);
    explicit FParleyFault(const Parley::Fault& Fault);

    /// Something failed.
    bool IsFault() const
    {
        return !Name.IsEmpty();
    }

    /// Name and code, then the message.
    FString ToString() const;
};

/** What a variable of a workflow holds. */
UENUM(BlueprintType)
enum class EParleyValueType : uint8
{
    /** A whole number. */
    Int,
    /** A number. */
    Float,
    /** A text. */
    String,
    /** Yes or no. */
    Bool,
    /** Texts in no order, each once. */
    StringSet,
};

/** A value of a variable. */
USTRUCT(BlueprintType)
struct PARLEY_API FParleyValue
{
    GENERATED_BODY()

    /** What it is; the field of that name counts. */
    UPROPERTY(EditAnywhere, BlueprintReadWrite, Category = "Parley")
    EParleyValueType Type = EParleyValueType::String;

    /** The value of an int. */
    UPROPERTY(EditAnywhere, BlueprintReadWrite, Category = "Parley", meta = (EditCondition = "Type == EParleyValueType::Int", EditConditionHides))
    int64 Int = 0;

    /** The value of a float. */
    UPROPERTY(EditAnywhere, BlueprintReadWrite, Category = "Parley", meta = (EditCondition = "Type == EParleyValueType::Float", EditConditionHides))
    double Float = 0.0;

    /** The value of a string. */
    UPROPERTY(EditAnywhere, BlueprintReadWrite, Category = "Parley", meta = (EditCondition = "Type == EParleyValueType::String", EditConditionHides, MultiLine = true))
    FString String;

    /** The value of a bool. */
    UPROPERTY(EditAnywhere, BlueprintReadWrite, Category = "Parley", meta = (EditCondition = "Type == EParleyValueType::Bool", EditConditionHides))
    bool bBool = false;

    /** The value of a string set. */
    UPROPERTY(EditAnywhere, BlueprintReadWrite, Category = "Parley", meta = (EditCondition = "Type == EParleyValueType::StringSet", EditConditionHides))
    TArray<FString> StringSet;

    FParleyValue() = default;
    explicit FParleyValue(int32 Value);
    explicit FParleyValue(int64 Value);
    explicit FParleyValue(double Value);
    explicit FParleyValue(bool bValue);
    explicit FParleyValue(const FString& Value);
    explicit FParleyValue(const TCHAR* Value);
    explicit FParleyValue(const TArray<FString>& Value);

    bool operator==(const FParleyValue& Other) const;
    bool operator!=(const FParleyValue& Other) const
    {
        return !(*this == Other);
    }

    Parley::Json ToCore() const;
    /// Reads what `WithType` takes. False: it is none of that.
    static bool FromCore(const Parley::Json& Json, EParleyValueType WithType, FParleyValue& Out);
};

/** A variable, and its value: names are compared exactly, unlike the keys of a map. */
USTRUCT(BlueprintType)
struct PARLEY_API FParleyVariable
{
    GENERATED_BODY()

    /** As in {{var.name}}. */
    UPROPERTY(EditAnywhere, BlueprintReadWrite, Category = "Parley")
    FString Name;

    /** What it is. */
    UPROPERTY(EditAnywhere, BlueprintReadWrite, Category = "Parley", meta = (ShowOnlyInnerProperties))
    FParleyValue Value;

    /** What a file said of it, so that what is not known here is written back. */
    UPROPERTY()
    FString Kept;

    FParleyVariable() = default;
    FParleyVariable(const FString& InName, const FParleyValue& InValue);
};

/** A tool of the game that a model calls. Answer it once, with Answer Tool Call or Fail Tool Call of the agent. */
USTRUCT(BlueprintType)
struct PARLEY_API FParleyToolCall
{
    GENERATED_BODY()

    /** Names the call. */
    UPROPERTY(BlueprintReadOnly, Category = "Parley")
    FString CallId;

    /** The tool's name, as the workflow has it. */
    UPROPERTY(BlueprintReadOnly, Category = "Parley")
    FString Tool;

    /** What it is called with: a JSON object. */
    UPROPERTY(BlueprintReadOnly, Category = "Parley")
    FString Arguments;

    /** The node whose model made the call. */
    UPROPERTY(BlueprintReadOnly, Category = "Parley")
    FString NodeName;

    /** The turn. */
    UPROPERTY(BlueprintReadOnly, Category = "Parley")
    int64 TurnId = 0;

    /** The step of the turn. */
    UPROPERTY(BlueprintReadOnly, Category = "Parley")
    int64 Step = 0;
};

DECLARE_DYNAMIC_MULTICAST_DELEGATE(FParleyEvent);
DECLARE_DYNAMIC_MULTICAST_DELEGATE_OneParam(FParleyStateEvent, EParleyState, State);
DECLARE_DYNAMIC_MULTICAST_DELEGATE_OneParam(FParleyTextEvent, const FString&, Text);
DECLARE_DYNAMIC_MULTICAST_DELEGATE_OneParam(FParleyFaultEvent, const FParleyFault&, Fault);
DECLARE_DYNAMIC_MULTICAST_DELEGATE_OneParam(FParleyWarningEvent, const FParleyWarning&, Warning);
DECLARE_DYNAMIC_MULTICAST_DELEGATE_OneParam(FParleyProgressEvent, const FParleyProgress&, Progress);
DECLARE_DYNAMIC_MULTICAST_DELEGATE_OneParam(FParleyLinkEvent, bool, bIsThere);
DECLARE_DYNAMIC_MULTICAST_DELEGATE_ThreeParams(FParleyAnswerEvent, const FString&, Speaker, const FString&, Text, bool, bIsFinal);
DECLARE_DYNAMIC_MULTICAST_DELEGATE_OneParam(FParleyAnswerTextEvent, const FParleyAnswerText&, Answer);
DECLARE_DYNAMIC_MULTICAST_DELEGATE_OneParam(FParleyTurnEvent, const FParleyTurnComplete&, Turn);
DECLARE_DYNAMIC_MULTICAST_DELEGATE_OneParam(FParleyToolEvent, const FParleyToolCall&, Call);
DECLARE_DYNAMIC_MULTICAST_DELEGATE_OneParam(FParleyNodeEventEvent, const FParleyNodeEvent&, Happened);

/** The end of what was asked; a fault without a name: it went well. */
DECLARE_DYNAMIC_DELEGATE_OneParam(FParleyDone, const FParleyFault&, Fault);
