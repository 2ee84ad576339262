// The voice buffer: streams slower, as fast as and faster than they are heard, chunks in any order, and two threads.
#include "Checks.h"
#include "Core/VoiceBuffer.h"
#include "Core/VoiceFrame.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

using namespace Parley;

namespace
{

constexpr int Rate = 24000;
constexpr int ChunkSamples = 2400;
using Bytes = std::vector<std::uint8_t>;

/// A sample that tells its own number: never 0, so that silence is seen.
std::int16_t SampleAt(std::int64_t Number)
{
    return static_cast<std::int16_t>(Number % 30000 + 1);
}

Bytes Chunk(std::int64_t First, int Count)
{
    Bytes Pcm;
    for (int Index = 0; Index < Count; ++Index)
    {
        const auto Sample = static_cast<std::uint16_t>(SampleAt(First + Index));
        Pcm.push_back(static_cast<std::uint8_t>(Sample & 0xFF));
        Pcm.push_back(static_cast<std::uint8_t>(Sample >> 8));
    }
    return Pcm;
}

std::unique_ptr<VoiceBuffer> Make(double Lead, double Held = 0.5)
{
    std::string Fault;
    return VoiceBuffer::Make(Rate, 1, Lead, Held, Fault);
}

bool Push(VoiceBuffer& Buffer, int Index, const Bytes& Pcm, bool IsFinal)
{
    // A copy, gone when this returns: the buffer keeps nothing of what it is given.
    const auto Lent = std::make_unique<Bytes>(Pcm);
    return Buffer.Push(Index, Lent->data(), Lent->size(), IsFinal);
}

/// Notes what is heard, sample by sample, and that silence is only where it may be.
struct Ear
{
    std::int64_t Next = 0;
    std::int64_t Wrong = 0;
    int Holes = 0;
    std::int64_t Silent = 0;
    bool WasSilent = true;

    void Hear(int Heard)
    {
        if (Heard == 0)
        {
            ++Silent;
            Holes += WasSilent ? 0 : 1;
            WasSilent = true;
            return;
        }
        WasSilent = false;
        Wrong += Heard != SampleAt(Next) ? 1 : 0;
        ++Next;
    }

    void Hear(const std::vector<float>& Samples)
    {
        for (const float Sample : Samples)
        {
            Hear(static_cast<int>(std::lround(Sample * 32768.0f)));
        }
    }

    void Hear(const std::vector<std::int16_t>& Samples)
    {
        for (const std::int16_t Sample : Samples)
        {
            Hear(static_cast<int>(Sample));
        }
    }
};

int Read(VoiceBuffer& Buffer, std::vector<float>& Samples)
{
    return Buffer.Read(Samples.data(), static_cast<int>(Samples.size()));
}

/// A voice of five seconds at some speed, played in steps of 20 ms of a made-up clock.
std::unique_ptr<VoiceBuffer> Play(double Speed, double Lead, Ear& Listener, bool AsIntegers = false)
{
    std::unique_ptr<VoiceBuffer> Buffer = Make(Lead);
    constexpr int Chunks = 50;
    std::vector<float> Floats(480);
    std::vector<std::int16_t> Integers(480);
    int Pushed = 0;
    double Made = 0;
    for (int Step = 0; Step < 3000 && !Buffer->IsFinished(); ++Step)
    {
        Made += 480 * Speed;
        while (Pushed < Chunks && Made >= (Pushed + 1) * ChunkSamples)
        {
            Push(*Buffer, Pushed, Chunk(std::int64_t(Pushed) * ChunkSamples, ChunkSamples), Pushed == Chunks - 1);
            ++Pushed;
        }
        if (AsIntegers)
        {
            Buffer->Read(Integers.data(), 480);
            Listener.Hear(Integers);
        }
        else
        {
            Read(*Buffer, Floats);
            Listener.Hear(Floats);
        }
    }
    Checks::That(Buffer->IsFinished(), "all is heard in time");
    Checks::Equal(std::int64_t(Chunks) * ChunkSamples, Listener.Next, "samples");
    Checks::Equal(std::int64_t(0), Listener.Wrong, "samples out of place");
    return Buffer;
}

} // namespace

PARLEY_TEST(SlowVoicesHaveFewHoles)
{
    for (const bool AsIntegers : {false, true})
    {
        Ear Listener;
        const auto Buffer = Play(0.7, 0.4, Listener, AsIntegers);
        // 5 s of voice come in 7.1 s: each lead of 0.4 s is used up after 1.3 s, so there are about five holes.
        Checks::That(Buffer->Underruns() >= 3 && Buffer->Underruns() <= 8, "holes: " + std::to_string(Buffer->Underruns()));
        Checks::That(Listener.Holes <= Buffer->Underruns() + 1, "every hole is a lead long");
    }
}

