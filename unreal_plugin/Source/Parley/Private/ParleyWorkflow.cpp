// A workflow's asset and its file: what nobody edited is written back as it was read.
#include "ParleyWorkflow.h"

#include "Core/Authoring/Finding.h"
#include "Core/Authoring/QuickValidation.h"
#include "Core/Authoring/WorkflowDocument.h"
#include "DialogueCast.h"
#include "Misc/Paths.h"
#include "ParleyJson.h"
#include "ParleyText.h"
#include "UObject/Package.h"

#include <string_view>
#include <utility>

const TCHAR* const UParleyWorkflow::EmptyJson = TEXT("{\n  \"version\": 1,\n  \"start_node\": \"\",\n  \"nodes\": []\n}\n");

namespace ParleyWorkflowLocal
{

using Parley::Json;

struct FTypeWord
{
    EParleyValueType Type;
    std::string_view Word;
};

constexpr FTypeWord TypeWords[] = {
    {EParleyValueType::Int, "int"},
    {EParleyValueType::Float, "float"},
    {EParleyValueType::String, "string"},
    {EParleyValueType::Bool, "bool"},
    {EParleyValueType::StringSet, "string_set"},
};

std::string_view WordOf(EParleyValueType Type)
{
    for (const FTypeWord& One : TypeWords)
    {
        if (One.Type == Type)
        {
            return One.Word;
        }
    }
    return "string";
}

EParleyValueType TypeOf(std::string_view Word)
{
    for (const FTypeWord& One : TypeWords)
    {
        if (One.Word == Word)
        {
            return One.Type;
        }
    }
    return EParleyValueType::String;
}

bool IsSame(const FString& A, const FString& B)
{
    return A.Equals(B, ESearchCase::CaseSensitive);
}

/// What a field says; `Otherwise` where there is none, or it is no text.
FString TextOf(const Json& Object, std::string_view Name, const FString& Otherwise)
{
    const Json* Field = Object.Find(Name);
    return Field != nullptr && Field->IsString() ? Parley::ToFString(Field->AsText()) : Otherwise;
}

/// Writes a field that says something else by now. One that is no text stays as long as nobody says anything else.
void KeepText(Json& Object, std::string_view Name, const FString& Value, const FString& Otherwise)
{
    if (!IsSame(TextOf(Object, Name, Otherwise), Value))
    {
        Object.Set(Name, Json::String(Parley::ToUtf8(Value)));
    }
}

Json Parsed(const FString& Text)
{
    Json Out;
    FString Fault;
    // What is kept was written here: where it is empty, or somebody spoilt it, there is nothing to keep.
    Parley::JsonFromText(Text, Out, Fault);
    return Out;
}

FParleyVariable ReadVariable(const Json& Item)
{
    FParleyVariable Variable;
    Variable.Name = TextOf(Item, "name", FString());
    Variable.Value.Type = TypeOf(Parley::ToUtf8(TextOf(Item, "type", FString())));
    const Json* Value = Item.Find("value");
    if (Value != nullptr)
    {
        // One that its type does not take is only kept.
        FParleyValue::FromCore(*Value, Variable.Value.Type, Variable.Value);
    }
    Variable.Kept = Parley::JsonToText(Item);
    return Variable;
}

Json WriteVariable(const FParleyVariable& Variable)
{
    Json Item = Parsed(Variable.Kept);
    if (Item.IsNull())
    {
        Item = Json::Object();
        Item.Set("name", Json::String(Parley::ToUtf8(Variable.Name)));
        Item.Set("type", Json::String(std::string(WordOf(Variable.Value.Type))));
        Item.Set("value", Variable.Value.ToCore());
        return Item;
    }
    const FParleyVariable Was = ReadVariable(Item);
    if (!IsSame(Was.Name, Variable.Name))
    {
        Item.Set("name", Json::String(Parley::ToUtf8(Variable.Name)));
    }
    if (Was.Value != Variable.Value)
    {
        if (Was.Value.Type != Variable.Value.Type)
        {
            Item.Set("type", Json::String(std::string(WordOf(Variable.Value.Type))));
        }
        Item.Set("value", Variable.Value.ToCore());
    }
    return Item;
}

/// Paths such as FPaths::ProjectContentDir() count from the engine's folder, not from where the process was started.
std::string WholePath(const FString& Path)
{
    return Parley::ToUtf8(FPaths::ConvertRelativePathToFull(Path));
}

/// The document of a text, or a new one where there is none.
Parley::WorkflowDocument DocumentOf(const FString& Source)
{
    Parley::WorkflowDocument Document;
    std::string Fault;
    if (!Source.IsEmpty())
    {
        Parley::WorkflowDocument::Parse(*Parley::EngineCodec(), Parley::ToUtf8(Source), Document, Fault);
    }
    return Document;
}

} // namespace ParleyWorkflowLocal

FString UParleyUnreadableNode::GetTypeName() const
{
    return ParleyWorkflowLocal::TextOf(ParleyWorkflowLocal::Parsed(Json), "type", FString());
}

