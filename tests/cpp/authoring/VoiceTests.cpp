// The voice buffer: streams slower, as fast as and faster than they are heard, chunks in any order, and two threads.
#include "Checks.h"
#include "Core/VoiceBuffer.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>
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

/// A chunk with its message: the loudness of its first sample, and a sentence where one begins with it.
bool Give(VoiceBuffer& Buffer, std::int64_t Index, const Bytes& Pcm, bool IsFinal, const char* Sentence = nullptr)
{
    Messages::AudioChunk What;
    What.Index = Index;
    What.IsFinal = IsFinal;
    if (Sentence != nullptr)
    {
        What.Text = Sentence;
    }
    for (std::size_t At = 0; At + 1 < Pcm.size(); At += 2 * 480)
    {
        What.Envelope.push_back(static_cast<std::int16_t>(Pcm[At] | (Pcm[At + 1] << 8)) / 32768.0);
    }
    // A copy, gone when this returns: the buffer keeps nothing of what it is given.
    const auto Lent = std::make_unique<Bytes>(Pcm);
    return Buffer.Push(What, Lent->empty() ? nullptr : Lent->data(), Lent->size());
}

std::int64_t HeardAt(const VoiceBuffer& Buffer, std::int64_t Position)
{
    bool IsSilent = false;
    const std::int64_t Samples = Buffer.SamplesAt(Position, IsSilent);
    return IsSilent ? -1 : Samples;
}

std::string Sentences(VoiceBuffer& Buffer, std::int64_t Samples, bool IsEnd = false)
{
    std::string All;
    VoiceSentence One;
    while (Buffer.TakeSentence(Samples, IsEnd, One))
    {
        All += std::to_string(One.StartsAt) + "=" + One.Text + "|";
    }
    return All;
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

/// A voice of five seconds at some speed, in chunks of random length, played in steps of random length of a made-up clock:
/// what is heard at each moment is what SamplesAt says was.
std::unique_ptr<VoiceBuffer> Play(double Speed, double Lead, unsigned Seed, Ear& Listener, bool AsIntegers = false)
{
    std::unique_ptr<VoiceBuffer> Buffer = Make(Lead);
    std::mt19937 Random(Seed);
    constexpr std::int64_t All = 5 * Rate;
    std::vector<std::int64_t> Read;
    std::int64_t Pushed = 0;
    int Index = 0;
    int Next = 0;
    double Made = 0;
    for (int Step = 0; Step < 9000 && !Buffer->IsFinished(); ++Step)
    {
        const std::size_t Wanted = 64 + Random() % 1000;
        Made += static_cast<double>(Wanted) * Speed;
        for (;;)
        {
            Next = Next > 0 ? Next : static_cast<int>(1 + Random() % (2 * ChunkSamples));
            const int Count = static_cast<int>((std::min)(std::int64_t(Next), All - Pushed));
            if (Pushed == All || static_cast<double>(Pushed + Count) > Made)
            {
                break;
            }
            // The last one has no sound, as the sidecar sends it.
            Give(*Buffer, Index++, Chunk(Pushed, Count), false);
            Pushed += Count;
            Next = 0;
            if (Pushed == All)
            {
                Give(*Buffer, Index++, {}, true);
            }
        }
        const std::int64_t Before = Listener.Next;
        std::vector<float> Floats(Wanted);
        std::vector<std::int16_t> Integers(Wanted);
        if (AsIntegers)
        {
            Buffer->Read(Integers.data(), static_cast<int>(Wanted));
            Listener.Hear(Integers);
        }
        else
        {
            Buffer->Read(Floats.data(), static_cast<int>(Wanted));
            Listener.Hear(Floats);
        }
        bool IsSilent = false;
        Checks::Equal(Listener.Next, Buffer->SamplesAt(Buffer->Position(), IsSilent), "heard by now");
        Checks::Equal(Before, Buffer->SamplesAt(Buffer->Position() - static_cast<std::int64_t>(Wanted), IsSilent), "heard before");
    }
    Checks::That(Buffer->IsFinished(), "all is heard in time");
    Checks::Equal(All, Listener.Next, "samples");
    Checks::Equal(std::int64_t(0), Listener.Wrong, "samples out of place");
    Checks::Equal(std::int64_t(0), Buffer->Missing() + Buffer->Doubled(), "missing or doubled");
    return Buffer;
}

} // namespace

