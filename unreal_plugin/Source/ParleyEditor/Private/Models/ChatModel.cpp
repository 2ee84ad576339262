// A conversation with a workflow for the test chat, outside of a play session.
#include "ChatModel.h"

#include "EditorJson.h"

#include "Core/Authoring/Authoring.h"

#include <algorithm>
#include <utility>

namespace Parley::Editor
{

namespace ChatModelLocal
{

std::string Seconds(std::int64_t Bytes, std::int64_t BytesPerSecond)
{
    const std::int64_t Tenths = (Bytes * 10 + BytesPerSecond / 2) / BytesPerSecond;
    return std::to_string(Tenths / 10) + "." + std::to_string(Tenths % 10) + " s of sound";
}

} // namespace ChatModelLocal

ChatModel::ChatModel(std::shared_ptr<ParleyCore> InCore) : Core(std::move(InCore))
{
    OfCore[0] = Core->Gone.Add([this](const std::string& Why) { OnGone(Why); });
    OfCore[1] = Core->GaveUp.Add([this](const std::string& Why) { OnGaveUp(Why); });
}

ChatModel::~ChatModel()
{
    Changed = nullptr;
    End();
    Core->Gone.Remove(OfCore[0]);
    Core->GaveUp.Remove(OfCore[1]);
}

bool ChatModel::CanSay() const
{
    return Agent && !Agent->IsBusy() && Agent->GetState() != AgentState::Failed && Agent->GetState() != AgentState::Destroyed;
}

std::string ChatModel::GetStatus() const
{
    if (Core->GetState() == CoreState::Down)
    {
        return "no sidecar: " + Core->GetTrouble();
    }
    if (!Agent)
    {
        return Fault.empty() ? "no conversation" : Fault;
    }
    switch (Agent->GetState())
    {
    case AgentState::Making:
        return Core->GetState() == CoreState::Ready ? "loading the workflow and its models\xE2\x80\xA6" : "starting the sidecar\xE2\x80\xA6";
    case AgentState::Failed:
        return Fault;
    default:
        return Agent->IsBusy() ? "answering\xE2\x80\xA6" : "ready";
    }
}

bool ChatModel::IsStale(const Json& Now) const
{
    return Agent && !Authoring::IsSame(Now, Workflow);
}

void ChatModel::Begin(const Json& With, bool KeepsDialog)
{
    std::optional<Json> Seed;
    if (KeepsDialog && Agent)
    {
        Seed = Agent->GetDialog().Copy().ToJson();
    }
    End();
    if (!KeepsDialog)
    {
        Lines.clear();
        Turns.clear();
    }
    Workflow = With;
    Fault.clear();
    Found.clear();
    ReadVariables();
    Core->Start();
    AgentOptions Options;
    Options.Key = AgentKey;
    Options.Workflow = Workflow;
    Options.Variables = Values;
    Options.EnableDiagnostics = true;
    Options.SeedDialog = std::move(Seed);
    Options.Busy = WhenBusy::Refuse;
    Agent = Core->CreateAgent(std::move(Options));
    if (!Agent)
    {
        Fault = "Another window talks in this sidecar already; end the conversation there.";
        Tell();
        return;
    }
    Listen();
    Tell();
}

void ChatModel::Listen()
{
    OfAgent[0] = Agent->Answer.Add([this](const Messages::AnswerText& What) { OnAnswer(What); });
    OfAgent[1] = Agent->TurnCompleted.Add([this](const Messages::TurnComplete& Turn) { OnTurnCompleted(Turn); });
    OfAgent[2] = Agent->ToolCalled.Add([this](const std::shared_ptr<ToolCall>& Call) { OnToolCalled(Call); });
    OfAgent[3] = Agent->NodeHappened.Add([this](const Messages::NodeEvent& What) { OnNodeHappened(What); });
    OfAgent[4] = Agent->Failed.Add([this](const Parley::Fault& Why) { OnFailed(Why); });
    OfAgent[5] = Agent->Made.Add([this](CoreAgent& Who) { OnMade(Who); });
    OfAgent[6] = Agent->SoundStarted.Add([this](const Messages::AudioFormat& Format) { OnSoundStarted(Format); });
    OfAgent[7] = Agent->Sound.Add([this](const SoundChunk& Sound) { OnSound(Sound); });
}

void ChatModel::Deafen()
{
    Agent->Answer.Remove(OfAgent[0]);
    Agent->TurnCompleted.Remove(OfAgent[1]);
    Agent->ToolCalled.Remove(OfAgent[2]);
    Agent->NodeHappened.Remove(OfAgent[3]);
    Agent->Failed.Remove(OfAgent[4]);
    Agent->Made.Remove(OfAgent[5]);
    Agent->SoundStarted.Remove(OfAgent[6]);
    Agent->Sound.Remove(OfAgent[7]);
}

bool ChatModel::Say(const std::string& Text)
{
    if (!Agent)
    {
        return false;
    }
    const SayOutcome Outcome = Agent->Say(Text);
    if (Outcome != SayOutcome::Sent && Outcome != SayOutcome::Queued)
    {
        Note(ChatLineKind::Failure, Outcome == SayOutcome::Busy ? "a line is being answered; wait for it or cancel it" : GetStatus());
        return false;
    }
    ChatLine Line;
    Line.Kind = ChatLineKind::Player;
    Line.Text = Text;
    Lines.push_back(std::move(Line));
    Tell();
    return true;
}

void ChatModel::Cancel()
{
    if (Agent)
    {
        Agent->Cancel();
    }
}

bool ChatModel::SetVariable(std::string_view Name, const std::string& Text)
{
    ChatVariable* Variable = FindVariable(Name);
    if (Variable == nullptr)
    {
        return false;
    }
    Variable->Text = Text;
    std::optional<Json> Value = ChatVariable::Read(Variable->Type, Text, Variable->Refusal);
    if (!Value)
    {
        Tell();
        return false;
    }
    Values.Set(Name, *Value);
    if (Agent)
    {
        Agent->SetVariable(Name, std::move(*Value),
            [this, Which = std::string(Name), Alive = std::weak_ptr<bool>(Life)](const Parley::Fault* Why)
        {
            if (Alive.expired())
            {
                return;
            }
            if (ChatVariable* Told = FindVariable(Which))
            {
                Told->Refusal = Why == nullptr ? "" : Why->Text;
            }
            Tell();
        });
    }
    Tell();
    return true;
}

void ChatModel::SetResult(std::string_view CallId, std::string Text)
{
    if (ChatToolCall* Called = FindCall(CallId))
    {
        Called->Result = std::move(Text);
    }
}

void ChatModel::Answer(std::string_view CallId, bool Fails)
{
    ChatToolCall* Called = FindCall(CallId);
    if (Called == nullptr)
    {
        return;
    }
    const ChatToolCall Answered = std::move(*Called);
    ToolCalls.erase(ToolCalls.begin() + (Called - ToolCalls.data()));
    Note(ChatLineKind::Note, Answered.Call->GetTool() + (Fails ? " fails: " : " \xE2\x86\x92 ") + Answered.Result);
    if (Fails)
    {
        Answered.Call->Fail(Answered.Result);
    }
    else
    {
        Answered.Call->Reply(Answered.Result);
    }
}

void ChatModel::End()
{
    if (!Agent)
    {
        return;
    }
    Deafen();
    const std::shared_ptr<CoreAgent> Ended = std::move(Agent);
    Agent.reset();
    Ended->Destroy();
    ToolCalls.clear();
    Close(0);
    Tell();
}

// ---- what comes

void ChatModel::OnMade(CoreAgent& Who)
{
    Found = Findings::Of(Who.GetWarnings()).All();
    Tell();
}

void ChatModel::OnFailed(const Parley::Fault& Why)
{
    Fault = Why.Text;
    Found = Findings::Of(Why.Problems).All();
    Note(ChatLineKind::Failure, Why.Text);
}

void ChatModel::OnAnswer(const Messages::AnswerText& What)
{
    ChatLine* Line = OpenLine(ChatLineKind::Speaker, What.TurnId, What.Step);
    if (Line == nullptr)
    {
        ChatLine Begun;
        Begun.Kind = ChatLineKind::Speaker;
        Begun.NodeName = What.NodeName;
        Begun.TurnId = What.TurnId;
        Begun.Step = What.Step;
        Lines.push_back(std::move(Begun));
        Line = &Lines.back();
    }
    Line->Text = What.IsDelta ? Line->Text + What.Text : What.Text;
    Line->IsOpen = !What.IsFinal;
    if (What.IsFinal && Line->Text.empty())
    {
        Lines.erase(std::find_if(Lines.begin(), Lines.end(), [Line](const ChatLine& Each) { return &Each == Line; }));
    }
    Tell();
}

void ChatModel::OnSoundStarted(const Messages::AudioFormat& Format)
{
    SoundBytes = 0;
    BytesPerSecond = 2 * Format.SampleRate * Format.Channels;
    ChatLine Begun;
    Begun.Kind = ChatLineKind::Sound;
    Begun.NodeName = Format.NodeName;
    Begun.Text = ChatModelLocal::Seconds(0, 1);
    Begun.TurnId = Format.TurnId;
    Begun.Step = Format.Step;
    Begun.IsOpen = true;
    Lines.push_back(std::move(Begun));
    Tell();
}

void ChatModel::OnSound(const SoundChunk& Sound)
{
    ChatLine* Line = OpenLine(ChatLineKind::Sound, Sound.Chunk.TurnId, Sound.Chunk.Step);
    if (Line == nullptr)
    {
        return;
    }
    SoundBytes += Sound.Bytes;
    Line->Text = ChatModelLocal::Seconds(static_cast<std::int64_t>(SoundBytes), BytesPerSecond);
    Line->IsOpen = !Sound.Chunk.IsFinal;
    Tell();
}

void ChatModel::OnTurnCompleted(const Messages::TurnComplete& Turn)
{
    Close(Turn.TurnId);
    ToolCalls.clear();
    Turns.push_back(std::make_shared<const TurnInspectorModel>(TurnInspectorModel::From(Turn.ToJson(), Core->GetCodec())));
    if (Turn.Status == Messages::TurnStatus::Error)
    {
        Note(ChatLineKind::Failure, Turn.Error ? Turn.Error->Message : "the turn failed");
    }
    else if (Turn.Status == Messages::TurnStatus::Cancelled)
    {
        Note(ChatLineKind::Note, "cancelled");
    }
    Tell();
}

void ChatModel::OnToolCalled(const std::shared_ptr<ToolCall>& Call)
{
    ToolCalls.push_back(ChatToolCall{Call, ""});
    Note(ChatLineKind::Note, Call->GetNodeName() + " calls " + Call->GetTool() + " " + Core->GetCodec().Write(Call->GetArguments()));
}

void ChatModel::OnNodeHappened(const Messages::NodeEvent& What)
{
    if (What.Event == "intent_classified" || What.Event == "attributes_classified" || What.Event == "summary_written")
    {
        Note(ChatLineKind::Note, What.NodeName + ": " + What.Event + " " + Core->GetCodec().Write(What.Data));
    }
}

void ChatModel::OnGone(const std::string& Why)
{
    if (Agent)
    {
        Note(ChatLineKind::Note, "the sidecar is lost (" + Why + "); another one takes its place");
    }
}

void ChatModel::OnGaveUp(const std::string& Why)
{
    if (Agent)
    {
        Note(ChatLineKind::Failure, Why);
    }
    Tell();
}

/// The line that this step has begun and not ended; null: none.
ChatLine* ChatModel::OpenLine(ChatLineKind Kind, std::int64_t TurnId, std::int64_t Step)
{
    const auto At = std::find_if(Lines.rbegin(), Lines.rend(), [Kind, TurnId, Step](const ChatLine& Line)
    {
        return Line.Kind == Kind && Line.IsOpen && Line.TurnId == TurnId && Line.Step == Step;
    });
    return At == Lines.rend() ? nullptr : &*At;
}

/// Of one turn, or of all: 0.
void ChatModel::Close(std::int64_t TurnId)
{
    for (ChatLine& Line : Lines)
    {
        Line.IsOpen = Line.IsOpen && TurnId != 0 && Line.TurnId != TurnId;
    }
}

void ChatModel::Note(ChatLineKind Kind, std::string Text)
{
    ChatLine Line;
    Line.Kind = Kind;
    Line.Text = std::move(Text);
    Lines.push_back(std::move(Line));
    Tell();
}

void ChatModel::Tell()
{
    if (Changed)
    {
        Changed();
    }
}

// ---- variables

void ChatModel::ReadVariables()
{
    const std::vector<ChatVariable> Before = std::move(Variables);
    Variables.clear();
    Json Kept = Json::Object();
    for (const Json& Declared : EditorJson::Items(&Workflow, "variables"))
    {
        ChatVariable Variable;
        Variable.Name = EditorJson::Text(&Declared, "name");
        Variable.Type = EditorJson::Text(&Declared, "type");
        if (Variable.Name.empty())
        {
            continue;
        }
        const Json* Value = Declared.Find("value");
        const bool IsOld = std::any_of(Before.begin(), Before.end(), [&Variable](const ChatVariable& Old)
        {
            return Old.Name == Variable.Name && Old.Type == Variable.Type;
        });
        if (const Json* Set = IsOld ? Values.Find(Variable.Name) : nullptr)
        {
            Value = Set;
            Kept.Set(Variable.Name, *Set);
        }
        Variable.Text = Value == nullptr ? "" : ChatVariable::TextOf(*Value, Core->GetCodec());
        Variables.push_back(std::move(Variable));
    }
    Values = std::move(Kept);
}

ChatToolCall* ChatModel::FindCall(std::string_view CallId)
{
    const auto At = std::find_if(ToolCalls.begin(), ToolCalls.end(), [CallId](const ChatToolCall& Each)
    {
        return Each.Call->GetCallId() == CallId;
    });
    return At == ToolCalls.end() ? nullptr : &*At;
}

ChatVariable* ChatModel::FindVariable(std::string_view Name)
{
    const auto At = std::find_if(Variables.begin(), Variables.end(), [Name](const ChatVariable& Each) { return Each.Name == Name; });
    return At == Variables.end() ? nullptr : &*At;
}

} // namespace Parley::Editor