PARLEY_TEST(VoicesInTimeHaveNone)
{
    Ear Listener;
    const auto Buffer = Play(1.0, 0.25, Listener);
    Checks::Equal(0, Buffer->Underruns(), "holes");
    const std::int64_t Behind = Buffer->Position() - Buffer->EndsAt();
    Checks::Equal(Buffer->EndsAt(), Listener.Silent - Behind + Listener.Next, "where it ends");
}

PARLEY_TEST(FastVoicesHaveNone)
{
    Ear Listener;
    const auto Buffer = Play(3.0, 0.25, Listener);
    Checks::Equal(0, Buffer->Underruns(), "holes");
    Checks::That(Listener.Silent - (Buffer->Position() - Buffer->EndsAt()) < Rate / 2, "it began soon");
}

PARLEY_TEST(NothingIsHeardBeforeTheLead)
{
    const auto Buffer = Make(0.25);
    std::vector<float> Output(480);
    Push(*Buffer, 0, Chunk(0, ChunkSamples), false);
    Push(*Buffer, 1, Chunk(ChunkSamples, ChunkSamples), false);
    Checks::That(!Buffer->IsReady(), "not ready");
    Checks::Equal(0, Read(*Buffer, Output), "silence");
    Push(*Buffer, 2, Chunk(2 * ChunkSamples, ChunkSamples), false);
    Checks::That(Buffer->IsReady(), "ready");
    Checks::Equal(480, Read(*Buffer, Output), "voice");
}

PARLEY_TEST(AShortVoiceNeedsNoLead)
{
    const auto Buffer = Make(10);
    std::vector<float> Output(480, 1.0f);
    Push(*Buffer, 0, Chunk(0, 100), true);
    Checks::That(Buffer->IsReady(), "ready");
    Checks::Equal(100, Read(*Buffer, Output), "all of it");
    Checks::Equal(0.0f, Output[100], "and silence");
    Checks::Equal(std::int64_t(100), Buffer->EndsAt(), "where it ends");
    Checks::That(Buffer->IsFinished(), "finished");
}

PARLEY_TEST(ChunksInAnyOrderAreHeardInTheirs)
{
    std::mt19937 Random(7);
    for (int Round = 0; Round < 50; ++Round)
    {
        const auto Buffer = Make(0, 10);
        std::vector<int> Order;
        for (int Index = 0; Index < 19; ++Index)
        {
            Order.push_back(Index);
        }
        std::shuffle(Order.begin(), Order.end(), Random);
        // The one that says that it is the last comes last, or what is not there yet is taken for lost.
        Order.push_back(19);
        for (const int Index : Order)
        {
            Push(*Buffer, Index, Chunk(Index * 77, 77), Index == 19);
            Checks::That(!Push(*Buffer, Index, Chunk(Index * 77, 77), false), "a chunk that came");
        }
        Checks::Equal(19, Buffer->Doubled(), "doubled while it was open");
        Checks::Equal(std::int64_t(0), Buffer->Missing(), "missing");
        Ear Listener;
        std::vector<float> Output(2000);
        Read(*Buffer, Output);
        Listener.Hear(Output);
        Checks::Equal(std::int64_t(20 * 77), Listener.Next, "samples");
        Checks::Equal(std::int64_t(0), Listener.Wrong, "samples out of place");
    }
}

PARLEY_TEST(WhatIsMissingForLongIsLost)
{
    const auto Buffer = Make(0, 0.25);
    Push(*Buffer, 0, Chunk(0, ChunkSamples), false);
    Push(*Buffer, 2, Chunk(2 * ChunkSamples, ChunkSamples), false);
    Push(*Buffer, 3, Chunk(3 * ChunkSamples, ChunkSamples), false);
    Checks::Equal(std::int64_t(ChunkSamples), Buffer->Written(), "it waits");
    Push(*Buffer, 4, Chunk(4 * ChunkSamples, ChunkSamples), false);
    Checks::Equal(std::int64_t(4 * ChunkSamples), Buffer->Written(), "it goes on");
    Checks::Equal(std::int64_t(1), Buffer->Missing(), "missing");
    Checks::That(!Push(*Buffer, 1, Chunk(ChunkSamples, ChunkSamples), false), "too late");
    Push(*Buffer, 7, Chunk(0, 10), true);
    Checks::That(Buffer->IsComplete(), "the last one waits for nobody");
    Checks::Equal(std::int64_t(3), Buffer->Missing(), "missing at the end");
}

