// Sessions that are lost, come back, are taken away, or never begin.
#include "Game.h"

#include "Core/Numbers.h"

#include <utility>

namespace Parley::Testing
{

namespace LosingLocal
{

std::string Said(const Push& Any)
{
    if (const Messages::AnswerText* Answer = As<Messages::AnswerText>(&Any))
    {
        return Answer->Text;
    }
    if (const Messages::Gap* Gap = As<Messages::Gap>(&Any))
    {
        return Numbers::Of(Gap->FromSeq) + "-" + Numbers::Of(Gap->ToSeq);
    }
    return "";
}

} // namespace LosingLocal

// Says "quiet" on stdout; then whoever started this stops the sidecar until it reads "lost".
Json Silence(const Arguments& Given)
{
    Game Played(Game::Options(Given));
    Played.UntilReady();
    const std::string Before = Played.Session->GetReady()->SessionId;
    Say("quiet");
    Played.Until([&Played] { return Played.Has("Lost"); }, "the silence is noticed");
    Say("lost");
    // Asked while nobody is there: answered once somebody is.
    Check(Played.Ask<Messages::Agents>(Messages::ListAgents()).Items.empty(), "agents");
    Check(Played.Has("Back"), "an answer without being back: " + Played.Story());
    Check(
        Played.Session->GetReady()->Resumed && Played.Session->GetReady()->SessionId == Before, "another session");
    Played.Session->Stop(true);
    return Played.Report();
}

// Two objects with one session: the second has it, the first hears so and leaves it alone.
Json Replaced(const Arguments& Given)
{
    Game First(Game::Options(Given));
    First.UntilReady();
    SessionOptions Options = Game::Options(Given);
    Options.ResumeKey = First.Session->GetSessionKey();
    Game Second(std::move(Options));
    Second.UntilReady();
    Check(Second.Session->GetReady()->Resumed, "a new session");
    First.Until(
        [&First] { return First.Session->GetState() == SessionState::Closed && First.Has("Closed"); }, "replaced");
    Check(First.Session->GetEnd() == SessionEnd::Replaced, "the end is another one");
    Check(Second.Ask<Messages::Agents>(Messages::ListAgents()).Items.empty(), "agents");
    Second.Session->Stop(true);
    Json Told = First.Report();
    Told.Set("second", Second.Report());
    return Told;
}

// A session that ends by itself: how.
Json Ends(const Arguments& Given)
{
    Fault Why;
    std::unique_ptr<Game> Played;
    SessionOptions Options;
    if (Game::TryOptions(Given, Options, Why))
    {
        Played = Game::TryMake(std::move(Options), Why);
    }
    if (Played == nullptr)
    {
        Json Told = Json::Object();
        Told.Set("code", Json::Integer(static_cast<int>(Why.Code)));
        Told.Set("code_name", Json::String(Why.Name));
        Told.Set("message", Json::String(Why.Text));
        return Told;
    }
    bool IsTold = false;
    const bool MayBeAnswered = Given.count("answers") != 0;
    Played->Session->Send(
        Messages::ListAgents(), 0.0,
        [&](std::unique_ptr<Reply>, const Fault* Told)
        {
            IsTold = true;
            // Somebody who was there may have answered it.
            Check(
                MayBeAnswered || Told == Played->Session->GetFault().get(),
                "another reason: " + (Told != nullptr ? Told->Shown() : std::string("none")));
        });
    if (Given.count("announce") != 0)
    {
        Played->UntilReady();
        Say("ready");
    }
    Played->Until([&Played] { return Played->Has("Closed"); }, "the end");
    // Behind the end, where it was asked after it.
    Played->Until([&IsTold] { return IsTold; }, "an open request is told of the end", 1.0);
    Played->Session->Stop();
    return Played->Report();
}

// Hears what a sidecar of the test's says until it says Goodbye.
Json Hear(const Arguments& Given)
{
    Game Played(Game::Options(Given));
    std::vector<std::string> Heard;
    const bool IsQuiet = Given.count("quiet") != 0;
    Played.Hears = [&](const Push& Said)
    {
        if (!IsQuiet)
        {
            Heard.push_back(
                Numbers::Of(Played.Session->GetLastSeq()) + " " + std::string(Said.TypeName()) + " "
                + LosingLocal::Said(Said));
        }
    };
    Played.Until([&Played] { return Played.Has("Closed"); }, "the end");
    Json Told = Played.Report();
    Told.Set("heard", Words(Heard));
    return Told;
}

} // namespace Parley::Testing
