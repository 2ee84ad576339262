// The bodies of VoiceBuffer.h.
#include "Core/VoiceBuffer.h"

#include <algorithm>
#include <limits>
#include <type_traits>
#include <utility>

namespace Parley::VoiceBufferLocal
{

constexpr double LongestWait = 10;

std::int64_t SamplesOf(double Seconds, int Rate, int Channels) noexcept
{
    const double Bounded = (std::max)(0.0, (std::min)(Seconds, LongestWait));
    return static_cast<std::int64_t>(Bounded * Rate) * Channels;
}

/// Of two bytes, little end first.
std::int16_t SampleOf(int Low, int High) noexcept
{
    return static_cast<std::int16_t>(static_cast<std::uint16_t>(Low | (High << 8)));
}

} // namespace Parley::VoiceBufferLocal

namespace Parley
{

std::unique_ptr<VoiceBuffer> VoiceBuffer::Make(
    std::int64_t Rate, std::int64_t ChannelCount, double LeadSeconds, double MaxHeldSeconds, std::string& Fault)
{
    if (Rate < 1000 || Rate > 384000)
    {
        Fault = "a voice has 1,000 to 384,000 samples a second";
        return nullptr;
    }
    if (ChannelCount < 1 || ChannelCount > 8)
    {
        Fault = "a voice has 1 to 8 channels";
        return nullptr;
    }
    return std::unique_ptr<VoiceBuffer>(new VoiceBuffer(
        static_cast<int>(Rate), static_cast<int>(ChannelCount), LeadSeconds, MaxHeldSeconds));
}

VoiceBuffer::VoiceBuffer(int SamplesASecond, int SamplesAMoment, double LeadSeconds, double MaxHeldSeconds)
    : Rate(SamplesASecond)
    , ChannelCount(SamplesAMoment)
    , LeadSamples(VoiceBufferLocal::SamplesOf(LeadSeconds, SamplesASecond, SamplesAMoment))
    , MaxHeldSamples(VoiceBufferLocal::SamplesOf(MaxHeldSeconds, SamplesASecond, SamplesAMoment))
    , EnvelopeSamples(SamplesASecond * EnvelopeMilliseconds / 1000 * SamplesAMoment)
    , First(new Block)
    , WriteBlock(First)
    , ReadBlock(First)
{
}

VoiceBuffer::~VoiceBuffer()
{
    for (Block* Chain : {First, Spare})
    {
        while (Chain != nullptr)
        {
            delete std::exchange(Chain, Chain->Next);
        }
    }
}

// ---- Any thread

std::int64_t VoiceBuffer::SamplesAt(std::int64_t At, bool& IsSilent) const noexcept
{
    // In this order: a run that begins meanwhile is none of it.
    std::int64_t Until = SamplesRead();
    const std::int64_t Count = RunCount.load(std::memory_order_acquire);
    // The oldest may be written anew just now.
    for (std::int64_t Which = Count - 1; Which >= 0 && Which > Count - KeptRuns; --Which)
    {
        const Run& One = Runs[Which % KeptRuns];
        const std::int64_t Position = One.Position.load(std::memory_order_relaxed);
        const std::int64_t Voice = One.Voice.load(std::memory_order_relaxed);
        if (Position <= At)
        {
            IsSilent = Voice + At - Position >= Until;
            return (std::min)(Voice + At - Position, Until);
        }
        Until = (std::min)(Until, Voice);
    }
    IsSilent = true;
    return Count < KeptRuns ? 0 : Until;
}

// ---- The writer's thread

bool VoiceBuffer::Push(const Messages::AudioChunk& What, const std::uint8_t* Samples, std::size_t Bytes)
{
    if (IsStopped() || IsComplete())
    {
        return false;
    }
    Bytes = Samples == nullptr ? 0 : Bytes;
    if (What.Index < NextIndex || What.Index == (std::numeric_limits<std::int64_t>::max)() || Early.find(What.Index) != Early.end())
    {
        ++DoubledChunks;
        return false;
    }
    if (What.Index > NextIndex)
    {
        EarlyChunk& Held = Early[What.Index];
        Held.What = What;
        Held.Samples.assign(Samples, Samples + Bytes);
        HeldSamples += static_cast<std::int64_t>(Bytes / 2);
        if (What.IsFinal || HeldSamples > MaxHeldSamples)
        {
            Release(What.IsFinal);
        }
        return true;
    }
    Append(What, Samples, Bytes);
    Follow();
    return true;
}

void VoiceBuffer::Complete()
{
    if (!IsComplete())
    {
        Release(true);
        Close();
    }
}

void VoiceBuffer::Stop()
{
    Stopped.store(true, std::memory_order_release);
    Early.clear();
}

float VoiceBuffer::LoudnessAt(std::int64_t Sample) const noexcept
{
    const auto Behind = std::upper_bound(
        Envelope.begin(), Envelope.end(), Sample, [](std::int64_t Wanted, const Span& One) { return Wanted < One.Start; });
    return Behind == Envelope.begin() || Sample >= Written() ? 0.0f : (Behind - 1)->Loudness;
}

bool VoiceBuffer::TakeSentence(std::int64_t Samples, bool IsEnd, VoiceSentence& Out)
{
    if (Begun.empty() || !(IsEnd || Begun.front().StartsAt < Samples))
    {
        return false;
    }
    Out = std::move(Begun.front());
    Begun.pop_front();
    return true;
}

/// What is kept back goes on behind what is missing. Until all has come: as far as need be.
void VoiceBuffer::Release(bool All)
{
    while (!Early.empty() && !IsComplete())
    {
        const std::int64_t Next = Early.begin()->first;
        MissingChunks += Next - NextIndex;
        NextIndex = Next;
        // Half a sample belongs to what is lost.
        HalfSample = -1;
        AppendSilence();
        Follow();
        if (!All)
        {
            return;
        }
    }
}

void VoiceBuffer::Follow()
{
    while (!IsComplete() && !Early.empty() && Early.begin()->first == NextIndex)
    {
        const EarlyChunk Held = std::move(Early.begin()->second);
        Early.erase(Early.begin());
        HeldSamples -= static_cast<std::int64_t>(Held.Samples.size() / 2);
        Append(Held.What, Held.Samples.data(), Held.Samples.size());
    }
}

void VoiceBuffer::Append(const Messages::AudioChunk& What, const std::uint8_t* Samples, std::size_t Bytes)
{
    ++NextIndex;
    Recycle();
    const std::int64_t Start = Written();
    if (What.Text)
    {
        Begun.push_back({What.Sentence, *What.Text, Start});
    }
    std::int64_t Added = 0;
    std::size_t Place = 0;
    if (HalfSample >= 0 && Bytes > 0)
    {
        Add(VoiceBufferLocal::SampleOf(HalfSample, Samples[Place++]));
        HalfSample = -1;
        ++Added;
    }
    for (; Place + 1 < Bytes; Place += 2)
    {
        Add(VoiceBufferLocal::SampleOf(Samples[Place], Samples[Place + 1]));
        ++Added;
    }
    if (Place < Bytes)
    {
        HalfSample = Samples[Place];
    }
    Shape(Start, Start + Added, What.Envelope);
    WrittenSamples.store(Start + Added, std::memory_order_release);
    if (What.IsFinal)
    {
        Close();
    }
}

void VoiceBuffer::AppendSilence()
{
    const std::int64_t Start = Written();
    const std::int64_t Added = static_cast<std::int64_t>(Rate) * GapMilliseconds / 1000 * ChannelCount;
    for (std::int64_t Index = 0; Index < Added; ++Index)
    {
        Add(0);
    }
    Shape(Start, Start + Added, {});
    WrittenSamples.store(Start + Added, std::memory_order_release);
}

/// How loud a part is, and silent where its envelope is too short.
void VoiceBuffer::Shape(std::int64_t Start, std::int64_t Behind, const std::vector<double>& Loudness)
{
    for (std::size_t Index = 0; Start < Behind; ++Index, Start += EnvelopeSamples)
    {
        const double Value = Index < Loudness.size() ? Loudness[Index] : 0.0;
        Envelope.push_back({Start, static_cast<float>((std::max)(0.0, (std::min)(Value, 1.0)))});
        if (Index >= Loudness.size())
        {
            return;
        }
    }
}

void VoiceBuffer::Add(std::int16_t Value)
{
    if (WriteAt == BlockSamples)
    {
        Block* Another = Spare != nullptr ? Spare : new Block;
        Spare = std::exchange(Another->Next, nullptr);
        WriteBlock->Next = Another;
        WriteBlock = Another;
        WriteAt = 0;
    }
    WriteBlock->Samples[WriteAt++] = Value;
}

void VoiceBuffer::Close()
{
    Early.clear();
    HasAll.store(true, std::memory_order_release);
}

/// Use blocks again that were read; the one behind which the reader goes on stays.
void VoiceBuffer::Recycle() noexcept
{
    const std::int64_t FirstKept = SamplesRead() / BlockSamples - 1;
    while (FirstNumber < FirstKept)
    {
        Block* Done = std::exchange(First, First->Next);
        Done->Next = std::exchange(Spare, Done);
        ++FirstNumber;
    }
}

// ---- The reader's thread

int VoiceBuffer::Read(float* Samples, int Count) noexcept
{
    return ReadAs(Samples, Count);
}

int VoiceBuffer::Read(std::int16_t* Samples, int Count) noexcept
{
    return ReadAs(Samples, Count);
}

template <class Sample>
int VoiceBuffer::ReadAs(Sample* Samples, int Count) noexcept
{
    const int Wanted = (std::max)(0, Count);
    int Got = 0;
    // In this order: who sees that all has come also sees all of it.
    const bool HasCome = IsComplete();
    const std::int64_t Available = Written() - ReadSamples.load(std::memory_order_relaxed);
    const bool IsSilent = IsStopped();
    if (IsSilent)
    {
        IsPlaying = false;
    }
    else if (!IsPlaying)
    {
        IsPlaying = Available > 0 && (HasCome || Available >= LeadSamples);
        if (IsPlaying)
        {
            const std::int64_t Which = RunCount.load(std::memory_order_relaxed);
            Run& Begins = Runs[Which % KeptRuns];
            Begins.Position.store(Heard.load(std::memory_order_relaxed), std::memory_order_relaxed);
            Begins.Voice.store(ReadSamples.load(std::memory_order_relaxed), std::memory_order_relaxed);
            RunCount.store(Which + 1, std::memory_order_release);
        }
    }
    if (IsPlaying)
    {
        Got = static_cast<int>((std::min)(Available, static_cast<std::int64_t>(Wanted)));
        CopyTo(Samples, Got);
        if (Got < Wanted && !HasCome)
        {
            IsPlaying = false;
            Holes.store(Underruns() + 1, std::memory_order_release);
        }
    }
    std::fill(Samples + Got, Samples + Wanted, Sample(0));
    const std::int64_t Before = Heard.load(std::memory_order_relaxed);
    if (HasCome && !IsSilent && Got == Available && EndsAt() < 0)
    {
        End.store(Before + Got, std::memory_order_release);
    }
    Heard.store(Before + Wanted, std::memory_order_release);
    return Got;
}

template <class Sample>
void VoiceBuffer::CopyTo(Sample* Samples, int Count) noexcept
{
    for (int Done = 0; Done < Count;)
    {
        if (ReadAt == BlockSamples)
        {
            ReadBlock = ReadBlock->Next;
            ReadAt = 0;
        }
        const int Part = (std::min)(Count - Done, BlockSamples - ReadAt);
        const std::int16_t* From = ReadBlock->Samples + ReadAt;
        if constexpr (std::is_same_v<Sample, float>)
        {
            std::transform(From, From + Part, Samples + Done, [](std::int16_t Value) { return Value / 32768.0f; });
        }
        else
        {
            std::copy(From, From + Part, Samples + Done);
        }
        ReadAt += Part;
        Done += Part;
    }
    ReadSamples.store(ReadSamples.load(std::memory_order_relaxed) + Count, std::memory_order_release);
}

} // namespace Parley
