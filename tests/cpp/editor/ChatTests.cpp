// The test chat, live validation and the models, with real sidecars.
#include "Desk.h"

#include "ChatModel.h"
#include "LiveValidation.h"
#include "ModelManagerModel.h"

#include <csignal>
#include <fstream>

namespace
{

using namespace Parley;
using namespace Parley::Testing;
using Editor::ChatLine;
using Editor::ChatLineKind;
using Editor::ChatModel;

const char* const Tavern =
    "{\"start_node\":\"mira\",\"default_model\":\"slow\",\"variables\":[{\"name\":\"coins\",\"type\":\"int\",\"value\":3},"
    "{\"name\":\"titles\",\"type\":\"string_set\",\"value\":[\"knight\"]}],\"nodes\":["
    "{\"name\":\"mira\",\"type\":\"Generate\",\"max_tokens\":20,\"template\":\"{{user_message}} {{var.coins}}\",\"default_exit\":\"bram\"},"
    "{\"name\":\"bram\",\"type\":\"Generate\",\"max_tokens\":20,\"template\":\"{{slot.mira}}\"}]}";

std::vector<ChatLine> Of(const ChatModel& Chat, ChatLineKind Kind)
{
    std::vector<ChatLine> Found;
    for (const ChatLine& Line : Chat.GetLines())
    {
        if (Line.Kind == Kind)
        {
            Found.push_back(Line);
        }
    }
    return Found;
}

std::string Said(const ChatModel& Chat)
{
    std::string Text;
    for (const ChatLine& Line : Chat.GetLines())
    {
        Text += Line.Shown() + "\n";
    }
    return Text;
}

void Answered(Sidecar& With, ChatModel& Chat, std::size_t Turns)
{
    With.Until([&] { return Chat.GetTurns().size() >= Turns || Chat.GetStatus().find("no sidecar") == 0; }, "an answer: " + Chat.GetStatus());
    Check(Chat.GetTurns().size() >= Turns, Chat.GetStatus() + "\n" + Said(Chat));
}

} // namespace

PARLEY_TEST(SeveralSpeakersStreamOutsideOfPlay)
{
    Sidecar With(Given);
    ChatModel Chat(With.Core);
    int Changes = 0;
    std::vector<std::string> Seen;
    Chat.Changed = [&]
    {
        ++Changes;
        for (const ChatLine& Line : Chat.GetLines())
        {
            if (Line.Kind == ChatLineKind::Speaker && Line.IsOpen && (Seen.empty() || Seen.back() != Line.NodeName))
            {
                Seen.push_back(Line.NodeName);
            }
        }
    };
    Check(!Chat.CanSay() && Chat.GetStatus() == "no conversation", Chat.GetStatus());
    Chat.Begin(Parsed(Tavern));
    Check(Chat.GetStatus() == "starting the sidecar\xE2\x80\xA6", Chat.GetStatus());
    Check(Chat.Say("What do rooms cost?"), "said before there is a sidecar");
    Check(!Chat.Say("And a bath?"), "one line at a time");
    Check(Contains(Said(Chat), "wait for it or cancel it"), Said(Chat));
    Answered(With, Chat, 1);
    Equal("mira|bram", Joined(Seen), "each speaker's line was seen while it was written:\n" + Said(Chat) + Chat.GetTurns()[0]->ToText());
    const std::vector<ChatLine> Lines = Of(Chat, ChatLineKind::Speaker);
    Equal(2, static_cast<long long>(Lines.size()), "speakers");
    Check(Lines[0].NodeName == "mira" && Lines[1].NodeName == "bram" && !Lines[1].IsOpen, Said(Chat));
    Check(Contains(Lines[0].Text, "word0 word1"), Lines[0].Text);
    Equal("ready", Chat.GetStatus(), "how it stands");
    const Editor::TurnInspectorModel& Turn = *Chat.GetTurns()[0];
    Equal("What do rooms cost?", Turn.User, "the line");
    Equal(2, static_cast<long long>(Turn.Steps.size()), "steps");
    Equal("bram", Turn.Steps[0].Exit.empty() ? "" : Turn.Steps[1].NodeName, "the exit was taken");
    Check(Contains(Turn.Steps[0].Rendered, "What do rooms cost? 3"), Turn.Steps[0].Rendered);
    Check(!Turn.Steps[0].Usage.empty() && !Turn.Steps[0].Budget.empty() && Turn.DurationMs > 0, "numbers");

    // What a person set holds for the next turn; edits are taken with what was said.
    Check(Chat.SetVariable("coins", " 7 "), "a whole number");
    Check(!Chat.SetVariable("coins", "many"), "no number");
    Equal("a whole number is wanted", Chat.GetVariables()[0].Refusal, "why");
    Check(Chat.SetVariable("titles", "knight, , baker"), "a set");
    Json Edited = Parsed(Tavern);
    Edited.Find("nodes")->Items()[1].Set("template", Json::String("Again"));
    Check(Chat.IsStale(Edited) && !Chat.IsStale(Parsed(Tavern)), "edited");
    Chat.Begin(Edited, true);
    Equal("7", Chat.GetVariables()[0].Text, "what was set stays");
    Equal("knight, baker", Chat.GetVariables()[1].Text, "what was set stays");
    Check(Chat.Say("And now?"), "said");
    Answered(With, Chat, 2);
    Check(Contains(Chat.GetTurns()[1]->Steps[0].Rendered, "And now? 7"), Chat.GetTurns()[1]->Steps[0].Rendered);
    Check(Contains(Chat.GetTurns()[1]->Steps[0].Rendered, "What do rooms cost?"), "the character remembers");
    Check(Contains(Said(Chat), "> What do rooms cost?"), "what was said is still there");
}