UParleyWorkflow* UParleyWorkflow::Make(UObject* Outer, const FString& Text, FString& Fault)
{
    UParleyWorkflow* Made = NewObject<UParleyWorkflow>(Outer == nullptr ? GetTransientPackage() : Outer);
    return Made->ImportText(Text, Fault) ? Made : nullptr;
}

// ---- to and from JSON ----

bool UParleyWorkflow::ToCore(Parley::Json& Out, FString& Fault) const
{
    using namespace ParleyWorkflowLocal;
    Parley::Json Root = Parsed(Kept.IsEmpty() ? FString(EmptyJson) : Kept);
    KeepText(Root, "start_node", StartNode, FString());
    KeepText(Root, "default_model", DefaultModel, FString());
    KeepText(Root, "player_name", PlayerName, TEXT("Player"));

    const Parley::Json* OldVariables = Root.Find("variables");
    if (Variables.Num() > 0 || (OldVariables != nullptr && OldVariables->IsArray()))
    {
        Parley::Json Items = Parley::Json::Array();
        for (const FParleyVariable& Variable : Variables)
        {
            Items.Add(WriteVariable(Variable));
        }
        Root.Set("variables", std::move(Items));
    }
    const Parley::Json* OldNodes = Root.Find("nodes");
    if (Nodes.Num() > 0 || OldNodes == nullptr || OldNodes->IsArray())
    {
        Parley::Json Items = Parley::Json::Array();
        for (const UParleyNode* Node : Nodes)
        {
            Parley::Json Written;
            if (!WriteNode(Node, Written, Fault))
            {
                Out = Parley::Json();
                return false;
            }
            if (Node != nullptr)
            {
                Items.Add(std::move(Written));
            }
        }
        Root.Set("nodes", std::move(Items));
    }
    Out = std::move(Root);
    Fault.Reset();
    return true;
}

bool UParleyWorkflow::WriteNode(const UParleyNode* Node, Parley::Json& Out, FString& Fault)
{
    const UParleyUnreadableNode* Unreadable = ::Cast<UParleyUnreadableNode>(Node);
    if (Unreadable == nullptr)
    {
        Out = Node == nullptr ? Parley::Json() : Node->ToCore();
        return true;
    }
    if (!Parley::JsonFromText(Unreadable->Json, Out, Fault))
    {
        Fault = TEXT("the unreadable node '") + Unreadable->NodeName + TEXT("' is no JSON: ") + Fault;
        return false;
    }
    return true;
}

bool UParleyWorkflow::FromCore(const Parley::Json& Workflow, FString& Fault)
{
    using namespace ParleyWorkflowLocal;
    if (!Workflow.IsObject())
    {
        Fault = TEXT("a workflow is a JSON object, in { }");
        return false;
    }
    StartNode = TextOf(Workflow, "start_node", FString());
    DefaultModel = TextOf(Workflow, "default_model", FString());
    PlayerName = TextOf(Workflow, "player_name", TEXT("Player"));

    Parley::Json Rest = Workflow;
    Variables.Reset();
    if (Parley::Json* Items = Rest.Find("variables"); Items != nullptr && Items->IsArray())
    {
        for (const Parley::Json& Item : Items->Items())
        {
            Variables.Add(ReadVariable(Item));
        }
        *Items = Parley::Json::Array();
    }
    TArray<UParleyNode*> Old;
    for (UParleyNode* Node : Nodes)
    {
        Old.Add(Node);
    }
    Nodes.Reset();
    if (Parley::Json* Items = Rest.Find("nodes"); Items != nullptr && Items->IsArray())
    {
        const std::vector<Parley::Json>& All = Items->Items();
        for (std::size_t Index = 0; Index < All.size(); Index++)
        {
            Nodes.Add(ReadNode(All[Index], Old, static_cast<int32>(Index)));
        }
        *Items = Parley::Json::Array();
    }
    Kept = Parley::JsonToText(Rest);
    Fault.Reset();
    return true;
}

/// `Old`: the nodes of before; what is used of them is taken out.
UParleyNode* UParleyWorkflow::ReadNode(const Parley::Json& Json, TArray<UParleyNode*>& Old, int32 Place)
{
    using namespace ParleyWorkflowLocal;
    FString Why;
    UParleyNode* Read = UParleyNode::Read(this, Json, Why);
    const FString Name = TextOf(Json, "name", FString());
    if (Read == nullptr)
    {
        UParleyUnreadableNode* Unreadable = NewObject<UParleyUnreadableNode>(this);
        Unreadable->NodeName = Name;
        Unreadable->Json = Parley::JsonToText(Json, true);
        Unreadable->Why = Why.IsEmpty() ? TEXT("there is no node type '") + TextOf(Json, "type", FString()) + TEXT("' here") : Why;
        Read = Unreadable;
    }
    Read->SetFlags(RF_Transactional);

    // By its name, else by its place: that is the one that was renamed.
    int32 Found = Old.IndexOfByPredicate([&Name](const UParleyNode* One) { return One != nullptr && IsSame(One->NodeName, Name); });
    if (Found == INDEX_NONE && Old.IsValidIndex(Place))
    {
        Found = Place;
    }
    UParleyNode* Before = Found == INDEX_NONE ? nullptr : Old[Found];
    if (Before == nullptr || Before->GetClass() != Read->GetClass())
    {
        return Read;
    }
    if (UParleyUnreadableNode* Unreadable = ::Cast<UParleyUnreadableNode>(Before))
    {
        const UParleyUnreadableNode* New = ::Cast<UParleyUnreadableNode>(Read);
        Unreadable->NodeName = New->NodeName;
        Unreadable->Json = New->Json;
        Unreadable->Why = New->Why;
        Old[Found] = nullptr;
        return Before;
    }
    // A field that is not there any more keeps what it was in the old object; then that one will not do.
    if (!Before->FromCore(Json, Why) || Before->ToCore() != Read->ToCore())
    {
        return Read;
    }
    Old[Found] = nullptr;
    return Before;
}

