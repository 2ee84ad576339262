// What stands for a game in these programs: its loop, a sidecar as the settings say, and notes of all that happens.
#pragma once

#include "Core/CoreAgent.h"
#include "Core/Json.h"
#include "Core/ParleyCore.h"
#include "Core/SidecarOptions.h"
#include "Testing.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace Parley::Testing
{

class Character;

/// Milliseconds since it was made.
class Watch
{
public:
    double Ms() const
    {
        return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - Begun).count();
    }

    double Seconds() const { return Ms() / 1000.0; }

private:
    std::chrono::steady_clock::time_point Begun = std::chrono::steady_clock::now();
};

/// What a scenario is told.
extern Json Settings;
extern std::shared_ptr<const JsonCodec> Codec;
extern std::shared_ptr<const ZmqApi> Zmq;

/// A field of the settings, or of one of its objects; fails where it is not there.
const Json& Setting(std::string_view Name);
std::string TextOf(std::string_view Name, const char* Default = nullptr);
double NumberOf(std::string_view Name, double Default = -1.0);
bool HasSetting(std::string_view Name);
Json Parsed(std::string_view Text);

/// A game. Threading: one thread's, as a game's loop is.
class World
{
public:
    static constexpr double Patience = 60.0;

    World();
    ~World();
    World(const World&) = delete;
    World& operator=(const World&) = delete;

    CoreOptions Options();
    SidecarOptions Launch();
    World& Begin();
    World& Begin(std::unique_ptr<ParleyCore> Made);
    World& Ready();
    /// Detaches, throws all state away and goes on in a new one.
    static std::unique_ptr<World> Again(std::unique_ptr<World> Before);
    static std::unique_ptr<World> Again(const std::string& State);

    /// The game goes on for a while, until something is so. Seconds that it took.
    double Until(const std::function<bool()>& Condition, const std::string& What, double PatienceS = Patience);
    void Frame();
    void Frames(int Count);
    [[noreturn]] void Fail(const std::string& What);
    void Check(bool IsSo, const std::string& What);
    void Event(const std::string& Text);
    int Count(std::string_view Text) const;
    bool Logged(std::string_view Text) const;
    void Kill();
    void End();
    std::unique_ptr<Character> Make(std::string_view Workflow, AgentOptions Options = {});
    std::unique_ptr<Character> Add(std::string_view Workflow, AgentOptions Options = {});
    std::unique_ptr<Character> Find(std::string_view Key);
    /// Do something that calls back, and wait for that; the fault it brought, or nothing.
    std::optional<Fault> Wait(const std::function<void(DoneCallback)>& Work, const std::string& What);

    std::unique_ptr<ParleyCore> Core;
    std::vector<std::string> Events;
    std::vector<std::string> Log;
    double Longest = 0.0;
    double EndMs = 0.0;
    const std::thread::id Thread = std::this_thread::get_id();
};

/// A character of the game, and what it did.
class Character
{
public:
    Character(World& Of, std::shared_ptr<CoreAgent> Whose);
    ~Character();
    Character(const Character&) = delete;
    Character& operator=(const Character&) = delete;

    /// Say a line and wait for the end of its turn.
    const Messages::TurnComplete& Turn(const std::string& Line);
    /// All that a node said in a turn.
    std::string Said(std::int64_t TurnId, std::string_view Node) const;
    /// Whether anything was said in a turn.
    bool HasFrame(std::int64_t TurnId) const;
    /// The turns of the dialog as `line/status`, joined.
    std::string Turns() const;
    /// The parameters of a node.
    Json Params(const std::string& Node);
    std::string Save();
    /// Whether the sidecar has the dialog that the mirror shows.
    void CheckMirror();

    World& Where;
    const std::shared_ptr<CoreAgent> Agent;
    std::vector<Messages::AnswerText> Frames;
    // Not moved when there are more: tests keep hold of them.
    std::vector<std::unique_ptr<Messages::TurnComplete>> Ends;
    std::vector<std::shared_ptr<ToolCall>> Calls;

private:
    HandlerId OnAnswer = 0;
    HandlerId OnCompleted = 0;
    HandlerId OnCalled = 0;
};

template <class T>
std::string ShownOf(const T& Value)
{
    if constexpr (std::is_enum_v<T>)
    {
        return std::to_string(static_cast<int>(Value));
    }
    else if constexpr (std::is_arithmetic_v<T>)
    {
        return std::to_string(Value);
    }
    else
    {
        return std::string(Value);
    }
}

template <class T, class U>
void Equal(const T& Found, const U& Expected, const std::string& What)
{
    if (!(Found == Expected))
    {
        Fail(What + ": " + ShownOf(Found) + " is not " + ShownOf(Expected));
    }
}

/// A line of text on stdout, at once.
void Tell(const std::string& Line);
bool IsThere(int Pid);
void SendSignal(int Signal, int Pid);
int CountFiles();
int CountThreads();
std::string Shown(const std::optional<Fault>& Why);
Json Numbers(const std::vector<double>& All);
Messages::CreateStringStorage Strings(const std::string& Name, std::vector<std::string> Lines);

using Status = Messages::TurnStatus;
constexpr Status Success = Status::Success;
constexpr Status Cancelled = Status::Cancelled;
constexpr Status Failure = Status::Error;

/// A scenario, by its name; what it reports.
struct Scenario
{
    Scenario(const char* Name, Json (*Play)());
};

} // namespace Parley::Testing
