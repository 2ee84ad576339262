// The bodies of VoiceBuffer.h.
#include "Core/VoiceBuffer.h"

#include <algorithm>
#include <cmath>
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
    int Rate, int ChannelCount, double LeadSeconds, double MaxHeldSeconds, std::string& Fault)
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
    return std::unique_ptr<VoiceBuffer>(new VoiceBuffer(Rate, ChannelCount, LeadSeconds, MaxHeldSeconds));
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

// ---- The writer's thread

bool VoiceBuffer::Push(int Index, const std::uint8_t* Pcm, std::size_t Bytes, bool IsFinal)
{
    if (IsStopped() || IsComplete())
    {
        return false;
    }
    Bytes = Pcm == nullptr ? 0 : Bytes;
    if (Index < NextIndex || Early.find(Index) != Early.end())
    {
        ++DoubledChunks;
        return false;
    }
    if (Index > NextIndex)
    {
        Chunk& Held = Early[Index];
        Held.Pcm.assign(Pcm, Pcm + Bytes);
        Held.IsFinal = IsFinal;
        HeldSamples += static_cast<std::int64_t>(Bytes / 2);
        if (IsFinal || HeldSamples > MaxHeldSamples)
        {
            Release(IsFinal);
        }
        return true;
    }
    Append(Pcm, Bytes, IsFinal);
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
    const std::int64_t Place = Sample < 0 ? -1 : Sample / EnvelopeSamples;
    const bool IsKnown = Place >= 0 && Place < static_cast<std::int64_t>(Envelope.size());
    return IsKnown ? Envelope[static_cast<std::size_t>(Place)] : 0.0f;
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
        const Chunk Held = std::move(Early.begin()->second);
        Early.erase(Early.begin());
        HeldSamples -= static_cast<std::int64_t>(Held.Pcm.size() / 2);
        Append(Held.Pcm.data(), Held.Pcm.size(), Held.IsFinal);
    }
}

void VoiceBuffer::Append(const std::uint8_t* Pcm, std::size_t Bytes, bool IsFinal)
{
    ++NextIndex;
    Recycle();
    std::int64_t Added = 0;
    std::size_t Place = 0;
    if (HalfSample >= 0 && Bytes > 0)
    {
        Add(VoiceBufferLocal::SampleOf(HalfSample, Pcm[Place++]));
        HalfSample = -1;
        ++Added;
    }
    for (; Place + 1 < Bytes; Place += 2)
    {
        Add(VoiceBufferLocal::SampleOf(Pcm[Place], Pcm[Place + 1]));
        ++Added;
    }
    if (Place < Bytes)
    {
        HalfSample = Pcm[Place];
    }
    WrittenSamples.store(Written() + Added, std::memory_order_release);
    if (IsFinal)
    {
        Close();
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
    const double Sample = Value / 32768.0;
    Energy += Sample * Sample;
    if (++EnergySamples == EnvelopeSamples)
    {
        CloseEnvelope();
    }
}

void VoiceBuffer::CloseEnvelope()
{
    if (EnergySamples > 0)
    {
        Envelope.push_back(static_cast<float>(std::sqrt(Energy / EnergySamples)));
    }
    Energy = 0;
    EnergySamples = 0;
}

void VoiceBuffer::Close()
{
    CloseEnvelope();
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