UParleyNode* UParleyWorkflow::MakeNode(const FString& TypeName)
{
    Parley::Json Json = Parley::Json::Object();
    Json.Set("name", Parley::Json::String(""));
    Json.Set("type", Parley::Json::String(Parley::ToUtf8(TypeName)));
    FString Fault;
    UParleyNode* Made = UParleyNode::Read(this, Json, Fault);
    if (Made != nullptr)
    {
        Made->SetFlags(RF_Transactional);
    }
    return Made;
}

UParleyNode* UParleyWorkflow::FindNode(const FString& Name) const
{
    for (UParleyNode* Node : Nodes)
    {
        if (Node != nullptr && ParleyWorkflowLocal::IsSame(Node->NodeName, Name))
        {
            return Node;
        }
    }
    return nullptr;
}

// ---- to and from files ----

bool UParleyWorkflow::ExportText(FString& Text, FString& Fault) const
{
    Parley::WorkflowDocument Document = ParleyWorkflowLocal::DocumentOf(Source);
    Parley::Json Root;
    if (!ToCore(Root, Fault))
    {
        Text.Reset();
        return false;
    }
    Document.Root = std::move(Root);
    Text = Parley::ToFString(Document.ToText(*Parley::EngineCodec()));
    return true;
}

bool UParleyWorkflow::ImportText(const FString& Text, FString& Fault)
{
    Parley::WorkflowDocument Document;
    std::string Why;
    if (!Parley::WorkflowDocument::Parse(*Parley::EngineCodec(), Parley::ToUtf8(Text), Document, Why))
    {
        Fault = Parley::ToFString(Why);
        return false;
    }
    if (!FromCore(Document.Root, Fault))
    {
        return false;
    }
    Source = Text;
    return true;
}

bool UParleyWorkflow::ImportFile(const FString& Path, FString& Fault)
{
    Parley::WorkflowDocument Document;
    std::string Why;
    if (!Parley::WorkflowDocument::Load(*Parley::EngineCodec(), ParleyWorkflowLocal::WholePath(Path), Document, Why))
    {
        Fault = Parley::ToFString(Why);
        return false;
    }
    if (!FromCore(Document.Root, Fault))
    {
        return false;
    }
    Source = Parley::ToFString(Document.ToText(*Parley::EngineCodec()));
    return true;
}

bool UParleyWorkflow::ExportFile(const FString& Path, FString& Fault) const
{
    Parley::WorkflowDocument Document = ParleyWorkflowLocal::DocumentOf(Source);
    if (!ToCore(Document.Root, Fault))
    {
        return false;
    }
    bool bIsWritten = false;
    std::string Why;
    const bool bIsGood = Document.Save(*Parley::EngineCodec(), ParleyWorkflowLocal::WholePath(Path), bIsWritten, Why);
    Fault = Parley::ToFString(Why);
    return bIsGood;
}

TArray<FParleyProblem> UParleyWorkflow::Validate() const
{
    Parley::Json Root;
    FString Fault;
    TArray<FParleyProblem> Problems;
    if (!ToCore(Root, Fault))
    {
        FParleyProblem& One = Problems.AddDefaulted_GetRef();
        One.Code = static_cast<int64>(Parley::ErrorCode::WorkflowInvalid);
        One.Path = TEXT("$");
        One.Message = Fault;
        return Problems;
    }
    return ProblemsOf(Root);
}

TArray<FParleyProblem> UParleyWorkflow::ProblemsOf(const Parley::Json& Workflow)
{
    TArray<FParleyProblem> Problems;
    const Parley::Findings Found = Parley::QuickValidation::Check(Workflow);
    for (const Parley::Finding& Finding : Found.All())
    {
        FParleyProblem& One = Problems.AddDefaulted_GetRef();
        One.Severity = Finding.IsError ? EParleySeverity::Error : EParleySeverity::Warning;
        One.Code = static_cast<int64>(Finding.Code);
        One.NodeName = Parley::ToFString(Finding.NodeName);
        One.Field = Parley::ToFString(Finding.Field);
        One.Path = Parley::ToFString(Finding.Path);
        One.Message = Parley::ToFString(Finding.Message);
    }
    return Problems;
}