PARLEY_TEST(SlowVoicesHaveFewHoles)
{
    for (unsigned Seed = 1; Seed <= 20; ++Seed)
    {
        Ear Listener;
        const auto Buffer = Play(0.7, 0.4, Seed, Listener, Seed % 2 == 0);
        // 5 s of voice come in 7.1 s: each lead of 0.4 s is used up after 1.3 s, so there are about five holes.
        Checks::That(Buffer->Underruns() >= 3 && Buffer->Underruns() <= 8, "holes: " + std::to_string(Buffer->Underruns()));
        // Each is counted, and heard as one, but where the voice ran out with the last sample of a step.
        Checks::That(Listener.Holes <= Buffer->Underruns() + 1 && Listener.Holes >= Buffer->Underruns() - 1,
            "heard as " + std::to_string(Listener.Holes));
    }
}

PARLEY_TEST(VoicesInTimeHaveNone)
{
    for (unsigned Seed = 1; Seed <= 20; ++Seed)
    {
        Ear Listener;
        const auto Buffer = Play(1.0, 0.25, Seed, Listener);
        Checks::Equal(0, Buffer->Underruns(), "holes");
        const std::int64_t Behind = Buffer->Position() - Buffer->EndsAt();
        Checks::Equal(Buffer->EndsAt(), Listener.Silent - Behind + Listener.Next, "where it ends");
    }
}

PARLEY_TEST(FastVoicesHaveNone)
{
    for (unsigned Seed = 1; Seed <= 20; ++Seed)
    {
        Ear Listener;
        const auto Buffer = Play(3.0, 0.25, Seed, Listener);
        Checks::Equal(0, Buffer->Underruns(), "holes");
        Checks::That(Listener.Silent - (Buffer->Position() - Buffer->EndsAt()) < Rate / 2, "it began soon");
    }
}

PARLEY_TEST(AVoiceMayBeStoppedAtAnyMoment)
{
    std::mt19937 Random(11);
    for (int Round = 0; Round < 100; ++Round)
    {
        const auto Buffer = Make(0.1);
        Ear Listener;
        std::vector<float> Output(777);
        std::int64_t Pushed = 0;
        const int Rounds = static_cast<int>(Random() % 12);
        for (int Index = 0; Index < Rounds; ++Index)
        {
            const int Count = static_cast<int>(Random() % 3000);
            Give(*Buffer, Index, Chunk(Pushed, Count), false, "One.");
            Pushed += Count;
            Read(*Buffer, Output);
            Listener.Hear(Output);
        }
        Buffer->Stop();
        const std::int64_t Before = Listener.Next;
        Checks::That(!Give(*Buffer, Rounds, Chunk(Pushed, 500), true), "nothing more is taken");
        Checks::Equal(0, Read(*Buffer, Output), "silence");
        Listener.Hear(Output);
        Checks::Equal(Before, Listener.Next, "samples after the end");
        Checks::Equal(std::int64_t(0), Listener.Wrong, "samples out of place");
        Checks::That(Buffer->IsFinished() && Buffer->EndsAt() == -1, "it did not end by itself");
    }
}

PARLEY_TEST(WhatIsHeardNowIsKnown)
{
    const auto Buffer = Make(0.1);
    std::vector<float> Output(480);
    Checks::Equal(std::int64_t(-1), HeardAt(*Buffer, 0), "nothing yet");
    Read(*Buffer, Output);
    Give(*Buffer, 0, Chunk(0, ChunkSamples), false);
    for (int Step = 0; Step < 7; ++Step)
    {
        Read(*Buffer, Output);
    }
    // 480 of silence, 2,400 of voice, 960 of silence.
    Checks::Equal(1, Buffer->Underruns(), "holes");
    Give(*Buffer, 1, Chunk(ChunkSamples, ChunkSamples), true);
    Read(*Buffer, Output);
    const std::int64_t Wanted[][2] = {
        {-5, -1}, {479, -1}, {480, 0}, {481, 1}, {2879, 2399}, {2880, -1}, {3839, -1}, {3840, 2400}, {4000, 2560}, {4320, -1}};
    for (const auto& One : Wanted)
    {
        Checks::Equal(One[1], HeardAt(*Buffer, One[0]), "at " + std::to_string(One[0]));
    }
    bool IsSilent = false;
    Checks::Equal(std::int64_t(2400), Buffer->SamplesAt(3000, IsSilent), "in the hole");
    Checks::Equal(std::int64_t(2880), Buffer->SamplesAt(9999, IsSilent), "behind what was read");
}

