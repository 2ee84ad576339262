// Requests: answered, refused, late, given up, too large; from many threads; and very many frames.
#include "Game.h"

#include "Core/Numbers.h"

#include <algorithm>
#include <atomic>
#include <ctime>
#include <thread>
#include <utility>

namespace Parley::Testing
{

namespace AskingLocal
{

Messages::SendMessage Line(const std::string& Text)
{
    Messages::SendMessage Made;
    Made.AgentId = "agent1";
    Made.Text = Text;
    return Made;
}

Messages::ValidateWorkflow Quick()
{
    Messages::ValidateWorkflow Made;
    Made.Workflow = Json::Object();
    return Made;
}

double Processor()
{
    timespec Spent{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &Spent);
    return static_cast<double>(Spent.tv_sec) + static_cast<double>(Spent.tv_nsec) / 1e9;
}

// Something of the game's that a callback holds: it may end on the game's thread only.
struct Held
{
    explicit Held(std::atomic<int>& InAlive) : Alive(InAlive) { ++Alive; }
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;
    ~Held()
    {
        Check(std::this_thread::get_id() == Maker, "what a callback holds ended on another thread");
        --Alive;
    }

    std::atomic<int>& Alive;
    const std::thread::id Maker = std::this_thread::get_id();
};

void GiveUp(Game& Played)
{
    std::atomic<int> Alive{0};
    const auto Never = [&Alive]
    {
        return [Kept = std::make_shared<Held>(Alive)](std::unique_ptr<Reply>, const Fault*)
        { Fail("called though it was given up"); };
    };
    std::shared_ptr<PendingRequest> Asked = Played.Session->Send(Line("never"), 0.0, Never());
    Played.Frame();
    Check(!Asked->IsFinished(), "done before it was given up");
    Check(Asked->GiveUp() && !Asked->GiveUp(), "not given up once");
    Check(Alive == 0, "a request that was given up keeps what its callback holds");
    Check(Played.Session->Send(Line("never"), 0.0, Never())->GiveUp(), "not given up at once");
    bool IsAnswered = false;
    Asked = Played.Session->Send(
        Messages::ListAgents(), 0.0,
        [&, Kept = std::make_shared<Held>(Alive)](std::unique_ptr<Reply> Told, const Fault*)
        {
            Check(As<Messages::Agents>(Told.get()) != nullptr, "its kind");
            Played.Numbered(Played.Session->GetLastSeq());
            IsAnswered = true;
        });
    Played.Until([&IsAnswered] { return IsAnswered; }, "an answer behind what was given up");
    Check(!Asked->GiveUp(), "given up after its answer");
    Check(Alive == 0, "a request that was answered keeps what its callback holds");
}

} // namespace AskingLocal

// Against a sidecar with fake sessions.
Json Requests(const Arguments& Given)
{
    using AskingLocal::Line;
    SessionOptions Options = Game::Options(Given);
    Options.MaxJsonBytes = 100000;
    Game Played(std::move(Options));
    // Asked before there is a session: it waits for one.
    Check(Played.Ask<Messages::Agents>(Messages::ListAgents()).Items.empty(), "agents");
    Check(Played.States[0] == "Ready", "an answer before Ready: " + Played.Story());

    const Fault Busy = Played.Refused(Line("busy"));
    Check(Busy.Code == ErrorCode::AgentBusy && Busy.Name == "AgentBusy", "busy: " + Busy.Shown());
    Check(Busy.AgentId == "agent1", "the error does not name the agent");
    Messages::CreateAgent Nothing;
    Nothing.Workflow = Json::Object();
    const Fault Invalid = Played.Refused(std::move(Nothing));
    Check(Invalid.Code == ErrorCode::WorkflowInvalid && Invalid.Problems.size() == 1, "invalid: " + Invalid.Shown());
    Check(Invalid.Problems[0].Path == "$.name", "its path: " + Invalid.Problems[0].Path);
    const Fault Bug = Played.Refused(Line("raise"));
    Check(Bug.Code == ErrorCode::None && Bug.Name == "InternalError", "a bug: " + Bug.Shown());

    const Fault Late = Played.Refused(Line("never"), 0.2);
    Check(Late.Is(LocalFaults::TimedOut) && Late.Text.find("0.2 s") != std::string::npos, "late: " + Late.Shown());

    const Fault Large = Played.Refused(Line(std::string(100000, 'x')));
    Check(
        Large.Code == ErrorCode::MessageTooLarge && Large.Text.find("100000") != std::string::npos,
        "large: " + Large.Shown());

    AskingLocal::GiveUp(Played);
    // A reply that nobody waits for any more is told of.
    const Fault Slow = Played.Refused(Line("block 0.3"), 0.1);
    Check(Slow.Is(LocalFaults::TimedOut), "slow: " + Slow.Shown());
    Played.Until([&Played] { return !Played.Orphans.empty(); }, "the late reply");
    Check(Played.Orphans[0].size() > 3 && Played.Orphans[0].substr(Played.Orphans[0].size() - 3) == " Ok",
          "the late reply: " + Played.Orphans[0]);

    // In order, and each once, though all are on their way together.
    std::vector<int> Order;
    for (int Number = 0; Number < 3000; ++Number)
    {
        Played.Session->Send(
            AskingLocal::Quick(), 0.0,
            [&Played, &Order, Number](std::unique_ptr<Reply> Told, const Fault* Why)
            {
                Check(As<Messages::Validation>(Told.get()) != nullptr, Why != nullptr ? Why->Shown() : "another reply");
                Played.Numbered(Played.Session->GetLastSeq());
                Order.push_back(Number);
            });
    }
    Played.Until([&Order] { return Order.size() == 3000; }, "3000 answers");
    Check(std::is_sorted(Order.begin(), Order.end()), "answers out of order");

    std::string Told;
    Played.Session->Send(
        Line("never"), ParleySession::NoTimeout,
        [&Told](std::unique_ptr<Reply>, const Fault* Why) { Told += Why != nullptr ? Why->Name : "no fault"; });
    Played.Session->Stop(true);
    const Fault Closed = Played.Refused(Messages::ListAgents());
    Check(Closed.Is(LocalFaults::SessionClosed), "closed: " + Closed.Shown());
    // The sidecar may have answered it before it answered Bye.
    Check(
        Told == LocalFaults::SessionClosed || Told == "SessionExpired",
        "what was open when the session ended was told '" + Told + "'");
    Check(Played.Session->GetEnd() == SessionEnd::Bye, "the end is another one");
    return Played.Report();
}

// Several threads ask at once while the game drains: each is answered once, on the game's thread.
Json Threads(const Arguments& Given)
{
    constexpr int Askers = 4;
    constexpr int Each = 200;
    Game Played(Game::Options(Given));
    Played.UntilReady();
    const std::thread::id Here = std::this_thread::get_id();
    std::vector<int> Answers(Askers * Each, 0);
    int Count = 0;
    std::vector<std::thread> Asking;
    for (int Asker = 0; Asker < Askers; ++Asker)
    {
        Asking.emplace_back(
            [&, Asker]
            {
                for (int At = 0; At < Each; ++At)
                {
                    const std::size_t Place = static_cast<std::size_t>(Asker * Each + At);
                    Played.Session->Send(
                        AskingLocal::Quick(), 0.0,
                        [&Answers, &Count, &Played, Here, Place](std::unique_ptr<Reply>, const Fault* Why)
                        {
                            Check(Why == nullptr, Why != nullptr ? Why->Shown() : "");
                            Check(std::this_thread::get_id() == Here, "called on another thread");
                            Played.Numbered(Played.Session->GetLastSeq());
                            ++Answers[Place];
                            ++Count;
                        });
                    Check(Played.Session->GetState() == SessionState::Ready, "not ready");
                    Check(!Played.Session->GetSessionKey().empty(), "no key");
                }
            });
    }
    Played.Until([&Count] { return Count == Askers * Each; }, "all answers");
    for (std::thread& Asker : Asking)
    {
        Asker.join();
    }
    Check(
        std::all_of(Answers.begin(), Answers.end(), [](int Times) { return Times == 1; }), "one was answered twice");
    Played.Session->Stop(true);
    return Played.Report();
}

// Tens of thousands of frames, while the game looks only now and then.
Json Many(const Arguments& Given)
{
    const std::uint64_t Count = Whole(Given.at("count"));
    Game Played(Game::Options(Given));
    Played.UntilReady();
    std::uint64_t Heard = 0;
    Played.Hears = [&Played, &Heard](const Push& Said)
    {
        if (const Messages::AnswerText* Answer = As<Messages::AnswerText>(&Said))
        {
            Check(Answer->Text == Numbers::Of(Heard) + " ", "frame " + Numbers::Of(Heard) + " says " + Answer->Text);
            ++Heard;
        }
        Played.Texts.clear();
    };
    Played.Ask<Messages::TurnStarted>(AskingLocal::Line("say " + Given.at("count")));
    Played.Until([&Played] { return !Played.Completes.empty(); }, "the end of the turn", 60.0);
    Check(Heard == Count, "heard " + Numbers::Of(Heard));
    Played.Session->Stop(true);
    Json Told = Played.Report();
    Told.Set("seqs", Json::Unsigned(Played.Seqs.size()));
    Told.Set("last", Json::Unsigned(Played.Seqs.back()));
    return Told;
}

// Far more than a game that looks away may have waiting: the rest waits in the sidecar, and all of it comes.
Json Backlog(const Arguments& Given)
{
    const std::uint64_t Count = Whole(Given.at("count"));
    Game Played(Game::Options(Given));
    Played.UntilReady();
    std::uint64_t Next = 0;
    Played.Hears = [&Played, &Next](const Push& Said)
    {
        if (const Messages::AnswerText* Answer = As<Messages::AnswerText>(&Said))
        {
            // Frames that were merged: their texts, one behind the other.
            std::size_t At = Answer->Text.find_first_not_of(' ');
            while (At != std::string::npos)
            {
                const std::size_t End = (std::min)(Answer->Text.find(' ', At), Answer->Text.size());
                const std::string Number = Answer->Text.substr(At, End - At);
                Check(Whole(Number) == Next, Number + " where " + Numbers::Of(Next) + " was due");
                ++Next;
                At = Answer->Text.find_first_not_of(' ', End);
            }
            Played.Texts.clear();
        }
        const Messages::Gap* Gap = As<Messages::Gap>(&Said);
        Check(Gap == nullptr || Gap->Reason == Messages::GapReason::Merged, "frames are lost");
    };
    Played.Ask<Messages::TurnStarted>(AskingLocal::Line("say " + Given.at("count") + " " + Given.at("padding")));
    std::size_t Most = 0;
    for (int Still = 0; Still < 100;)
    {
        Sleep(0.005);
        const std::size_t Waiting = Played.Session->GetWaiting();
        Still = Waiting == Most ? Still + 1 : 0;
        Most = (std::max)(Most, Waiting);
    }
    Check(Played.Session->GetState() == SessionState::Ready, "not ready");
    Played.Until([&Played] { return !Played.Completes.empty(); }, "the end of the turn", 200.0);
    Check(Next == Count, "heard " + Numbers::Of(Next));
    Played.Session->Stop(true);
    Json Told = Json::Object();
    Told.Set("most", Json::Unsigned(Most));
    Told.Set("states", Words(Played.States));
    return Told;
}

// How long a request takes there and back, in milliseconds.
Json Latency(const Arguments& Given)
{
    Game Played(Game::Options(Given));
    Played.UntilReady();
    std::vector<double> Took;
    for (int Round = 0; Round < 200; ++Round)
    {
        bool IsThere = false;
        const double Begun = Clock();
        Played.Session->Send(
            AskingLocal::Quick(), 0.0, [&IsThere](std::unique_ptr<Reply>, const Fault*) { IsThere = true; });
        while (!IsThere)
        {
            Played.Session->Drain(Played, 1.0);
            std::this_thread::yield();
        }
        Took.push_back((Clock() - Begun) * 1000.0);
    }
    const double Before = AskingLocal::Processor();
    Sleep(1.0);
    const double Idle = AskingLocal::Processor() - Before;
    Played.Session->Stop(true);
    std::sort(Took.begin(), Took.end());
    Json Told = Json::Object();
    Told.Set("median", Json::Real(Took[Took.size() / 2]));
    Told.Set("p90", Json::Real(Took[Took.size() * 9 / 10]));
    Told.Set("idle_ms", Json::Real(Idle * 1000.0));
    return Told;
}

} // namespace Parley::Testing