PARLEY_TEST(HowMuchSoundComesIsShown)
{
    Sidecar With(Given);
    ChatModel Chat(With.Core);
    Chat.Begin(Parsed(
        "{\"start_node\": \"note\", \"nodes\": [{\"name\": \"note\", \"type\": \"Transform\", \"template\": "
        "\"Good evening, friend.\", \"default_exit\": \"aloud\"}, {\"name\": \"aloud\", \"type\": \"Speak\", "
        "\"input\": \"note\", \"voice\": \"mock-voice\"}]}"));
    Check(Chat.Say("Hello."), "said");
    Answered(With, Chat, 1);
    const std::vector<ChatLine> Lines = Of(Chat, ChatLineKind::Sound);
    Equal(1, static_cast<long long>(Lines.size()), "lines of sound:\n" + Said(Chat));
    Equal("\xE2\x99\xAA aloud: 1.3 s of sound", Lines[0].Shown(), "21 letters of 60 ms");
}

PARLEY_TEST(ATurnIsCancelled)
{
    Sidecar With(Given);
    ChatModel Chat(With.Core);
    Chat.Begin(Parsed(Tavern));
    Check(Chat.Say("Tell me all."), "said");
    With.Until([&] { return !Of(Chat, ChatLineKind::Speaker).empty(); }, "the first words");
    Chat.Cancel();
    Answered(With, Chat, 1);
    Equal("Cancelled", Chat.GetTurns()[0]->Status, "how it ended");
    Check(Contains(Said(Chat), "cancelled") && !Of(Chat, ChatLineKind::Speaker).back().IsOpen, Said(Chat));
    Check(Chat.CanSay(), "the next line can be said");
}

PARLEY_TEST(AKilledSidecarIsReplaced)
{
    Sidecar With(Given);
    ChatModel Chat(With.Core);
    Chat.Begin(Parsed(Tavern));
    Check(Chat.Say("My name is Ida."), "said");
    Answered(With, Chat, 1);
    Check(Chat.Say("Tell me all."), "said");
    With.Until([&] { return Of(Chat, ChatLineKind::Speaker).size() > 2; }, "words of the second turn");
    const int Pid = With.Core->GetSidecarPid();
    kill(Pid, SIGKILL);
    Answered(With, Chat, 2);
    Equal("Error", Chat.GetTurns()[1]->Status, "the turn that it died over");
    With.Until([&] { return With.Core->GetState() == CoreState::Ready && Chat.CanSay(); }, "another one");
    Check(With.Core->GetSidecarPid() != Pid, "it is another one");
    Check(Contains(Said(Chat), "the sidecar is lost") && Contains(Said(Chat), "another one takes its place"), Said(Chat));
    Check(Chat.Say("Who am I?"), "said");
    Answered(With, Chat, 3);
    Check(Contains(Chat.GetTurns()[2]->Steps[0].Rendered, "My name is Ida."), "the character remembers");
}