PARLEY_TEST(ManyHolesAreForgotten)
{
    const auto Buffer = Make(0);
    std::vector<float> Output(100);
    for (int Index = 0; Index < 200; ++Index)
    {
        Give(*Buffer, Index, Chunk(Index * 50, 50), false);
        Read(*Buffer, Output);
    }
    Checks::Equal(200, Buffer->Underruns(), "holes");
    bool IsSilent = false;
    Checks::Equal(std::int64_t(199 * 50 + 20), Buffer->SamplesAt(199 * 100 + 20, IsSilent), "the last");
    Checks::That(!IsSilent, "it is heard");
    Checks::Equal(std::int64_t(180 * 50), Buffer->SamplesAt(179 * 100 + 80, IsSilent), "one before");
    Checks::That(IsSilent && Buffer->SamplesAt(5, IsSilent) > 100 * 50, "of long ago it knows that it is over");
}

PARLEY_TEST(SentencesAreToldWhenTheyAreHeard)
{
    const auto Buffer = Make(0);
    Give(*Buffer, 0, Chunk(0, 1000), false, "One. ");
    Give(*Buffer, 1, Chunk(1000, 1000), false);
    Give(*Buffer, 2, {}, false, "* ");
    Give(*Buffer, 3, Chunk(2000, 10), false, "Two.\n");
    Give(*Buffer, 4, {}, false, "\u2026");
    Give(*Buffer, 5, {}, true);
    Checks::Equal("", Sentences(*Buffer, 0), "nothing is heard");
    Checks::Equal("0=One. |", Sentences(*Buffer, 1), "the first sample");
    Checks::Equal("", Sentences(*Buffer, 2000), "not yet");
    Checks::Equal("2000=* |2000=Two.\n|", Sentences(*Buffer, 2001), "one without sound comes with the next");
    Checks::Equal("", Sentences(*Buffer, 2010), "the last has no sound");
    Checks::Equal("2010=\u2026|", Sentences(*Buffer, 2010, true), "all is over");
    Checks::Equal("", Sentences(*Buffer, 9999, true), "each comes once");
}

PARLEY_TEST(NothingIsHeardBeforeTheLead)
{
    const auto Buffer = Make(0.25);
    std::vector<float> Output(480);
    Give(*Buffer, 0, Chunk(0, ChunkSamples), false);
    Give(*Buffer, 1, Chunk(ChunkSamples, ChunkSamples), false);
    Checks::That(!Buffer->IsReady(), "not ready");
    Checks::Equal(0, Read(*Buffer, Output), "silence");
    Give(*Buffer, 2, Chunk(2 * ChunkSamples, ChunkSamples), false);
    Checks::That(Buffer->IsReady(), "ready");
    Checks::Equal(480, Read(*Buffer, Output), "voice");
}

PARLEY_TEST(AShortVoiceNeedsNoLead)
{
    const auto Buffer = Make(10);
    std::vector<float> Output(480, 1.0f);
    Give(*Buffer, 0, Chunk(0, 100), true);
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
            Give(*Buffer, Index, Chunk(Index * 77, 77), Index == 19);
            Checks::That(!Give(*Buffer, Index, Chunk(Index * 77, 77), false), "a chunk that came");
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
    Give(*Buffer, 0, Chunk(0, ChunkSamples), false);
    Give(*Buffer, 2, Chunk(2 * ChunkSamples, ChunkSamples), false);
    Give(*Buffer, 3, Chunk(3 * ChunkSamples, ChunkSamples), false);
    Checks::Equal(std::int64_t(ChunkSamples), Buffer->Written(), "it waits");
    Give(*Buffer, 4, Chunk(4 * ChunkSamples, ChunkSamples), false);
    constexpr int Gap = Rate * VoiceBuffer::GapMilliseconds / 1000;
    Checks::Equal(std::int64_t(4 * ChunkSamples + Gap), Buffer->Written(), "it goes on, behind a moment's silence");
    Checks::That(Buffer->LoudnessAt(ChunkSamples - 1) > 0.0f && Buffer->LoudnessAt(ChunkSamples) == 0.0f, "silence");
    std::vector<float> Output(static_cast<std::size_t>(2 * ChunkSamples + Gap));
    Checks::Equal(static_cast<int>(Output.size()), Read(*Buffer, Output), "it counts as voice");
    Checks::Equal(0.0f, Output[ChunkSamples] + Output[ChunkSamples + Gap - 1], "where it is");
    Checks::Equal(static_cast<int>(SampleAt(2 * ChunkSamples)),
        static_cast<int>(std::lround(Output[ChunkSamples + Gap] * 32768.0f)), "what comes behind it");
    Checks::Equal(std::int64_t(1), Buffer->Missing(), "missing");
    Checks::That(!Give(*Buffer, 1, Chunk(ChunkSamples, ChunkSamples), false), "too late");
    Give(*Buffer, 7, Chunk(0, 10), true);
    Checks::That(Buffer->IsComplete(), "the last one waits for nobody");
    Checks::Equal(std::int64_t(3), Buffer->Missing(), "missing at the end");
}