PARLEY_TEST(CompleteTakesWhatIsThere)
{
    const auto Buffer = Make(0.25);
    Push(*Buffer, 1, Chunk(0, 50), false);
    Buffer->Complete();
    Checks::Equal(std::int64_t(50), Buffer->Written(), "samples");
    Checks::That(!Push(*Buffer, 2, Chunk(0, 50), false), "nothing more");
    const auto Empty = Make(0.25);
    Empty->Complete();
    Checks::That(Empty->IsFinished(), "nothing to hear");
}

PARLEY_TEST(TheLargestIndexHarmsNobody)
{
    const auto Buffer = Make(0, 0);
    Checks::That(Push(*Buffer, 2147483647, Chunk(0, 10), false), "a chunk");
    Checks::Equal(std::int64_t(2147483647), Buffer->Missing(), "missing");
    Checks::That(!Push(*Buffer, 2147483647, Chunk(0, 10), false), "it came");
    Checks::That(Buffer->Push(2147483646, nullptr, 7, true) == false, "too late");
    Buffer->Complete();
    Checks::Equal(std::int64_t(10), Buffer->Written(), "samples");
}

PARLEY_TEST(StopIsSilence)
{
    const auto Buffer = Make(0);
    std::vector<float> Output(480);
    Push(*Buffer, 0, Chunk(0, ChunkSamples), false);
    Checks::Equal(480, Read(*Buffer, Output), "voice");
    Buffer->Stop();
    Checks::Equal(0, Read(*Buffer, Output), "silence");
    Checks::Equal(0.0f, Output[0], "really");
    Checks::That(!Push(*Buffer, 1, Chunk(0, 10), true), "nothing more");
    Checks::That(Buffer->IsFinished(), "finished");
}

PARLEY_TEST(SamplesMayBeCutAnywhere)
{
    const Bytes Pcm = Chunk(0, 1000);
    std::mt19937 Random(3);
    const auto Buffer = Make(0);
    int Index = 0;
    for (std::size_t At = 0; At < Pcm.size();)
    {
        const std::size_t Count = (std::min)(std::size_t(Random() % 8), Pcm.size() - At);
        Buffer->Push(Index++, Count == 0 ? nullptr : Pcm.data() + At, Count, At + Count == Pcm.size());
        At += Count;
    }
    std::vector<float> Output(1001);
    Ear Listener;
    Checks::Equal(1000, Read(*Buffer, Output), "samples");
    Listener.Hear(Output);
    Checks::Equal(std::int64_t(1000), Listener.Next, "heard");
    Checks::Equal(std::int64_t(0), Listener.Wrong, "samples out of place");
}

PARLEY_TEST(LoudnessFollowsTheVoice)
{
    const auto Buffer = Make(0);
    Bytes Loud(2 * 480);
    for (std::size_t At = 1; At < Loud.size(); At += 2)
    {
        Loud[At] = 0x40;
    }
    Push(*Buffer, 0, Bytes(2 * 480), false);
    Push(*Buffer, 1, Loud, true);
    Checks::Equal(0.0f, Buffer->LoudnessAt(10), "silence");
    Checks::Equal(0.5f, Buffer->LoudnessAt(500), "half");
    Checks::Equal(0.0f, Buffer->LoudnessAt(5000), "behind the end");
    Checks::Equal(0.0f, Buffer->LoudnessAt(-1), "before the beginning");
}

PARLEY_TEST(BadFormatsAreRefused)
{
    std::string Fault;
    Checks::That(VoiceBuffer::Make(0, 1, 0, 0, Fault) == nullptr, "rate");
    Checks::Equal("a voice has 1,000 to 384,000 samples a second", Fault, "why");
    Checks::That(VoiceBuffer::Make(Rate, 0, 0, 0, Fault) == nullptr, "channels");
    Checks::Equal("a voice has 1 to 8 channels", Fault, "why");
    const auto Odd = VoiceBuffer::Make(384000, 8, std::nan(""), 1e300, Fault);
    Checks::That(Odd != nullptr && !Odd->IsComplete() && Odd->IsReady(), "times that are none are no time");
}

PARLEY_TEST(ReadingAllocatesNothing)
{
    const auto Buffer = Make(0);
    for (int Index = 0; Index < 40; ++Index)
    {
        Push(*Buffer, Index, Chunk(0, ChunkSamples), false);
    }
    std::vector<float> Output(1024);
    const std::size_t Before = Checks::Allocated();
    for (int Step = 0; Step < 101; ++Step)
    {
        Read(*Buffer, Output);
    }
    const std::size_t After = Checks::Allocated();
    Checks::Equal(Before, After, "bytes");
}