PARLEY_TEST(ToolCallsAreAnsweredByHand)
{
    Sidecar With(Given);
    ChatModel Chat(With.Core);
    Chat.Begin(Parsed(
        "{\"start_node\":\"door\",\"default_model\":\"calls\",\"nodes\":[{\"name\":\"door\",\"type\":\"ToolCall\","
        "\"tool_call_format\":\"generic\",\"tools\":[{\"name\":\"open_door\",\"description\":\"Opens a door.\",\"parameters\":"
        "{\"type\":\"object\",\"properties\":{\"door\":{\"type\":\"string\"}}}}],\"wait_for_result_s\":20,"
        "\"tool_called_exit\":\"says\",\"no_tool_called_exit\":\"says\",\"send\":\"None\"},"
        "{\"name\":\"says\",\"type\":\"Transform\",\"template\":\"The door: {{slot.door}}\",\"send\":\"Whole\"}]}"));
    Check(Chat.Say("Open the cellar."), "said");
    With.Until([&] { return !Chat.GetToolCalls().empty() || !Chat.GetTurns().empty() || !Chat.GetFault().empty(); }, "the call");
    Check(!Chat.GetToolCalls().empty(), Chat.GetFault() + "\n" + Said(Chat));
    Check(Contains(Said(Chat), "door calls open_door {\"door\":\"cellar\"}"), Said(Chat));
    const std::string Id = Chat.GetToolCalls()[0].Call->GetCallId();
    Chat.Answer("another");
    Chat.SetResult(Id, "it is open");
    Chat.Answer(Id);
    Check(Chat.GetToolCalls().empty(), "answered");
    Chat.Answer(Id);
    Answered(With, Chat, 1);
    Check(Contains(Said(Chat), "says: The door: it is open"), Said(Chat));
}

PARLEY_TEST(AWorkflowThatIsRefusedIsTold)
{
    Sidecar With(Given);
    ChatModel Chat(With.Core);
    Chat.Begin(Parsed("{\"start_node\":\"a\",\"nodes\":[{\"name\":\"a\",\"type\":\"Generate\",\"template\":\"{{slot.nobody}}\"}]}"));
    With.Until([&] { return !Chat.GetFault().empty(); }, "the refusal");
    Check(!Chat.CanSay() && !Chat.GetFindings().empty() && Chat.GetStatus() == Chat.GetFault(), Chat.GetStatus());
    Check(!Chat.Say("Hello?"), "refused");
    // A model that is destroyed with a conversation in the making hears no more.
    {
        ChatModel Second(With.Core);
        Second.Begin(Parsed(Tavern));
        Check(Contains(Second.GetFault(), "Another window"), "two windows: " + Second.GetFault());
    }
    Chat.End();
    {
        ChatModel Third(With.Core);
        Third.Begin(Parsed(Tavern));
        Third.SetVariable("coins", "5");
    }
    Chat.Begin(Parsed(Tavern));
    Check(Chat.Say("Hello?"), "said");
    Answered(With, Chat, 1);
}

PARLEY_TEST(WithoutASidecarItSaysWhatToDo)
{
    Arguments Wrong = Given;
    Wrong["program"] = "/nowhere/no-such-program";
    Sidecar With(Wrong);
    ChatModel Chat(With.Core);
    Chat.Begin(Parsed(Tavern));
    Check(Chat.Say("Hello?"), "said");
    With.Until([&] { return Chat.GetStatus().find("no sidecar: ") == 0; }, "it gives up");
    Check(Contains(Chat.GetStatus(), "no-such-program"), Chat.GetStatus());
    Check(!Of(Chat, ChatLineKind::Failure).empty(), Said(Chat));
    Check(!Chat.IsBusy(), "nothing is waited for");
}

PARLEY_TEST(TheSidecarsFindingsStandAtTheirFields)
{
    Sidecar With(Given);
    Desk Asset("{\"version\":1,\"start_node\":\"a\",\"default_model\":\"slow\",\"nodes\":[{\"name\":\"a\",\"type\":\"Generate\",\"template\":\"{{#open\"}]}");
    WorkflowInspectorModel Model(Asset, Codec());
    std::shared_ptr<ParleyCore> Running;
    Editor::LiveValidation Validation(Model, [&] { return Running; });
    Equal("0 errors, 0 warnings at first sight; the sidecar sees more", Editor::StateOfValidation(Model, Validation, false), "without one");
    Validation.Tick(0);
    Validation.Tick(1);
    Check(!Validation.IsAsking(), "nobody to ask");
    Running = With.Core;
    With.Core->Start();
    Validation.Tick(2);
    Check(Validation.IsAsking(), "asked");
    With.Until([&] { return !Validation.IsAsking(); }, "the findings");
    Check(Model.IsValidated() && Model.Found().ErrorCount() == 1, Editor::StateOfValidation(Model, Validation, true));
    Check(!Field(Model, 0, "template").Findings.empty(), "at its field");
    Validation.Tick(3);
    Check(!Validation.IsAsking(), "once is enough");
    Model.SetText(Field(Model, 0, "template"), "hello");
    Model.Refresh();
    Validation.Tick(3.1);
    Validation.Tick(3.3);
    Check(!Validation.IsAsking(), "not while somebody types");
    Validation.Tick(3.6);
    Check(Validation.IsAsking(), "after a moment");
    With.Until([&] { return !Validation.IsAsking(); }, "the findings");
    Model.Refresh();
    const std::string State = Editor::StateOfValidation(Model, Validation, true);
    Check(State.find("0 errors, ") == 0 && Contains(State, " by the sidecar"), State);
    {
        Editor::LiveValidation Short(Model, [&] { return Running; });
        Short.AskNow();
    }
    With.Core->Update(4.0); // its answer finds nobody
}

