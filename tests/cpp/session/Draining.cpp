// What a game's frame costs: nothing where nothing came, and not more than its budget where much did.
#include "Game.h"

#include "Core/Numbers.h"

#include <cstdlib>
#include <new>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define PARLEY_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define PARLEY_SANITIZED 1
#endif
#endif
#ifndef PARLEY_SANITIZED
#define PARLEY_SANITIZED 0
#endif

#if PARLEY_SANITIZED
// As <sanitizer/allocator_interface.h> has it, which not every compiler brings along.
extern "C" int __sanitizer_install_malloc_and_free_hooks(
    void (*OnMalloc)(const volatile void*, std::size_t), void (*OnFree)(const volatile void*));
#endif

namespace Parley::Testing
{

namespace DrainingLocal
{

// Of the thread that looks at it.
thread_local std::uint64_t Allocations = 0;

// Waits, without draining, until a turn of so many frames is there, with its end and its reply.
void Gather(Game& Played, std::size_t Frames)
{
    Messages::SendMessage Line;
    Line.AgentId = "agent1";
    Line.Text = "say " + Numbers::Of(Frames);
    Played.Session->Send(std::move(Line));
    const double Begun = Clock();
    while (Played.Session->GetWaiting() < Frames + 2)
    {
        Check(Clock() - Begun < 30.0, "they do not come; " + Played.Story());
        Sleep(0.001);
    }
}

// Only counts: what a game does with a frame is the game's.
class Counter final : public IFrameSink
{
public:
    void OnPush(std::unique_ptr<Push>, std::vector<std::uint8_t>, std::uint64_t) override { ++Heard; }
    void OnReply(std::uint64_t, std::unique_ptr<Reply>) override {}
    void OnState(SessionState, const Fault*) override {}

    int Heard = 0;
};

} // namespace DrainingLocal

// A million frames of a game in which nothing comes.
Json Idle(const Arguments& Given)
{
    constexpr int Frames = 1000000;
    Game Played(Game::Options(Given));
    Played.UntilReady();
    Played.Session->Drain(Played, 1.0);
    std::uint64_t Before = DrainingLocal::Allocations;
    const double Begun = Clock();
    int Handed = 0;
    for (int Frame = 0; Frame < Frames; ++Frame)
    {
        Handed += Played.Session->Drain(Played, 1.0);
    }
    const double Took = Clock() - Begun;
    const std::uint64_t Allocated = DrainingLocal::Allocations - Before;
    Before = DrainingLocal::Allocations;
    const std::string Control(100, 'x');
    const std::uint64_t OfControl = DrainingLocal::Allocations - Before;
    Played.Session->Stop(true);
    Json Told = Json::Object();
    Told.Set("handed", Json::Integer(Handed));
    Told.Set("allocations", Json::Unsigned(Allocated));
    Told.Set("allocations_of_control", Json::Unsigned(OfControl + Control.size() - 100));
    Told.Set("us", Json::Real(Took * 1e6 / Frames));
    return Told;
}

// 200 frames wait; they are drained at once, and with a budget.
Json Burst(const Arguments& Given)
{
    constexpr std::size_t Frames = 200;
    Game Played(Game::Options(Given));
    Played.UntilReady();
    Json Took = Json::Array();
    Json Allocated = Json::Array();
    for (int Round = 0; Round < 7; ++Round)
    {
        DrainingLocal::Gather(Played, Frames);
        DrainingLocal::Counter Sink;
        const std::uint64_t Before = DrainingLocal::Allocations;
        const double Begun = Clock();
        Played.Session->Drain(Sink, Forever);
        const double Seconds = Clock() - Begun;
        const std::uint64_t Made = DrainingLocal::Allocations - Before;
        Took.Add(Json::Real(Seconds * 1000.0));
        Allocated.Add(Json::Unsigned(Made));
        Check(Sink.Heard == Frames + 1, "heard " + Numbers::Of(Sink.Heard));
    }
    // A receiver that takes 2 ms for each frame gets one a time.
    int Heard = 0;
    Played.Hears = [&Heard](const Push&)
    {
        ++Heard;
        const double Begun = Clock();
        while (Clock() - Begun < 0.002)
        {
        }
    };
    DrainingLocal::Gather(Played, 20);
    // The reply, which nobody takes, and one frame.
    Check(Played.Session->Drain(Played, 1.0) == 2 && Heard == 1, "more or less than the budget allows");
    Check(Played.Session->Drain(Played, 5.0) <= 3, "far more than the budget allows");
    Played.Session->Stop(true);
    Json Told = Json::Object();
    Told.Set("ms", std::move(Took));
    Told.Set("allocations", std::move(Allocated));
    return Told;
}

// Draining while it is drained: nothing, not out of order.
Json Inside(const Arguments& Given)
{
    Game Played(Game::Options(Given));
    Played.UntilReady();
    std::string Heard;
    Played.Hears = [&Played, &Heard](const Push& Said)
    {
        Check(Played.Session->Drain(Played, 1.0) == 0, "drained inside itself");
        if (const Messages::AnswerText* Answer = As<Messages::AnswerText>(&Said))
        {
            Heard += Answer->Text;
        }
    };
    Messages::SendMessage Line;
    Line.AgentId = "agent1";
    Line.Text = "say 5";
    Played.Session->Send(
        std::move(Line), 0.0,
        [&Played](std::unique_ptr<Reply>, const Fault*)
        {
            Played.Numbered(Played.Session->GetLastSeq());
            Check(Played.Session->Drain(Played, 1.0) == 0, "drained inside itself");
        });
    Played.Until([&Played] { return !Played.Completes.empty(); }, "the end of the turn");
    Check(Heard == "0 1 2 3 4 ", "heard " + Heard);
    Played.Session->Stop(true);
    return Played.Report();
}

} // namespace Parley::Testing

#if PARLEY_SANITIZED

// The sanitizer's own allocator tells.
namespace Parley::Testing::DrainingLocal
{

void Count(const volatile void*, std::size_t)
{
    ++Allocations;
}

const int Installed = __sanitizer_install_malloc_and_free_hooks(Count, [](const volatile void*) {});

} // namespace Parley::Testing::DrainingLocal

#else

// All of this program's: the core's, the standard library's and libzmq's.
void* operator new(std::size_t Size)
{
    ++Parley::Testing::DrainingLocal::Allocations;
    void* Room = std::malloc(Size > 0 ? Size : 1);
    Parley::Testing::Check(Room != nullptr, "no memory");
    return Room;
}

void operator delete(void* Room) noexcept
{
    std::free(Room);
}

void operator delete(void* Room, std::size_t) noexcept
{
    std::free(Room);
}

#endif
