// The core is deleted in the middle of everything, also by whoever it is calling at the moment.
#include "World.h"

#include "Core/ParleySession.h"
#include "Core/Threads.h"

#include <algorithm>
#include <csignal>
#include <utility>

namespace Parley::Testing
{

namespace
{

/// A game whose handler of one event deletes core, character and itself.
struct Doomed
{
    explicit Doomed(const std::string& When) : Moment(When) {}

    void Play()
    {
        Game.Ready();
        Pid = Game.Core->GetSidecarPid();
        Agent = Game.Make(Moment == "ToolCalled" || Moment == "NodeHappened" ? "tools" : "slow")->Agent;
        Listen();
        if (Moment == "Posted")
        {
            Game.Core->Post([this] { End("Posted"); });
            Game.Core->Post([] {});
        }
        else if (Moment == "Answered")
        {
            Asked++;
            Game.Core->Request(
                std::make_shared<Messages::ListModels>(),
                [this](std::unique_ptr<Reply>, const Fault*)
                {
                    Answers++;
                    End("Answered");
                });
        }
        else if (Moment == "Saved")
        {
            Asked++;
            Agent->SaveDialog(
                [this](const std::string&, const Fault*)
                {
                    Answers++;
                    End("Saved");
                });
        }
        else
        {
            Asked += 3;
            // What it destroys itself is not asked of it afterwards.
            const std::shared_ptr<CoreAgent> Asking = Agent;
            Asking->SetVariable("level", Json::Integer(3), [this](const Fault*) { Answers++; });
            Asking->Say("Hello?", [this](const Messages::TurnComplete& How) { Ended(How); });
            Asking->Say("And then?", [this](const Messages::TurnComplete&) { Answers++; });
            if (Moment == "Gone" || Moment == "StateChanged")
            {
                Game.Kill();
            }
            else if (Moment == "Stopping")
            {
                Game.Core->Stop();
            }
            else if (Moment == "Destroyed")
            {
                Agent->Destroy();
            }
        }
        Game.Until([this] { return Game.Core == nullptr; }, "the core is deleted in " + Moment);
        Check(Agent == nullptr, "nobody deleted the agent");
        Equal(Answers, Asked, "answers to all that was asked, in " + Moment);
        Check(Threads::WaitForAll(5000), "a thread of the core goes on");
        Check(!IsThere(Pid), "the sidecar is still there");
    }

    void Listen()
    {
        Game.Core->Gone.Add([this](const std::string&) { End("Gone"); });
        Game.Core->StateChanged.Add(
            [this](CoreState State)
            {
                if (State == CoreState::Gone)
                {
                    End("StateChanged");
                }
                else if (State == CoreState::Stopping)
                {
                    End("Stopping");
                }
            });
        Game.Core->Pushed.Add([this](const Push&) { End("Pushed"); });
        Agent->Answer.Add([this](const Messages::AnswerText&) { End("Answer"); });
        Agent->NodeHappened.Add([this](const Messages::NodeEvent&) { End("NodeHappened"); });
        Agent->ToolCalled.Add(
            [this](const std::shared_ptr<ToolCall>& Call)
            {
                End("ToolCalled");
                Call->Reply("open");
            });
        Agent->TurnCompleted.Add(
            [this](const Messages::TurnComplete&)
            {
                End("TurnCompleted");
                End("Destroyed");
            });
        // Whoever comes behind the one that deleted all is called nevertheless, as it was there when it happened.
        Agent->Answer.Add([](const Messages::AnswerText& Frame) { Check(!Frame.NodeName.empty(), "a frame of nobody"); });
    }

    void Ended(const Messages::TurnComplete&)
    {
        End("Ended");
        Answers++;
    }

    void End(const std::string& Now)
    {
        if (Now != Moment || Game.Core == nullptr)
        {
            return;
        }
        Game.Core = nullptr;
        Agent = nullptr;
    }

    const std::string Moment;
    World Game;
    std::shared_ptr<CoreAgent> Agent;
    int Pid = 0;
    int Answers = 0;
    int Asked = 0;
};

Json Inside()
{
    Json Report = Json::Array();
    for (const Json& Moment : Setting("moments").Items())
    {
        Doomed(Moment.AsText()).Play();
        Report.Add(Moment);
    }
    return Report;
}

/// Deleted without a word, in every phase of its life: nothing is left.
Json Anytime()
{
    for (const std::string Moment : {"new", "starting", "launched", "ready", "making", "talking", "gone", "stopping"})
    {
        World Game;
        Game.Begin();
        std::shared_ptr<CoreAgent> Agent;
        int Pid = 0;
        if (Moment != "new")
        {
            Game.Core->Start([](const Fault*) {});
        }
        if (Moment == "launched")
        {
            Game.Until([&Game] { return Game.Core->GetSidecarPid() != 0; }, "a process is there");
        }
        else if (Moment != "new" && Moment != "starting")
        {
            Game.Until([&Game] { return Game.Core->GetState() == CoreState::Ready; }, "it is ready");
        }
        Pid = Game.Core->GetSidecarPid();
        if (Moment == "making")
        {
            AgentOptions Options;
            Options.Workflow = *Setting("workflows").Find("slow");
            Options.SeedDialog = Json::Array();
            Agent = Game.Core->CreateAgent(std::move(Options), [](const Fault* Why) { Check(Why != nullptr, "made"); });
            Agent->LoadDialog("[]");
            Game.Frame();
        }
        else if (Moment != "new" && Moment != "starting" && Moment != "launched")
        {
            Agent = Game.Make("slow")->Agent;
            Agent->Say("Hello?");
            Agent->Say("Waits");
            Agent->SetVariable("level", Json::Integer(3));
            Game.Frames(5);
        }
        if (Moment == "gone")
        {
            Game.Kill();
            Game.Until([&Game] { return Game.Core->GetState() == CoreState::Gone; }, "it is gone");
        }
        else if (Moment == "stopping")
        {
            Game.Core->Stop([] { Fail("told of an end that it did not wait for"); });
        }
        const Watch Since;
        Game.Core = nullptr;
        Check(Since.Ms() < 300.0, "to delete it took " + std::to_string(Since.Ms()) + " ms");
        Check(Threads::WaitForAll(5000), "a thread of the core goes on");
        Check(Pid == 0 || !IsThere(Pid), "the sidecar is still there");
        if (Agent != nullptr)
        {
            // It is as one without a sidecar, and answers at once: there is no Update any more.
            Check(!Agent->IsBusy(), "a line has no end");
            Equal(Agent->Say("Anybody?"), SayOutcome::Unavailable, "a line to nobody");
            int Answers = 0;
            const DoneCallback Note = [&Answers](const Fault* Why)
            {
                Check(Why != nullptr && Why->Name == "SidecarFailed", "the fault");
                Answers++;
            };
            Agent->SetVariable("level", Json::Integer(3), Note);
            Agent->LoadDialog("[]", Note);
            Agent->TruncateDialog(0, Note);
            Agent->SaveDialog(
                [&Answers](const std::string& Text, const Fault* Why)
                {
                    Check(Why == nullptr && !Text.empty(), "no dialog");
                    Answers++;
                });
            Agent->Cancel();
            Agent->Destroy();
            Equal(Answers, 4, "answers");
        }
    }
    return Json::Object();
}

const Scenario Scenarios[] = {{"delete_inside", Inside}, {"delete_anytime", Anytime}};

} // namespace

} // namespace Parley::Testing