PARLEY_TEST(ModelsAreListedLoadedAndUnloaded)
{
    Sidecar With(Given);
    Editor::ModelManagerModel Models(With.Core);
    Models.Refresh();
    Models.Refresh();
    With.Until([&] { return Models.Find("slow") != nullptr; }, "the list");
    Check(Models.Find("slow")->CanLoad() && !Models.Find("slow")->CanDownload() && !Models.Find("slow")->CanDelete(), Models.Find("slow")->Facts());
    bool KnowsSlow = false;
    for (const Editor::KnownModel& Each : Models.Known())
    {
        KnowsSlow = KnowsSlow || (Each.Name == "slow" && Each.Type == "language");
    }
    Check(KnowsSlow, "for pickers");
    Models.Load("slow");
    Equal("load", Models.Find("slow")->Task, "under way");
    With.Until([&] { return Models.Find("slow")->Task.empty(); }, "loaded");
    Equal("loaded", Models.Find("slow")->Outcome, "what came of it");
    Check(Models.Find("slow")->IsPinned && !Models.Find("slow")->CanLoad(), "kept");
    With.Until([&] { return Models.Find("slow")->Info.Status == Messages::ModelStatus::Loaded; }, "the list says so");
    Models.Unload("slow");
    With.Until([&] { return Models.Find("slow")->Task.empty(); }, "unloaded");
    Check(!Models.Find("slow")->IsPinned, Models.Find("slow")->Outcome);
    Models.Download("slow");
    With.Until([&] { return Models.Find("slow")->Task.empty(); }, "refused");
    Check(Models.Find("slow")->HasFailed && !Models.Find("slow")->Outcome.empty(), "a model of the package cannot be had");
    Models.Load("nobody"); // nothing is known of it: nothing happens
}

/// The hub holds the first download back until the file `cancelled` is there.
PARLEY_TEST(ModelsAreDownloadedCancelledAndRemoved)
{
    Sidecar With(Given);
    Messages::ConfigureSession Session;
    Session.AllowModelDownload = true;
    With.Core->Configure(Session);
    Editor::ModelManagerModel Models(With.Core);
    Models.Refresh();
    With.Until([&] { return Models.Find("hub-model") != nullptr; }, "the list");
    Check(Models.Find("hub-model")->CanDownload(), Models.Find("hub-model")->Facts());
    Models.Download("hub-model");
    With.Until([&] { return Models.Find("hub-model")->Done > 0; }, "some of it has come");
    Check(Models.Find("hub-model")->Fraction() > 0 && Models.Find("hub-model")->Fraction() < 1, "the progress");
    Check(!Models.Find("hub-model")->CanDownload() && Models.Find("hub-model")->CanCancel(), "once is enough");
    Models.CancelDownload("hub-model");
    With.Until([&] { return Models.Find("hub-model")->Task.empty(); }, "it has stopped");
    Check(Models.Find("hub-model")->HasFailed && !Models.Find("hub-model")->Outcome.empty(), "and says so");
    std::ofstream(Given.at("cancelled")).put('x');
    With.Until([&] { return Models.Find("hub-model")->CanDownload(); }, "it can be had again");
    Models.Download("hub-model");
    With.Until([&] { return Models.Find("hub-model")->Info.Status == Messages::ModelStatus::Downloaded; },
        "it is there; " + Models.Find("hub-model")->Outcome);
    With.Until([&] { return Models.Find("hub-model")->CanDelete(); }, "it can be removed");
    Models.Delete("hub-model");
    With.Until([&] { return Models.Find("hub-model")->Info.Status == Messages::ModelStatus::Absent && Models.Find("hub-model")->Task.empty(); }, "it is gone");
    Check(!std::ifstream(Given.at("model_file")).good(), "its file too");
}
