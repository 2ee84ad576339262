// Messages and nodes as the engine has them: for tests/test_unreal_messages.py and tests/test_unreal_nodes.py.
#include "Core/Generated/Messages.h"
#include "Core/Generated/NodeTypes.h"
#include "Core/JsonWrite.h"
#include "Generated/ParleyErrorCode.h"
#include "Generated/ParleyMessages.h"
#include "Generated/ParleyNodes.h"
#include "Jobs.h"
#include "ParleyJson.h"
#include "ParleyText.h"
#include "UObject/Package.h"
#include "UObject/UObjectGlobals.h"
#include "UObject/UnrealType.h"

#if PARLEY_LAMP
namespace Parley::LampTypes
{
/// NodeTypes::All with one type more.
const std::vector<NodeType>& All();
} // namespace Parley::LampTypes
#endif

namespace Parley::EngineMessagesLocal
{

std::string Compact(const Json& Value)
{
    return EngineCodec()->Write(Value);
}

// ---- messages --------------------------------------------------------------------------------------------------------

/// By way of the core's struct, as what comes from the sidecar goes.
template <class C, class F>
Jobs::Answer ByCore(const Json& Body)
{
    C Core;
    std::string Fault;
    return C::FromJson(Body, Core, Fault) ? Jobs::Well(Compact(F(Core).ToCore().ToJson())) : Jobs::Malformed(Fault);
}

/// By way of the engine's JSON objects.
template <class C, class F>
Jobs::Answer ByEngine(const Json& Body)
{
    F Read;
    FString Fault;
    const TSharedPtr<FJsonObject> Object = ToEngineObject(Body);
    if (!Object.IsValid())
    {
        return Jobs::Failed("no object");
    }
    return F::FromJson(*Object, Read, Fault) ? Jobs::Well(Compact(FromEngine(*Read.ToJson())))
                                             : Jobs::Malformed(ToUtf8(Fault));
}

struct Pair
{
    std::string_view Name;
    Jobs::Answer (*Core)(const Json& Body);
    Jobs::Answer (*Engine)(const Json& Body);
};

#define PAIR(Name) Pair{#Name, &ByCore<Messages::Name, FParley##Name>, &ByEngine<Messages::Name, FParley##Name>}
constexpr Pair Pairs[] = {
    PAIR(Problem), PAIR(Output), PAIR(InstructionRecord), PAIR(ToolCallRecord), PAIR(KnowledgeChunkRecord),
    PAIR(KnowledgeRecord), PAIR(Interaction), PAIR(Summary), PAIR(DialogDocument), PAIR(ShortReply), PAIR(ShortInteraction),
    PAIR(CacheInfo), PAIR(TurnError), PAIR(StepFinish), PAIR(AgentInfo), PAIR(ModelInfo), PAIR(SessionStatus),
    PAIR(ModelLoad), PAIR(ErrorCount), PAIR(Hello), PAIR(SessionReady), PAIR(Ping), PAIR(Pong), PAIR(Bye), PAIR(Shutdown),
    PAIR(ConfigureSession), PAIR(Ok), PAIR(GetStatus), PAIR(Status), PAIR(Error), PAIR(CreateAgent), PAIR(AgentCreated),
    PAIR(DestroyAgent), PAIR(ListAgents), PAIR(Agents), PAIR(SendMessage), PAIR(TurnStarted), PAIR(CancelTurn),
    PAIR(SetVariables), PAIR(ChangeParams), PAIR(GetParams), PAIR(Params), PAIR(ToolResult), PAIR(ExportDialog),
    PAIR(Dialog), PAIR(SeedDialog), PAIR(EditDialog), PAIR(TruncateDialog), PAIR(ManageCache), PAIR(CacheStats),
    PAIR(ValidateWorkflow), PAIR(Validation), PAIR(CreateStringStorage), PAIR(DestroyStringStorage),
    PAIR(CreateEmbeddedStorage), PAIR(DestroyEmbeddedStorage), PAIR(StorageCreated), PAIR(ListModels), PAIR(Models),
    PAIR(LoadModel), PAIR(UnloadModel), PAIR(DownloadModel), PAIR(CancelDownload), PAIR(DeleteModel), PAIR(AnswerText),
    PAIR(TurnComplete), PAIR(NodeEvent), PAIR(AudioFormat), PAIR(AudioChunk), PAIR(Progress), PAIR(Warning), PAIR(Gap),
    PAIR(Goodbye),
};
#undef PAIR

// ---- reflection ------------------------------------------------------------------------------------------------------

using Ops = StubEngine::FPropertyOps;
using StubEngine::EKind;

Json Shown(const UStruct* Of, void* Container);

Json Shown(const Ops* How, void* Value)
{
    FString Text;
    How->ToText(Value, Text);
    switch (How->Kind)
    {
    case EKind::Bool:
        return Json::Boolean(*static_cast<bool*>(Value));
    case EKind::Integer:
        return Json::Spelled(ToUtf8(Text));
    case EKind::Real:
        return Json::Real(*static_cast<double*>(Value));
    case EKind::Enum:
        return Json::String(ToUtf8(How->Enum()->GetNameStringByValue(FCString::Atoi64(*Text))));
    case EKind::Struct:
        return Shown(How->Struct(), Value);
    case EKind::Array:
    {
        Json Items = Json::Array();
        for (int32 Index = 0; Index < How->Array()->Num(Value); ++Index)
        {
            Items.Add(Shown(How->Array()->Inner, How->Array()->At(Value, Index)));
        }
        return Items;
    }
    default:
        return Json::String(ToUtf8(Text));
    }
}

Json Shown(const UStruct* Of, void* Container)
{
    Json Made = Json::Object();
    for (FProperty* Property : Of->StubAllProperties())
    {
        Made.Set(ToUtf8(Property->GetName()), Shown(Property->Ops, Property->StubValue(Container)));
    }
    return Made;
}

void Put(const UStruct* Of, void* Container, const Json& Values);

void Put(const Ops* How, void* Value, const Json& To)
{
    switch (How->Kind)
    {
    case EKind::Bool:
        *static_cast<bool*>(Value) = To.AsBoolean();
        break;
    case EKind::Enum:
        How->FromText(Value, LexToString(How->Enum()->GetValueByNameString(ToFString(To.AsText()))));
        break;
    case EKind::Struct:
        Put(How->Struct(), Value, To);
        break;
    case EKind::Array:
        while (How->Array()->Num(Value) > 0)
        {
            How->Array()->Remove(Value, 0);
        }
        for (std::size_t Index = 0; Index < To.Items().size(); ++Index)
        {
            How->Array()->Insert(Value, static_cast<int32>(Index));
            Put(How->Array()->Inner, How->Array()->At(Value, static_cast<int32>(Index)), To.Items()[Index]);
        }
        break;
    default:
        How->FromText(Value, ToFString(To.AsText()));
        break;
    }
}

void Put(const UStruct* Of, void* Container, const Json& Values)
{
    for (const JsonMember& Each : Values.Members())
    {
        FProperty* Property = Of->FindPropertyByName(FName(ToFString(Each.Name)));
        check(Property != nullptr);
        Put(Property->Ops, Property->StubValue(Container), Each.Value);
    }
}

Json Meta(const UStruct* Of)
{
    Json Made = Json::Object();
    for (FProperty* Property : Of->StubAllProperties())
    {
        Json Facts = Json::Object();
        for (const auto& Entry : Property->Meta)
        {
            Facts.Set(ToUtf8(Entry.Key), Json::String(ToUtf8(Entry.Value)));
        }
        Facts.Set("is_edited", Json::Boolean(Property->HasAnyPropertyFlags(CPF_Edit)));
        Made.Set(ToUtf8(Property->GetName()), Facts);
    }
    return Made;
}

// ---- nodes -----------------------------------------------------------------------------------------------------------

UParleyNode* ReadNode(const Json& Body, Jobs::Answer& Fault)
{
    FString Wrong = TEXT("left from before");
    UParleyNode* Read = UParleyNode::Read(GetTransientPackage(), Body, Wrong);
    if (Read == nullptr)
    {
        Fault = Wrong.IsEmpty() ? Jobs::Well("null") : Jobs::Malformed(ToUtf8(Wrong));
    }
    else if (!Wrong.IsEmpty())
    {
        Fault = Jobs::Failed("a node and a fault");
        Read = nullptr;
    }
    return Read;
}

Jobs::Answer DoNode(const std::string& Job, const Json& Body, const std::vector<std::string>& Given)
{
    Jobs::Answer Fault;
    UParleyNode* Node = ReadNode(Body, Fault);
    if (Node == nullptr)
    {
        return Fault;
    }
    if (Job == "edited")
    {
        Json Values;
        std::string Wrong;
        EngineCodec()->Read(Given[1], Values, Wrong);
        Put(Node->GetClass(), Node, Values);
    }
    else if (Job == "again")
    {
        Json Other;
        std::string Ignored;
        EngineCodec()->Read(Given[1], Other, Ignored);
        FString Wrong;
        const std::string Before = Compact(Node->ToCore());
        if (!Node->FromCore(Other, Wrong))
        {
            return Compact(Node->ToCore()) == Before ? Jobs::Malformed(ToUtf8(Wrong)) : Jobs::Failed("it changed");
        }
    }
    else if (Job == "copied")
    {
        Node = DuplicateObject(Node, GetTransientPackage());
    }
    else if (Job == "values")
    {
        return Jobs::Well(Compact(Shown(Node->GetClass(), Node)));
    }
    else if (Job == "engine node")
    {
        UParleyNode* Other = NewObject<UParleyNode>(GetTransientPackage(), Node->GetClass());
        FString Wrong;
        return Other->FromJson(*ToEngineObject(Body), Wrong) ? Jobs::Well(Compact(FromEngine(*Other->ToJson())))
                                                             : Jobs::Malformed(ToUtf8(Wrong));
    }
    return Jobs::Well(Compact(Node->ToCore()));
}

// ---- jobs ------------------------------------------------------------------------------------------------------------

Json Codes()
{
    Json Made = Json::Object();
    const UEnum* Enum = StaticEnum<EParleyErrorCode>();
    for (int32 Index = 0; Index < Enum->NumEnums(); ++Index)
    {
        const auto Member = static_cast<EParleyErrorCode>(Enum->GetValueByIndex(Index));
        const int32 Code = ToWireCode(Member);
        check(Code < 0 || ToParleyErrorCode(Code) == Member);
        Made.Set(ToUtf8(Enum->GetNameStringByIndex(Index)), Json::Integer(Code));
    }
    check(ToParleyErrorCode(9999) == EParleyErrorCode::Other);
    return Made;
}

#if PARLEY_LAMP
/// What the core tells editors of a type that no package has.
Json Told(const std::string& Name)
{
    const NodeType* Type = nullptr;
    for (const NodeType& Each : LampTypes::All())
    {
        Type = Each.Name == Name ? &Each : Type;
    }
    check(Type != nullptr && NodeTypes::Find(Name) == nullptr);
    const NodeParam* Setting = Type->Param("lamp");
    check(Setting != nullptr && Type->Param("places")->Item->Fields.size() == Setting->Fields.size());
    const auto Text = [](std::string_view Value) { return Json::String(std::string(Value)); };
    return Json::Array({Text(Type->Meaning), Text(Type->Offers.front().Meaning), Setting->Default,
        Text(Setting->Fields.front().Name), Json::Boolean(Setting->Fields.back().MostIsExcluded)});
}
#endif

Jobs::Answer Do(const std::string& Job, const std::vector<std::string>& Given)
{
#if PARLEY_LAMP
    if (Job == "told")
    {
        return Jobs::Well(Compact(Told(Given[0])));
    }
#endif
    if (Job == "pairs" || Job == "classes" || Job == "codes" || Job == "meta")
    {
        Json Made = Json::Array();
        for (const Pair& Each : Pairs)
        {
            Made.Add(Json::String(std::string(Each.Name)));
        }
        if (Job == "classes")
        {
            Made = Json::Array();
            for (UClass* Class : AllParleyNodeClasses())
            {
                const FString Type = Class->GetDefaultObject<UParleyNode>()->GetTypeName();
                check(FindParleyNodeClass(Type) == Class);
                Made.Add(Json::String(ToUtf8(Type)));
            }
        }
        return Jobs::Well(Compact(
            Job == "codes" ? Codes() : Job == "meta" ? Meta(FindParleyNodeClass(ToFString(Given[0]))) : Made));
    }
    Json Body;
    std::string Fault;
    const bool IsMessage = Job == "message" || Job == "engine";
    if (!EngineCodec()->Read(Given[IsMessage ? 1 : 0], Body, Fault))
    {
        return Jobs::Failed(Fault);
    }
    if (!IsMessage)
    {
        return DoNode(Job, Body, Given);
    }
    for (const Pair& Each : Pairs)
    {
        if (Each.Name == Given[0])
        {
            return Job == "message" ? Each.Core(Body) : Each.Engine(Body);
        }
    }
    return Jobs::Failed("no message " + Given[0]);
}

} // namespace Parley::EngineMessagesLocal

int main()
{
    return Parley::Jobs::Answering(&Parley::EngineMessagesLocal::Do);
}