PARLEY_TEST(CompleteTakesWhatIsThere)
{
    const auto Buffer = Make(0.25);
    Give(*Buffer, 1, Chunk(0, 50), false);
    Buffer->Complete();
    Checks::Equal(std::int64_t(50 + Rate / 10), Buffer->Written(), "samples, behind the gap");
    Checks::That(!Give(*Buffer, 2, Chunk(0, 50), false), "nothing more");
    const auto Empty = Make(0.25);
    Empty->Complete();
    Checks::That(Empty->IsFinished(), "nothing to hear");
}

PARLEY_TEST(TheLargestIndexHarmsNobody)
{
    constexpr std::int64_t Largest = (std::numeric_limits<std::int64_t>::max)();
    const auto Buffer = Make(0, 0);
    Checks::That(!Give(*Buffer, Largest, Chunk(0, 10), false), "no chunk could come behind it");
    Checks::That(Give(*Buffer, Largest - 1, Chunk(0, 10), false), "a chunk");
    Checks::Equal(Largest - 1, Buffer->Missing(), "missing");
    Checks::That(!Give(*Buffer, Largest - 1, Chunk(0, 10), false), "it came");
    Checks::That(!Give(*Buffer, 0, {}, true), "too late");
    Buffer->Complete();
    Checks::Equal(std::int64_t(10 + Rate / 10), Buffer->Written(), "samples");
}

PARLEY_TEST(StopIsSilence)
{
    const auto Buffer = Make(0);
    std::vector<float> Output(480);
    Give(*Buffer, 0, Chunk(0, ChunkSamples), false);
    Checks::Equal(480, Read(*Buffer, Output), "voice");
    Buffer->Stop();
    Checks::Equal(0, Read(*Buffer, Output), "silence");
    Checks::Equal(0.0f, Output[0], "really");
    Checks::That(!Give(*Buffer, 1, Chunk(0, 10), true), "nothing more");
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
        const auto From = Pcm.begin() + static_cast<std::ptrdiff_t>(At);
        Give(*Buffer, Index++, Bytes(From, From + static_cast<std::ptrdiff_t>(Count)), At + Count == Pcm.size());
        At += Count;
    }
    std::vector<float> Output(1001);
    Ear Listener;
    Checks::Equal(1000, Read(*Buffer, Output), "samples");
    Listener.Hear(Output);
    Checks::Equal(std::int64_t(1000), Listener.Next, "heard");
    Checks::Equal(std::int64_t(0), Listener.Wrong, "samples out of place");
}

PARLEY_TEST(LoudnessIsWhatTheEnvelopesSay)
{
    const auto Buffer = Make(0);
    const Bytes Pcm(2 * 1000);
    Messages::AudioChunk What;
    What.Envelope = {0.25, 0.5, 0.75};
    Buffer->Push(What, Pcm.data(), Pcm.size());
    What.Index = 1;
    What.Envelope = {7.0, -1.0, std::nan(""), 0.5, 0.5, 0.5};
    Buffer->Push(What, Pcm.data(), Pcm.size());
    What.Index = 2;
    What.Envelope = {0.125};
    Buffer->Push(What, Pcm.data(), Pcm.size());
    const std::pair<int, float> Wanted[] = {{-1, 0.0f}, {0, 0.25f}, {479, 0.25f}, {480, 0.5f}, {960, 0.75f}, {999, 0.75f},
        {1000, 1.0f}, {1480, 0.0f}, {1960, 0.0f}, {2000, 0.125f}, {2479, 0.125f}, {2480, 0.0f}, {2999, 0.0f}, {3000, 0.0f}};
    for (const auto& One : Wanted)
    {
        Checks::Equal(One.second, Buffer->LoudnessAt(One.first), "at " + std::to_string(One.first));
    }
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
        Give(*Buffer, Index, Chunk(0, ChunkSamples), false);
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
    Messages::AudioChunk What;
    What.Envelope.assign(5, 0.5);
    int Index = 0;
    std::size_t Before = 0;
    for (int Step = 0; Step < 110; ++Step)
    {
        Before = Step == 100 ? Checks::Allocated() : Before;
        What.Index = Index++;
        Buffer->Push(What, Pcm.data(), Pcm.size());
        Read(*Buffer, Output);
    }
    const std::size_t More = Checks::Allocated() - Before;
    // The loudness of each 20 ms is kept, and the list of it grows by doubling.
    Checks::That(More < 32768, "bytes for a second of voice: " + std::to_string(More));
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
        Give(*Buffer, Index, Chunk(At, Count), Index == Chunks - 1);
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
