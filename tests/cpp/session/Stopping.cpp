// The end of a session on the game's side: soon, in every state, and as often as one likes.
#include "Game.h"

#include "Core/Threads.h"

#include <dirent.h>

#include <iostream>
#include <utility>

namespace Parley::Testing
{

namespace StoppingLocal
{

double Stopped(Game& Played, bool SayBye)
{
    const double Begun = Clock();
    Played.Session->Stop(SayBye);
    const double Took = Clock() - Begun;
    Check(Played.Session->GetState() == SessionState::Closed, "not closed");
    Played.Session->Drain(Played, Forever);
    return Took;
}

int Entries(const char* Folder)
{
    int Count = 0;
    if (DIR* Opened = opendir(Folder))
    {
        while (readdir(Opened) != nullptr)
        {
            ++Count;
        }
        closedir(Opened);
    }
    return Count;
}

// How many threads there are, once none of those that have returned is still on its way out.
int ThreadCount()
{
    Check(Parley::Threads::WaitForAll(1000), "a thread does not end");
    int Before = Entries("/proc/self/task");
    for (int Still = 0; Still < 20;)
    {
        Sleep(0.005);
        const int Now = Entries("/proc/self/task");
        Still = Now == Before ? Still + 1 : 0;
        Before = Now;
    }
    return Before;
}

double Cycle(const Arguments& Given)
{
    Game Played(Game::Options(Given));
    Played.UntilReady();
    Played.Ask<Messages::Agents>(Messages::ListAgents());
    return Stopped(Played, true);
}

} // namespace StoppingLocal

// Stops right after the start, once ready, in the middle of a turn, from a callback, and where nobody is at `nobody` or
// somebody at `mute` never answers. Then says "stop it", and stops two sessions of a sidecar that stands still.
Json Stops(const Arguments& Given)
{
    using StoppingLocal::Stopped;
    Json Took = Json::Object();
    const auto Note = [&Took](const std::string& State, double Seconds) { Took.Set(State, Json::Real(Seconds)); };
    for (const bool SayBye : {false, true})
    {
        const std::string Bye = SayBye ? " with Bye" : "";
        Game Soon(Game::Options(Given));
        Note("at once" + Bye, Stopped(Soon, SayBye));
        Check(SayBye || Soon.Session->GetEnd() == SessionEnd::Stopped, "the end is another one");
        Game Ready(Game::Options(Given));
        Ready.UntilReady();
        Note("ready" + Bye, Stopped(Ready, SayBye));
        Check(
            Ready.Session->GetEnd() == (SayBye ? SessionEnd::Bye : SessionEnd::Stopped), "the end is another one");
        Note("again" + Bye, Stopped(Ready, SayBye));
        Game Busy(Game::Options(Given));
        Busy.UntilReady();
        Messages::SendMessage Line;
        Line.AgentId = "agent1";
        Line.Text = "hold";
        Busy.Ask<Messages::TurnStarted>(std::move(Line));
        Note("in a turn" + Bye, Stopped(Busy, SayBye));
        for (const char* Where : {"nobody", "mute"})
        {
            SessionOptions Options = Game::Options(Given);
            Options.Endpoint = Given.at(Where);
            Game Played(std::move(Options));
            Sleep(0.05);
            Note(Where + Bye, Stopped(Played, SayBye));
        }
        Game Inside(Game::Options(Given));
        Inside.UntilReady();
        double Seconds = 0.0;
        Inside.Session->Send(
            Messages::ListAgents(), 0.0,
            [&](std::unique_ptr<Reply>, const Fault*) { Seconds = Stopped(Inside, SayBye); });
        Inside.Until([&Inside] { return Inside.Has("Closed"); }, "the end");
        Note("in a callback" + Bye, Seconds);
    }
    Game First(Game::Options(Given));
    Game Second(Game::Options(Given));
    First.UntilReady();
    Second.UntilReady();
    Say("stop it");
    std::string Word;
    std::getline(std::cin, Word);
    Note("standing still", Stopped(First, false));
    Note("standing still with Bye", Stopped(Second, true));
    Game Last(Game::Options(Given));
    Note("standing still, at once", Stopped(Last, true));
    Check(Parley::Threads::WaitForAll(1000), "a session that was stopped still has its thread");
    return Took;
}

// Ten sessions, one after the other, and what is left of them.
Json Cycles(const Arguments& Given)
{
    for (int Round = 0; Round < 2; ++Round)
    {
        StoppingLocal::Cycle(Given);
    }
    const int ThreadsBefore = StoppingLocal::ThreadCount();
    const int FilesBefore = StoppingLocal::Entries("/proc/self/fd");
    Json Took = Json::Array();
    for (int Round = 0; Round < 10; ++Round)
    {
        Took.Add(Json::Real(StoppingLocal::Cycle(Given)));
    }
    Json Told = Json::Object();
    Told.Set("took", std::move(Took));
    Told.Set("threads", Json::Integer(StoppingLocal::ThreadCount() - ThreadsBefore));
    Told.Set("files", Json::Integer(StoppingLocal::Entries("/proc/self/fd") - FilesBefore));
    return Told;
}

} // namespace Parley::Testing
