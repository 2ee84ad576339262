// A conversation with two agents at once, whole or in two lives.
#include "Game.h"

#include "Core/Numbers.h"

#include <csignal>
#include <utility>

namespace Parley::Testing
{

namespace TalkingLocal
{

constexpr int CancelledLine = 2;
constexpr int Lines = 5;

const std::string& Text(const Json& Of, std::string_view Name)
{
    const Json* Found = Of.Find(Name);
    Check(Found != nullptr, "no field " + std::string(Name));
    return Found->AsText();
}

std::int64_t TurnOf(const Json& Complete)
{
    std::int64_t Turn = 0;
    const Json* Found = Complete.Find("turn_id");
    Check(Found != nullptr && Found->ToInt64(Turn), "no turn_id");
    return Turn;
}

void CheckOutputs(const Json& Complete, const Json& Texts)
{
    const Json* Interaction = Complete.Find("interaction");
    const Json* Outputs = Interaction != nullptr ? Interaction->Find("outputs") : nullptr;
    Check(Outputs != nullptr && Outputs->Items().size() == Texts.Items().size(), "steps: " + WriteJson(Complete));
    for (std::size_t Step = 0; Step < Texts.Items().size(); ++Step)
    {
        const Json& Output = Outputs->Items()[Step];
        Check(
            Text(Output, "text") == Texts.Items()[Step].AsText(),
            "heard '" + Texts.Items()[Step].AsText() + "' of " + WriteJson(Output));
    }
}

Messages::SendMessage Line(const std::string& AgentId, const std::string& Said)
{
    Messages::SendMessage Made;
    Made.AgentId = AgentId;
    Made.Text = Said;
    return Made;
}

std::int64_t Begin(Game& Played, const std::string& AgentId)
{
    const std::int64_t Turn = Played.Ask<Messages::TurnStarted>(Line(AgentId, "tell me")).TurnId;
    const std::string Key = AgentId + "/" + Numbers::Of(Turn) + "/1";
    Played.Until([&Played, &Key] { return Played.Texts[Key].size() > 10; }, "some of the turn's text");
    return Turn;
}

Json GoOn(SessionOptions Options, const std::string& AgentId, std::int64_t Turn, const std::string& Heard)
{
    Game Played(std::move(Options));
    Played.Texts[AgentId + "/" + Numbers::Of(Turn) + "/1"] = Heard;
    Played.UntilReady();
    Check(Played.Session->GetReady()->Resumed, "a new session");
    Played.Until([&] { return Played.TurnsOf(AgentId).size() == 1; }, "the end of the turn");
    CheckOutputs(Played.TurnsOf(AgentId)[0], Played.TextsOf(AgentId, Turn));
    Played.Ask<Messages::TurnStarted>(Line(AgentId, "another"));
    Played.Until([&] { return Played.TurnsOf(AgentId).size() == 2; }, "the end of the next turn");
    Played.Session->Stop(true);
    Json Told = Played.Report();
    Told.Set("texts", Played.TextsOf(AgentId, Turn));
    return Told;
}

} // namespace TalkingLocal

// Five turns of two agents; the third of the first is cancelled.
Json Talk(const Arguments& Given)
{
    namespace Here = TalkingLocal;
    Game Played(Game::Options(Given));
    Played.UntilReady();
    const std::string Names[] = {"innkeeper", "guard"};
    const std::string Agents[] = {Played.Agent(Names[0]), Played.Agent(Names[1])};
    Json Said[] = {Json::Array(), Json::Array()};
    for (int Line = 0; Line < Here::Lines; ++Line)
    {
        Messages::SetVariables Mood;
        Mood.AgentId = Agents[0];
        Mood.Values = Json::Object();
        Mood.Values.Set("mood", Json::String("mood" + Numbers::Of(Line)));
        Played.Ask<Messages::Ok>(std::move(Mood));
        std::int64_t Turns[2];
        for (int Who = 0; Who < 2; ++Who)
        {
            Turns[Who] = Played.Ask<Messages::TurnStarted>(
                Here::Line(Agents[Who], Names[Who] + " line " + Numbers::Of(Line))).TurnId;
        }
        if (Line == 1 && Given.count("announce") != 0)
        {
            Say("talking");
        }
        if (Line == Here::CancelledLine)
        {
            Played.Until(
                [&] { return !Played.TextsOf(Agents[0], Turns[0]).Items().empty(); },
                "the turn to be cancelled says something");
            Messages::CancelTurn Enough;
            Enough.AgentId = Agents[0];
            Enough.TurnId = Turns[0];
            Played.Ask<Messages::Ok>(std::move(Enough));
        }
        for (int Who = 0; Who < 2; ++Who)
        {
            const std::size_t Count = static_cast<std::size_t>(Line) + 1;
            Played.Until(
                [&] { return Played.TurnsOf(Agents[Who]).size() == Count; }, "the end of line " + Numbers::Of(Line));
            const Json& Complete = Played.TurnsOf(Agents[Who]).back();
            Check(Here::TurnOf(Complete) == Turns[Who], "another turn's end");
            const Json Texts = Played.TextsOf(Agents[Who], Turns[Who]);
            const bool IsCancelled = Line == Here::CancelledLine && Who == 0;
            Json& Noted = Said[Who].Add(Json::Object());
            // Where the connection broke, it may be over before it is cancelled.
            Noted.Set("status", Json::String(IsCancelled ? "any" : Here::Text(Complete, "status")));
            Noted.Set("texts", IsCancelled ? Json::Array() : Texts);
            Here::CheckOutputs(Complete, Texts);
        }
    }
    Json Turns = Json::Object();
    for (int Who = 0; Who < 2; ++Who)
    {
        Messages::ExportDialog Wanted;
        Wanted.AgentId = Agents[Who];
        const Json Dialog = Played.Ask<Messages::Dialog>(std::move(Wanted)).ToJson();
        std::int64_t Total = 0;
        Check(Dialog.Find("total")->ToInt64(Total) && Total == Here::Lines, "the dialog: " + WriteJson(Dialog));
        const Json* Interactions = Dialog.Find("dialog")->Find("interactions");
        Check(Interactions != nullptr && Interactions->Items().size() == Here::Lines, "the dialog: " + WriteJson(Dialog));
        for (std::size_t Line = 0; Line < Here::Lines; ++Line)
        {
            Check(
                Interactions->Items()[Line] == *Played.TurnsOf(Agents[Who])[Line].Find("interaction"),
                "the dialog has something else than the turn's end told");
        }
        Turns.Set(Names[Who], std::move(Said[Who]));
    }
    Played.Session->Stop(true);
    Played.Session->Drain(Played, Forever);
    Json Told = Played.Report();
    Told.Set("turns", std::move(Turns));
    return Told;
}

// Begins a turn, hears some of it, tells what another life needs, and dies without a word.
Json Leave(const Arguments& Given)
{
    Game Played(Game::Options(Given));
    Played.UntilReady();
    const std::string Agent = Played.Agent("innkeeper");
    const std::int64_t Turn = TalkingLocal::Begin(Played, Agent);
    // Read but not handed on, for some heartbeats: this must not count as what the game had.
    const std::size_t Before = Played.Session->GetWaiting();
    const double Begun = Clock();
    while (Played.Session->GetWaiting() < Before + 3 || Clock() - Begun < 0.5)
    {
        Sleep(0.005);
    }
    Json Left = Played.Report();
    Left.Set("agent_id", Json::String(Agent));
    Left.Set("turn_id", Json::Integer(Turn));
    Left.Set("texts", Played.TextsOf(Agent, Turn));
    Say(WriteJson(Left));
    std::raise(SIGKILL);
    return Left;
}

// Takes up what Leave left; the turn's end must come, and another turn must go.
Json Follow(const Arguments& Given)
{
    return TalkingLocal::GoOn(
        Game::Options(Given), Given.at("agent_id"), static_cast<std::int64_t>(Whole(Given.at("turn_id"))),
        Given.at("texts"));
}

// Stops in the middle of a turn, throws everything away, and goes on with another object.
Json Reload(const Arguments& Given)
{
    SessionOptions Options = Game::Options(Given);
    std::string Agent;
    std::string Heard;
    std::int64_t Turn = 0;
    {
        Game Played(Game::Options(Given));
        Played.UntilReady();
        Agent = Played.Agent("innkeeper");
        Turn = TalkingLocal::Begin(Played, Agent);
        Played.Session->Stop();
        Check(Played.Session->GetEnd() == SessionEnd::Stopped, "the end is another one");
        Played.Session->Drain(Played, Forever);
        Check(Played.TurnsOf(Agent).empty(), "the turn was over too soon for this test");
        Options.ResumeKey = Played.Session->GetSessionKey();
        Options.LastSeq = Played.Session->GetLastSeq();
        Options.LastRequestId = Played.Session->GetLastRequestId();
        Heard = Played.TextsOf(Agent, Turn).Items()[0].AsText();
    }
    return TalkingLocal::GoOn(std::move(Options), Agent, Turn, Heard);
}

// A session that nobody stops goes with everything else, as when a module is unloaded; the next one goes on.
Json Dropped(const Arguments& Given)
{
    SessionOptions Options = Game::Options(Given);
    Json Left;
    double Took = 0.0;
    {
        std::unique_ptr<Game> Played = std::make_unique<Game>(Game::Options(Given));
        Played->UntilReady();
        Played->Ask<Messages::TurnStarted>(TalkingLocal::Line("agent1", "hold"));
        Played->Until([&Played] { return !Played->Texts.empty(); }, "some text");
        // A callback that is never called: what it holds goes with the session all the same, whoever keeps the request.
        std::shared_ptr<int> Held = std::make_shared<int>(1);
        const std::shared_ptr<PendingRequest> Kept = Played->Session->Send(
            TalkingLocal::Line("agent1", "never"), ParleySession::NoTimeout,
            [Held](std::unique_ptr<Reply>, const Fault*) { Fail("called by nobody"); });
        Left = Played->Report();
        const double Begun = Clock();
        Played.reset();
        Took = Clock() - Begun;
        Check(Held.use_count() == 1 && Kept->IsFinished(), "a callback outlives its session");
    }
    Options.ResumeKey = Left.Find("session_key")->AsText();
    Options.LastSeq = Whole(Left.Find("last_seq")->AsText());
    Options.LastRequestId = Whole(Left.Find("last_request_id")->AsText());
    Game Next(std::move(Options));
    Next.UntilReady();
    Check(Next.Session->GetReady()->Resumed, "a new session");
    Messages::CancelTurn Enough;
    Enough.AgentId = "agent1";
    Next.Ask<Messages::Ok>(std::move(Enough));
    Next.Until([&Next] { return !Next.Completes.empty(); }, "the end of the turn");
    Next.Session->Stop(true);
    Json Told = Next.Report();
    Told.Set("took", Json::Real(Took));
    Told.Set("left", std::move(Left));
    return Told;
}

} // namespace Parley::Testing
