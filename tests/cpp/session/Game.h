// What stands for a game in this program: a loop that drains a session, and all that came out of it.
#pragma once

#include "Core/Json.h"
#include "Core/ParleySession.h"
#include "Testing.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace Parley::Testing
{

/// Nobody calls it; it stands for a time without end.
constexpr double Forever = 1e18;

/// Seconds of a clock that only goes forward.
double Clock();
void Sleep(double Seconds);
double Number(const std::string& Text);
std::uint64_t Whole(const std::string& Text);
/// A line that whoever started this program waits for.
void Say(const std::string& Line);
Json Words(const std::vector<std::string>& Texts);

/// What a request came to.
struct Answer
{
    std::unique_ptr<Reply> Said;
    std::unique_ptr<Fault> Why;
};

/// Owns a session and notes what comes. Threading: one thread's, as a game's loop is.
class Game final : public IFrameSink
{
public:
    /// Fails where there can be no session.
    explicit Game(SessionOptions Options);
    /// Null where there can be no session.
    static std::unique_ptr<Game> TryMake(SessionOptions Options, Fault& Why);
    /// Options from arguments such as endpoint=tcp://… token=… silence=0.4.
    static SessionOptions Options(const Arguments& Given);
    /// False where libzmq cannot be used.
    static bool TryOptions(const Arguments& Given, SessionOptions& Made, Fault& Why);

    /// Turns the loop until something is so.
    void Until(const std::function<bool()>& IsSo, const std::string& What, double Seconds = 30.0);
    std::string Story();
    /// One turn of the loop.
    void Frame();
    void UntilReady();
    /// Sends a request and turns the loop until its reply is there, or what it is refused with.
    Answer Try(std::unique_ptr<Request> Said, double TimeoutS = 0.0);
    /// As Try, and it must be this reply.
    template <class T, class R>
    T Ask(R Said)
    {
        const std::string Name(Said.TypeName());
        Answer Came = Try(std::make_unique<R>(std::move(Said)));
        Check(Came.Why == nullptr, Name + ": " + (Came.Why != nullptr ? Came.Why->Shown() : ""));
        const T* Found = As<T>(Came.Said.get());
        Check(Found != nullptr, Name + ": another reply");
        return *Found;
    }
    /// As Try, and it must be refused.
    template <class R>
    Fault Refused(R Said, double TimeoutS = 0.0)
    {
        const std::string Name(Said.TypeName());
        Answer Came = Try(std::make_unique<R>(std::move(Said)), TimeoutS);
        Check(Came.Why != nullptr, Name + ": not refused");
        return *Came.Why;
    }
    std::string Agent(const std::string& Model);
    /// Notes the number of a frame whose reply a callback got.
    void Numbered(std::uint64_t Seq);
    bool Has(const std::string& State) const;
    std::vector<Json>& TurnsOf(const std::string& AgentId);
    /// All text of a turn, step by step.
    Json TextsOf(const std::string& AgentId, std::int64_t TurnId) const;
    /// What whoever started this program wants to know.
    Json Report();

    void OnPush(std::unique_ptr<Push> Said, std::vector<std::uint8_t> Payload, std::uint64_t Seq) override;
    void OnReply(std::uint64_t RequestId, std::unique_ptr<Reply> Said) override;
    void OnState(SessionState State, const Fault* Reason) override;

    std::vector<std::uint64_t> Seqs;
    std::vector<std::string> States;
    std::vector<std::string> Orphans;
    int Gaps = 0;
    std::map<std::string, std::vector<Json>> Completes;
    std::map<std::string, std::string> Texts;
    std::function<void(const Push&)> Hears = [](const Push&) {};
    std::unique_ptr<ParleySession> Session;

private:
    Game() = default;

    struct LogLines
    {
        std::mutex Gate;
        std::vector<std::string> Lines;
    };

    static LogSink Into(const std::shared_ptr<LogLines>& Lines);

    std::shared_ptr<LogLines> Log = std::make_shared<LogLines>();
    std::string Reason;
    std::uint64_t LastSeq = 0;
};

/// Scenarios, by the file they are in.
Json Talk(const Arguments& Given);
Json Leave(const Arguments& Given);
Json Follow(const Arguments& Given);
Json Reload(const Arguments& Given);
Json Dropped(const Arguments& Given);

Json Requests(const Arguments& Given);
Json Many(const Arguments& Given);
Json Backlog(const Arguments& Given);
Json Latency(const Arguments& Given);
Json Threads(const Arguments& Given);

Json Hear(const Arguments& Given);
Json Silence(const Arguments& Given);
Json Replaced(const Arguments& Given);
Json Ends(const Arguments& Given);

Json Stops(const Arguments& Given);
Json Cycles(const Arguments& Given);

Json Idle(const Arguments& Given);
Json Burst(const Arguments& Given);
Json Inside(const Arguments& Given);

} // namespace Parley::Testing
