// Reads messages and writes them back: for tests/test_unreal_messages.py and tests/test_unreal_nodes.py.
#include "Core/Generated/ErrorCodes.h"
#include "Core/Generated/Messages.h"
#include "Core/Generated/NodeTypes.h"
#include "Core/Generated/Protocol.h"
#include "Core/JsonRead.h"
#include "Core/JsonWrite.h"
#include "Jobs.h"
#include "NlohmannCodec.h"

#include <cstdlib>

namespace Parley::MessagesProgramLocal
{

using namespace std::literals;

const NlohmannCodec Codec;

std::string Compact(const Json& Value)
{
    return Codec.Write(Value);
}

Json Text(std::string_view Value)
{
    return Json::String(std::string(Value));
}

const char* KindName(MessageKind Kind)
{
    switch (Kind)
    {
    case MessageKind::Request:
        return "Request";
    case MessageKind::Reply:
        return "Reply";
    case MessageKind::Push:
        break;
    }
    return "Push";
}

template <class T>
Jobs::Answer There(const Json& Body)
{
    std::string Fault = "left from before";
    T Read;
    return T::FromJson(Body, Read, Fault) ? Jobs::Well(Compact(Read.ToJson())) : Jobs::Malformed(Fault);
}

struct Record
{
    std::string_view Name;
    Jobs::Answer (*Read)(const Json& Body);
};

#define RECORD(Name) Record{#Name, &There<Messages::Name>}
constexpr Record Records[] = {
    RECORD(Problem), RECORD(Output), RECORD(InstructionRecord), RECORD(ToolCallRecord), RECORD(KnowledgeChunkRecord),
    RECORD(KnowledgeRecord), RECORD(Interaction), RECORD(Summary), RECORD(DialogDocument), RECORD(ShortReply),
    RECORD(ShortInteraction), RECORD(CacheInfo), RECORD(TurnError), RECORD(StepFinish), RECORD(AgentInfo),
    RECORD(ModelInfo), RECORD(SessionStatus), RECORD(ModelLoad), RECORD(ErrorCount),
};
#undef RECORD

// ---- node types ------------------------------------------------------------------------------------------------------

Json Notes(const std::vector<NodeNote>& Notes)
{
    Json Made = Json::Object();
    for (const NodeNote& Each : Notes)
    {
        Made.Set(Each.Name, Text(Each.Meaning));
    }
    return Made;
}

template <class T>
Json Perhaps(const std::optional<T>& Value)
{
    return Value ? WriteValue(*Value) : Json();
}

Json Params(const std::vector<NodeParam>& Params);

Json About(const NodeParam& Param)
{
    static constexpr std::string_view Types[] = {
        "Json", "Text", "Integer", "Number", "Boolean", "Choice", "List", "Record", "Object"};
    Json Made = Json::Object();
    Made.Set("type", Text(Types[static_cast<int>(Param.Type)]));
    Made.Set("kind", Text(NameOf(Param.Kind)));
    Made.Set("meaning", Text(Param.Meaning));
    Made.Set("mutable", Json::Boolean(Param.IsMutable()));
    Made.Set("required", Json::Boolean(Param.IsRequired));
    Made.Set("optional", Json::Boolean(Param.IsOptional));
    Made.Set("default", Param.Default);
    Made.Set("least", Perhaps(Param.Least));
    Made.Set("most", Perhaps(Param.Most));
    Made.Set("least_excluded", Json::Boolean(Param.LeastIsExcluded));
    Made.Set("most_excluded", Json::Boolean(Param.MostIsExcluded));
    Made.Set("least_length", Perhaps(Param.LeastLength));
    Made.Set("most_length", Perhaps(Param.MostLength));
    Json Choices = Json::Array();
    for (const std::string_view Choice : Param.Choices)
    {
        Choices.Add(Text(Choice));
    }
    Made.Set("choices", Choices);
    Made.Set("item", Param.Item ? About(*Param.Item) : Json());
    Made.Set("fields", Params(Param.Fields));
    return Made;
}

Json Params(const std::vector<NodeParam>& Params)
{
    Json Made = Json::Object();
    for (const NodeParam& Each : Params)
    {
        Made.Set(Each.Name, About(Each));
    }
    return Made;
}

Json Types()
{
    Json Made = Json::Array();
    for (const NodeType& Type : NodeTypes::All())
    {
        Json About = Json::Object();
        About.Set("name", Text(Type.Name));
        About.Set("meaning", Text(Type.Meaning));
        About.Set("summary", Text(Type.Summary));
        About.Set("produces", Json::Boolean(Type.Produces));
        About.Set("uses_model", Json::Boolean(Type.UsesModel));
        About.Set("tag_family", Text(Type.TagFamily));
        About.Set("tag_name_field", Text(Type.TagNameField));
        About.Set("offers", Notes(Type.Offers));
        About.Set("events", Notes(Type.Events));
        Json Templates = Json::Array();
        for (const std::string_view Field : Type.FieldsOf(ParamKind::Template))
        {
            Templates.Add(Text(Field));
        }
        About.Set("templates", Templates);
        Json Exits = Json::Object();
        for (const NodeExit& Exit : Type.Exits)
        {
            Exits.Set(Exit.Name, Text(Exit.Field));
        }
        About.Set("exits", Exits);
        About.Set("params", Params(Type.Params));
        const bool IsFound = NodeTypes::Find(Type.Name) == &Type && Type.Param("name") == &Type.Params.front()
            && Type.Param("no such field") == nullptr && NodeTypes::Find("no such type") == nullptr;
        About.Set("found", Json::Boolean(IsFound));
        Made.Add(About);
    }
    return Made;
}

// ---- constants -------------------------------------------------------------------------------------------------------

Json Error(const std::string& Code)
{
    const auto Known = static_cast<ErrorCode>(std::atoi(Code.c_str()));
    return Json::Array({Json::String(NameOf(Known)), Text(TextOf(Known)), Text(RemedyOf(Known))});
}

Json Constants()
{
    Json Made = Json::Object();
    Made.Set("ParleyVersion", Text(Protocol::ParleyVersion));
    Made.Set("ProtocolVersion", Json::Integer(Protocol::ProtocolVersion));
    Made.Set("SchemaFingerprint", Text(Protocol::SchemaFingerprint));
    Made.Set("WorkflowVersion", Json::Integer(Protocol::WorkflowVersion));
    Made.Set("MaxJsonDepth", Json::Integer(Protocol::MaxJsonDepth));
    Made.Set("IdsBytes", Json::Integer(Protocol::IdsBytes));
    Made.Set("AckFrames", Json::Integer(Protocol::AckFrames));
    Made.Set("AckBytes", Json::Integer(Protocol::AckBytes));
    Made.Set("MaxJsonBytes", Json::Integer(Protocol::MaxJsonBytes));
    Made.Set("HeartbeatS", Json::Real(Protocol::HeartbeatS));
    Made.Set("NamePattern", Text(Protocol::NamePattern));
    return Made;
}

// ---- messages --------------------------------------------------------------------------------------------------------

template <class T>
bool Is(const Message& Read)
{
    return As<T>(&Read) != nullptr;
}

Jobs::Answer Read(const std::string& Job, const std::string& Name, const std::string& Written)
{
    std::string Fault;
    Json Body;
    if (!Codec.Read(Written, Body, Fault))
    {
        return Jobs::Failed(Fault);
    }
    if (Job == "record")
    {
        for (const Record& Each : Records)
        {
            if (Each.Name == Name)
            {
                return Each.Read(Body);
            }
        }
        return Jobs::Failed("no record " + Name);
    }
    Fault = "left from before";
    const std::unique_ptr<Message> Found = Messages::ReadMessage(Name, Body, Fault);
    if (Found == nullptr)
    {
        return Fault.empty() ? Jobs::Well("null") : Jobs::Malformed(Fault);
    }
    if (!Fault.empty())
    {
        return Jobs::Failed("a message and a fault");
    }
    if (Job == "message")
    {
        return Jobs::Well(Compact(Found->ToJson()));
    }
    const int Casts = Is<Messages::Hello>(*Found) + Is<Messages::Ok>(*Found) + Is<Messages::Goodbye>(*Found);
    return Jobs::Well(KindName(Found->Kind()) + " "s + std::string(Found->TypeName()) + " " + std::to_string(Casts));
}

Jobs::Answer Do(const std::string& Job, const std::vector<std::string>& Given)
{
    if (Job == "message" || Job == "class" || Job == "record")
    {
        return Read(Job, Given.at(0), Given.at(1));
    }
    if (Job == "records")
    {
        Json Names = Json::Array();
        for (const Record& Each : Records)
        {
            Names.Add(Text(Each.Name));
        }
        return Jobs::Well(Compact(Names));
    }
    if (Job == "types")
    {
        return Jobs::Well(Compact(Types()));
    }
    if (Job == "kind")
    {
        return Jobs::Well(std::string(NameOf(static_cast<ParamKind>(std::atoi(Given.at(0).c_str())))));
    }
    if (Job == "error")
    {
        return Jobs::Well(Compact(Error(Given.at(0))));
    }
    if (Job == "protocol")
    {
        return Jobs::Well(Compact(Constants()));
    }
    if (Job == "none of the words")
    {
        return Jobs::Well(std::string(WordOf(static_cast<Messages::Send>(99))));
    }
    return Jobs::Failed("no job " + Job);
}

} // namespace Parley::MessagesProgramLocal

int main()
{
    return Parley::Jobs::Answering(&Parley::MessagesProgramLocal::Do);
}
