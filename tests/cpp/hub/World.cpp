// How a game goes on, waits and takes notes.
#include "World.h"

#include "Core/Numbers.h"
#include "Core/ParleySession.h"

#include <algorithm>
#include <csignal>
#include <dirent.h>
#include <utility>

namespace Parley::Testing
{

Json Settings;
std::shared_ptr<const JsonCodec> Codec;
std::shared_ptr<const ZmqApi> Zmq;

bool HasSetting(std::string_view Name)
{
    return Settings.Find(Name) != nullptr;
}

const Json& Setting(std::string_view Name)
{
    const Json* Found = Settings.Find(Name);
    Check(Found != nullptr, "there is no setting " + std::string(Name));
    return *Found;
}

std::string TextOf(std::string_view Name, const char* Default)
{
    return !HasSetting(Name) && Default != nullptr ? Default : Setting(Name).AsText();
}

double NumberOf(std::string_view Name, double Default)
{
    double Found = Default;
    if (HasSetting(Name))
    {
        Check(Setting(Name).ToDouble(Found), "no number: " + std::string(Name));
    }
    return Found;
}

Json Parsed(std::string_view Text)
{
    Json Found;
    std::string Wrong;
    Check(Codec->Read(Text, Found, Wrong), Wrong + ": " + std::string(Text.substr(0, 200)));
    return Found;
}

void Tell(const std::string& Line)
{
    std::fputs((Line + "\n").c_str(), stdout);
    std::fflush(stdout);
}

bool IsThere(int Pid)
{
    return kill(Pid, 0) == 0;
}

void SendSignal(int Signal, int Pid)
{
    Check(kill(Pid, Signal) == 0, "no signal was sent");
}

namespace
{

int CountEntries(const char* Folder)
{
    int Count = 0;
    DIR* Listing = opendir(Folder);
    Check(Listing != nullptr, "no folder");
    while (readdir(Listing) != nullptr)
    {
        Count++;
    }
    closedir(Listing);
    return Count;
}

} // namespace

int CountFiles()
{
    return CountEntries("/proc/self/fd");
}

int CountThreads()
{
    return CountEntries("/proc/self/task");
}

std::string Shown(const std::optional<Fault>& Why)
{
    return Why ? Why->Shown() : std::string();
}

Json Numbers(const std::vector<double>& All)
{
    Json Made = Json::Array();
    for (const double One : All)
    {
        Made.Add(Json::Real(One));
    }
    return Made;
}

Messages::CreateStringStorage Strings(const std::string& Name, std::vector<std::string> Lines)
{
    Messages::CreateStringStorage Made;
    Made.Name = Name;
    Made.Strings = std::move(Lines);
    return Made;
}

World::World() = default;

World::~World() = default;

CoreOptions World::Options()
{
    CoreOptions Made;
    Made.Codec = Codec;
    Made.Zmq = Zmq;
    Made.ClientName = "a test";
    Made.Log = [this](LogLevel Level, std::string_view Text)
    {
        Check(std::this_thread::get_id() == Thread, "the log spoke on another thread");
        static const char* const Levels[] = {"Debug ", "Info ", "Warning ", "Error "};
        Log.push_back(Levels[static_cast<int>(Level)] + std::string(Text));
    };
    if (HasSetting("endpoint"))
    {
        Made.Endpoint = TextOf("endpoint");
        Made.Token = TextOf("token");
    }
    else
    {
        Made.Launch = Launch();
    }
    return Made;
}

SidecarOptions World::Launch()
{
    SidecarOptions Made;
    Made.Executable = TextOf("executable");
    Made.ReadyFile = TextOf("ready_file", "");
    Made.OwnerPid = static_cast<int>(NumberOf("owner_pid", 0));
    Made.WorkingFolder = TextOf("working_folder", "");
    Made.Arguments.clear();
    for (const Json& Argument : Setting("arguments").Items())
    {
        Made.Arguments.push_back(Argument.AsText());
    }
    for (const JsonMember& Variable : Setting("environment").Members())
    {
        Made.Environment[Variable.Name] =
            Variable.Value.IsNull() ? std::nullopt : std::optional<std::string>(Variable.Value.AsText());
    }
    return Made;
}

World& World::Begin()
{
    return Begin(std::make_unique<ParleyCore>(Options()));
}

World& World::Begin(std::unique_ptr<ParleyCore> Made)
{
    Core = std::move(Made);
    Core->StateChanged.Add(
        [this](CoreState State)
        {
            static const char* const States[] = {"Stopped", "Starting", "Ready", "Gone", "Down", "Stopping"};
            Event(std::string("state ") + States[static_cast<int>(State)]);
        });
    Core->Gone.Add([this](const std::string&) { Event("gone"); });
    Core->Back.Add([this] { Event("back"); });
    Core->GaveUp.Add([this](const std::string&) { Event("gave up"); });
    Core->LinkChanged.Add([this](bool IsBack) { Event(IsBack ? "link back" : "link lost"); });
    return *this;
}

World& World::Ready()
{
    Begin();
    Core->Start();
    Until([this] { return Core->GetState() == CoreState::Ready; }, "the sidecar is ready");
    return *this;
}

std::unique_ptr<World> World::Again(std::unique_ptr<World> Before)
{
    const std::string State = Before->Core->Detach();
    Before = nullptr;
    return Again(State);
}

std::unique_ptr<World> World::Again(const std::string& State)
{
    std::unique_ptr<World> Next = std::make_unique<World>();
    Fault Why;
    std::unique_ptr<ParleyCore> Made = ParleyCore::Attach(Next->Options(), State, Why);
    Testing::Check(Made != nullptr, Why.Shown());
    Next->Begin(std::move(Made));
    return Next;
}

double World::Until(const std::function<bool()>& Condition, const std::string& What, double PatienceS)
{
    const Watch Since;
    while (true)
    {
        Frame();
        if (Condition())
        {
            return Since.Seconds();
        }
        Check(Since.Seconds() < PatienceS, "still not: " + What);
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
}

void World::Frame()
{
    if (Core == nullptr)
    {
        return;
    }
    const Watch Since;
    Core->Update(1.0);
    Longest = (std::max)(Longest, Since.Ms());
}

void World::Frames(int Count)
{
    for (int At = 0; At < Count; At++)
    {
        Frame();
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
}

void World::Fail(const std::string& What)
{
    std::string All = What;
    if (Core != nullptr)
    {
        All += "; state " + std::to_string(static_cast<int>(Core->GetState())) + " " + Core->GetTrouble();
    }
    for (const std::vector<std::string>* Lines : {&Events, &Log})
    {
        for (const std::string& Line : *Lines)
        {
            All += "\n" + Line;
        }
    }
    Testing::Fail(All);
}

void World::Check(bool IsSo, const std::string& What)
{
    if (!IsSo)
    {
        Fail(What);
    }
}

void World::Event(const std::string& Text)
{
    Check(std::this_thread::get_id() == Thread, Text + " came on another thread");
    Events.push_back(Text);
}

int World::Count(std::string_view Text) const
{
    return static_cast<int>(std::count(Events.begin(), Events.end(), Text));
}

bool World::Logged(std::string_view Text) const
{
    return std::any_of(
        Log.begin(), Log.end(), [Text](const std::string& Line) { return Line.find(Text) != std::string::npos; });
}

void World::Kill()
{
    SendSignal(SIGKILL, Core->GetSidecarPid());
}

void World::End()
{
    const Watch Since;
    const int Pid = Core->GetSidecarPid();
    Check(Core->StopAndWait(5000), "the sidecar did not end");
    Check(Core->GetState() == CoreState::Stopped, "it is not stopped");
    EndMs = Since.Ms();
    for (int Look = 0; Look < 100 && Pid != 0 && IsThere(Pid); Look++)
    {
        // One that another process had started is the system's to bury.
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    Check(Pid == 0 || !IsThere(Pid), "the process is still there, if only as a zombie");
}

std::unique_ptr<Character> World::Add(std::string_view Workflow, AgentOptions Options)
{
    const Json* Found = Setting("workflows").Find(Workflow);
    Check(Found != nullptr, "no workflow " + std::string(Workflow));
    Options.Workflow = *Found;
    std::shared_ptr<CoreAgent> Agent = Core->CreateAgent(std::move(Options));
    Check(Agent != nullptr, "one of that key is there already");
    return std::make_unique<Character>(*this, std::move(Agent));
}

std::unique_ptr<Character> World::Make(std::string_view Workflow, AgentOptions Options)
{
    std::unique_ptr<Character> Made = Add(Workflow, std::move(Options));
    Until([&Made] { return Made->Agent->GetState() != AgentState::Making; }, "the agent is made");
    Check(
        Made->Agent->GetState() == AgentState::Ready,
        Made->Agent->GetTrouble() == nullptr ? "not ready" : Made->Agent->GetTrouble()->Shown());
    return Made;
}

std::unique_ptr<Character> World::Find(std::string_view Key)
{
    std::shared_ptr<CoreAgent> Found = Core->FindAgent(Key);
    Check(Found != nullptr, "there is no " + std::string(Key));
    return std::make_unique<Character>(*this, std::move(Found));
}

std::optional<Fault> World::Wait(const std::function<void(DoneCallback)>& Work, const std::string& What)
{
    const std::shared_ptr<bool> IsDone = std::make_shared<bool>(false);
    const std::shared_ptr<std::optional<Fault>> Found = std::make_shared<std::optional<Fault>>();
    Work(
        [this, IsDone, Found, What](const Fault* Why)
        {
            Event("done: " + What);
            Check(!*IsDone, What + " was answered twice");
            *IsDone = true;
            if (Why != nullptr)
            {
                *Found = *Why;
            }
        });
    Until([&IsDone] { return *IsDone; }, What);
    return *Found;
}

Character::Character(World& Of, std::shared_ptr<CoreAgent> Whose) : Where(Of), Agent(std::move(Whose))
{
    OnAnswer = Agent->Answer.Add(
        [this](const Messages::AnswerText& Frame)
        {
            Where.Event("answer");
            Frames.push_back(Frame);
        });
    OnCompleted = Agent->TurnCompleted.Add(
        [this](const Messages::TurnComplete& Complete)
        {
            Where.Event("complete " + std::string(WordOf(Complete.Status)));
            Ends.push_back(std::make_unique<Messages::TurnComplete>(Complete));
        });
    OnCalled = Agent->ToolCalled.Add(
        [this](const std::shared_ptr<ToolCall>& Call)
        {
            Where.Event("tool " + Call->GetTool());
            Calls.push_back(Call);
        });
}

Character::~Character()
{
    Agent->Answer.Remove(OnAnswer);
    Agent->TurnCompleted.Remove(OnCompleted);
    Agent->ToolCalled.Remove(OnCalled);
}

const Messages::TurnComplete& Character::Turn(const std::string& Line)
{
    const std::size_t Before = Ends.size();
    Equal(Agent->Say(Line), SayOutcome::Sent, "what became of a line");
    Where.Until([this, Before] { return Ends.size() > Before; }, "the turn ends");
    return *Ends.back();
}

std::string Character::Said(std::int64_t TurnId, std::string_view Node) const
{
    std::string Text;
    for (const Messages::AnswerText& Frame : Frames)
    {
        if (Frame.TurnId == TurnId && Frame.NodeName == Node)
        {
            Text = Frame.IsDelta ? Text + Frame.Text : Frame.Text;
        }
    }
    return Text;
}

bool Character::HasFrame(std::int64_t TurnId) const
{
    return std::any_of(
        Frames.begin(), Frames.end(), [TurnId](const Messages::AnswerText& Frame) { return Frame.TurnId == TurnId; });
}

std::string Character::Turns() const
{
    std::string All;
    for (const std::shared_ptr<const Messages::Interaction>& Turn : Agent->GetDialog().GetInteractions())
    {
        All += (All.empty() ? "" : " ") + Turn->User + "/" + std::string(WordOf(Turn->Status));
    }
    return All;
}

Json Character::Params(const std::string& Node)
{
    std::optional<Json> Found;
    Agent->GetParams(
        Node,
        [this, &Found](const Messages::Params* Read, const Fault* Why)
        {
            Where.Check(Read != nullptr, Why == nullptr ? "nothing" : Why->Shown());
            Found = Read->Content;
        });
    Where.Until([&Found] { return Found.has_value(); }, "the parameters");
    return *Found;
}

std::string Character::Save()
{
    std::optional<std::string> Found;
    Agent->SaveDialog(
        [this, &Found](const std::string& Text, const Fault* Why)
        {
            Where.Check(Why == nullptr, Why == nullptr ? "" : Why->Shown());
            Found = Text;
        });
    Where.Until([&Found] { return Found.has_value(); }, "the dialog is saved");
    return *Found;
}

void Character::CheckMirror()
{
    const Json Saved = Parsed(Save());
    const Json Mirrored = Agent->GetDialog().Copy().ToJson();
    Where.Check(*Saved.Find("interactions") == *Mirrored.Find("interactions"), "the mirror shows another dialog");
}

} // namespace Parley::Testing