PARLEY_TEST(LongVoicesUseTheirBlocksAgain)
{
    const auto Buffer = Make(0);
    std::vector<float> Output(ChunkSamples);
    const Bytes Pcm = Chunk(0, ChunkSamples);
    int Index = 0;
    std::size_t Before = 0;
    for (int Step = 0; Step < 110; ++Step)
    {
        Before = Step == 100 ? Checks::Allocated() : Before;
        Buffer->Push(Index++, Pcm.data(), Pcm.size(), false);
        Read(*Buffer, Output);
    }
    const std::size_t More = Checks::Allocated() - Before;
    // The loudness of each 20 ms is kept, and the list of it grows by doubling.
    Checks::That(More < 8192, "bytes for a second of voice: " + std::to_string(More));
}

PARLEY_TEST(TwoThreadsLoseAndDoubleNothing)
{
    constexpr int Chunks = 3000;
    const auto Buffer = Make(0.1);
    Ear Listener;
    std::thread Reader([&] {
        std::mt19937 Random(1);
        std::vector<std::vector<float>> Outputs;
        for (const std::size_t Size : {64, 480, 1024, 4096, 9000})
        {
            Outputs.emplace_back(Size);
        }
        while (!Buffer->IsFinished())
        {
            std::vector<float>& Output = Outputs[Random() % Outputs.size()];
            Read(*Buffer, Output);
            Listener.Hear(Output);
            if (Random() % 50 == 0)
            {
                std::this_thread::yield();
            }
        }
    });
    std::mt19937 Random(2);
    std::int64_t At = 0;
    for (int Index = 0; Index < Chunks; ++Index)
    {
        const int Count = 1 + static_cast<int>(Random() % 699);
        Push(*Buffer, Index, Chunk(At, Count), Index == Chunks - 1);
        At += Count;
        if (Random() % 20 == 0)
        {
            std::this_thread::yield();
        }
    }
    Reader.join();
    Checks::Equal(At, Listener.Next, "samples");
    Checks::Equal(std::int64_t(0), Listener.Wrong, "samples out of place");
}

namespace
{

Json Body(const char* Field, Json Value)
{
    Json Made = Json::Object();
    Made.Set("agent_id", Json::String("a1"));
    Made.Set("turn_id", Json::Integer(5));
    Made.Set("node_name", Json::String("mira"));
    Made.Set("step", Json::Integer(2));
    Made.Set("index", Json::Integer(3));
    Made.Set("sample_rate", Json::Integer(Rate));
    Made.Set("is_final", Json::Boolean(true));
    Made.Set(Field, std::move(Value));
    return Made;
}

} // namespace

PARLEY_TEST(VoiceFramesAreReadStrictly)
{
    VoiceFrame Frame;
    Checks::That(VoiceFrame::Read("AudioChunk", Body("later", Json()), Frame), "a chunk");
    Checks::That(!Frame.IsFormat && Frame.IsFinal && Frame.Index == 3 && Frame.TurnId == 5, "its numbers");
    Checks::Equal("mira", Frame.NodeName, "who speaks");
    Checks::That(VoiceFrame::Read("AudioFormat", Body("channels", Json::String("2")), Frame), "a format");
    Checks::That(Frame.IsFormat && Frame.SampleRate == Rate && Frame.Channels == 1, "its numbers");
    Checks::Equal("s16le", Frame.Encoding, "how it is written");
    VoiceFrame Before = Frame;
    Checks::That(!VoiceFrame::Read("AnswerText", Body("x", Json()), Frame), "no part of a voice");
    Checks::That(!VoiceFrame::Read("AudioChunk", Body("agent_id", Json::Integer(1)), Frame), "nobody's");
    Checks::That(!VoiceFrame::Read("AudioChunk", Body("index", Json::Integer(-1)), Frame), "a chunk without a number");
    Checks::That(!VoiceFrame::Read("AudioChunk", Body("index", Json::Integer(4294967296)), Frame), "a number too large");
    Checks::That(!VoiceFrame::Read("AudioFormat", Body("sample_rate", Json::Integer(0)), Frame), "a format without a rate");
    Checks::That(!VoiceFrame::Read("AudioFormat", Json::Array(), Frame), "no object");
    Checks::That(Frame.IsFormat == Before.IsFormat && Frame.AgentId == Before.AgentId, "what is refused changes nothing");
}
