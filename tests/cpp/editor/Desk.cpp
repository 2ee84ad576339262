// What the editor's tests have before them: a workflow with undo, casts, and a sidecar that is started as a project would.
#include "Desk.h"

#include "Core/Authoring/Choices.h"
#include "Core/Threads.h"

#include <chrono>
#include <thread>

namespace Parley::Testing
{

namespace
{

std::map<std::string, Test>& Tests()
{
    static std::map<std::string, Test> Known;
    return Known;
}

} // namespace

const JsonCodec& Codec()
{
    static const NlohmannCodec TheCodec;
    return TheCodec;
}

Json Parsed(std::string_view Text)
{
    Json Read;
    std::string Why;
    Check(Codec().Read(Text, Read, Why), Why);
    return Read;
}

void Equal(const std::string& Wanted, const std::string& Found, const std::string& What)
{
    Check(Wanted == Found, What + ": wanted <" + Wanted + ">, found <" + Found + ">");
}

void Equal(long long Wanted, long long Found, const std::string& What)
{
    Equal(std::to_string(Wanted), std::to_string(Found), What);
}

std::string Joined(const std::vector<std::string>& Texts)
{
    std::string Made;
    for (const std::string& Text : Texts)
    {
        Made += (Made.empty() ? "" : "|") + Text;
    }
    return Made;
}

bool Contains(const std::string& Text, const std::string& Part)
{
    return Text.find(Part) != std::string::npos;
}

Entry::Entry(const char* Name, Test Run)
{
    Tests()[Name] = Run;
}

const std::map<std::string, Test>& AllTests()
{
    return Tests();
}

void Desk::Begin(std::string_view Label)
{
    Check(!IsOpen, "a group within a group");
    IsOpen = true;
    Labels.emplace_back(Label);
    Step Before;
    Before.Before = Now;
    for (const Cast* Each : Casts)
    {
        Before.CastsBefore.push_back(Each->Nodes);
    }
    Steps.push_back(std::move(Before));
}

void Desk::Keep(IEditTarget&)
{
    Check(IsOpen, "kept outside of a group");
}

void Desk::End()
{
    IsOpen = false;
}

std::vector<std::unique_ptr<INodeNames>> Desk::FollowersOf(std::string_view NodeName)
{
    struct Follower final : INodeNames
    {
        explicit Follower(Cast& InCast) : Of(InCast) {}
        std::vector<std::string> Names() const override { return Of.Nodes; }
        void Rename(std::size_t Index, std::string_view Name) override { Of.Rename(Index, Name); }
        Cast& Of;
    };
    std::vector<std::unique_ptr<INodeNames>> Found;
    for (Cast* Each : Casts)
    {
        for (const std::string& Name : Each->Nodes)
        {
            if (Name == NodeName)
            {
                Found.push_back(std::make_unique<Follower>(*Each));
                break;
            }
        }
    }
    return Found;
}

void Desk::Undo()
{
    Check(!Steps.empty(), "nothing to undo");
    Now = Steps.back().Before;
    for (std::size_t At = 0; At < Casts.size(); ++At)
    {
        Casts[At]->Nodes = Steps.back().CastsBefore[At];
    }
    Steps.pop_back();
    Labels.pop_back();
}

const Json& Desk::Node(std::string_view Name) const
{
    const int At = Choices::IndexOf(Now, Name);
    Check(At >= 0, "there is no node " + std::string(Name) + " in " + Text());
    return Now.Find("nodes")->Items()[static_cast<std::size_t>(At)];
}

FieldRow& Field(WorkflowInspectorModel& Model, std::size_t Index, std::string_view Name)
{
    Model.Refresh();
    Check(Index < Model.Nodes().size(), "there is no such node");
    FieldRow* Found = Model.Nodes()[Index].Field(Name);
    Check(Found != nullptr, "there is no field " + std::string(Name));
    return *Found;
}

FieldRow& Field(WorkflowInspectorModel& Model, std::string_view Name)
{
    Model.Refresh();
    for (FieldRow& Row : Model.Fields())
    {
        if (Row.Label == Name)
        {
            return Row;
        }
    }
    Fail("there is no field " + std::string(Name));
}

FieldRow& Child(FieldRow& Row, std::string_view Label)
{
    for (FieldRow& Each : Row.Children)
    {
        if (Each.Label == Label)
        {
            return Each;
        }
    }
    Fail(Row.Path + " has no " + std::string(Label));
}

Sidecar::Sidecar(const Arguments& Given)
{
    Fault Why;
    Zmq = ZmqApi::Load(Given.at("zmq"), Why);
    Check(Zmq != nullptr, Why.Text);
    SidecarOptions Launch;
    Launch.Executable = Given.at("program");
    Launch.Arguments.clear();
    const Json Words = Parsed(Given.at("arguments"));
    for (const Json& Word : Words.Items())
    {
        Launch.Arguments.push_back(Word.AsText());
    }
    CoreOptions Options;
    Options.Codec = std::make_shared<NlohmannCodec>();
    Options.Zmq = Zmq;
    Options.Launch = std::move(Launch);
    Options.ClientName = "editor test";
    Options.Log = [this](LogLevel, std::string_view Text) { Log += std::string(Text) + "\n"; };
    Core = std::make_shared<ParleyCore>(std::move(Options));
}

Sidecar::~Sidecar()
{
    Core->StopAndWait(5000);
    Core.reset();
    Threads::WaitForAll(5000);
}

void Sidecar::Until(const std::function<bool()>& IsSo, const std::string& What)
{
    const auto Begun = std::chrono::steady_clock::now();
    while (!IsSo())
    {
        if (std::chrono::steady_clock::now() - Begun > std::chrono::seconds(60))
        {
            Core->StopAndWait(5000);
            Fail("not within a minute: " + What + "\n" + Log);
        }
        Core->Update(4.0);
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
}

} // namespace Parley::Testing
