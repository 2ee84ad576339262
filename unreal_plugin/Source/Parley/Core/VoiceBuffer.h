// What a character says aloud, between the frames that bring it and the audio thread that plays it.
#pragma once

#include "Core/CoreApi.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace Parley
{

/// The sound of one spoken step: numbered chunks go in, samples come out, each once and in order.
///
/// Nothing is played until there is a lead of some length, or all has come; where the sound comes too slowly there is
/// silence until there is a lead again, rather than many short holes. A chunk that came already is dropped; one that comes
/// before its turn is kept back, and what is missing for too long is taken for lost.
/// Threading: one thread writes (the game's), one reads (the audio thread's). Read takes no lock and allocates nothing.
class PARLEY_CORE_API VoiceBuffer
{
public:
    /// A buffer for one spoken step; null with a fault where the format cannot be played.
    /// `Rate` and `ChannelCount`: as AudioFormat says; samples of one moment stand beside each other.
    /// `LeadSeconds`: so much must be there before anything is heard. `MaxHeldSeconds`: so much may wait for a chunk that
    /// is missing; then it is taken for lost.
    static std::unique_ptr<VoiceBuffer> Make(
        int Rate, int ChannelCount, double LeadSeconds, double MaxHeldSeconds, std::string& Fault);

    VoiceBuffer(const VoiceBuffer&) = delete;
    VoiceBuffer& operator=(const VoiceBuffer&) = delete;
    ~VoiceBuffer();

    // ---- Any thread

    /// Samples a second, of each channel.
    int SampleRate() const noexcept { return Rate; }
    /// Samples of one moment.
    int Channels() const noexcept { return ChannelCount; }
    /// Samples that came.
    std::int64_t Written() const noexcept { return WrittenSamples.load(std::memory_order_acquire); }
    /// Samples of the voice that were read.
    std::int64_t SamplesRead() const noexcept { return ReadSamples.load(std::memory_order_acquire); }
    /// Samples that were read, silence included.
    std::int64_t Position() const noexcept { return Heard.load(std::memory_order_acquire); }
    /// The Position behind the last sample of the voice; -1: it is not read yet.
    std::int64_t EndsAt() const noexcept { return End.load(std::memory_order_acquire); }
    /// How often the sound came too slowly.
    int Underruns() const noexcept { return Holes.load(std::memory_order_acquire); }
    /// No more will come.
    bool IsComplete() const noexcept { return HasAll.load(std::memory_order_acquire); }
    /// Stop was called.
    bool IsStopped() const noexcept { return Stopped.load(std::memory_order_acquire); }
    /// There is enough to begin.
    bool IsReady() const noexcept { return IsComplete() || Written() - SamplesRead() >= LeadSamples; }
    /// All has come and was read, or it was stopped.
    bool IsFinished() const noexcept { return IsStopped() || (IsComplete() && SamplesRead() == Written()); }

    // ---- The writer's thread

    /// A chunk as an AudioChunk brings it. `Index` counts the chunks of the step from 0; `Pcm` holds samples of 16 bits,
    /// little end first, and may be null where there are none. False: it came already, or too late.
    bool Push(int Index, const std::uint8_t* Pcm, std::size_t Bytes, bool IsFinal);
    /// No more will come: the turn is over, or the sidecar gave the sound up.
    void Complete();
    /// Be silent from now on.
    void Stop();
    /// How loud the voice is at one of its samples: root mean square, 0 to 1.
    float LoudnessAt(std::int64_t Sample) const noexcept;
    /// Chunks that came twice and were dropped.
    int Doubled() const noexcept { return DoubledChunks; }
    /// Chunks that never came.
    std::int64_t Missing() const noexcept { return MissingChunks; }

    // ---- The reader's thread

    /// Fills an array with what is heard next; what there is not is silence. Takes no lock and allocates nothing. Returns
    /// how many samples of the voice are in it, from its beginning.
    int Read(float* Samples, int Count) noexcept;
    /// The same as samples of 16 bits.
    int Read(std::int16_t* Samples, int Count) noexcept;

private:
    static constexpr int BlockSamples = 4096;
    static constexpr int EnvelopeMilliseconds = 20;

    struct Block
    {
        std::int16_t Samples[BlockSamples];
        Block* Next = nullptr;
    };

    struct Chunk
    {
        std::vector<std::uint8_t> Pcm;
        bool IsFinal = false;
    };

    VoiceBuffer(int SamplesASecond, int SamplesAMoment, double LeadSeconds, double MaxHeldSeconds);
    template <class Sample>
    int ReadAs(Sample* Samples, int Count) noexcept;
    template <class Sample>
    void CopyTo(Sample* Samples, int Count) noexcept;
    void Release(bool All);
    void Follow();
    void Append(const std::uint8_t* Pcm, std::size_t Bytes, bool IsFinal);
    void Add(std::int16_t Value);
    void CloseEnvelope();
    void Close();
    void Recycle() noexcept;

    const int Rate;
    const int ChannelCount;
    const std::int64_t LeadSamples;
    const std::int64_t MaxHeldSamples;
    const int EnvelopeSamples;

    // The writer's.
    std::map<std::int64_t, Chunk> Early;
    std::vector<float> Envelope;
    Block* First;
    Block* WriteBlock;
    Block* Spare = nullptr;
    std::int64_t FirstNumber = 0;
    int WriteAt = 0;
    std::int64_t NextIndex = 0;
    std::int64_t HeldSamples = 0;
    int HalfSample = -1;
    double Energy = 0;
    int EnergySamples = 0;
    int DoubledChunks = 0;
    std::int64_t MissingChunks = 0;

    // The reader's.
    Block* ReadBlock;
    int ReadAt = 0;
    bool IsPlaying = false;

    // Both threads'.
    std::atomic<std::int64_t> WrittenSamples{0};
    std::atomic<std::int64_t> ReadSamples{0};
    std::atomic<std::int64_t> Heard{0};
    std::atomic<std::int64_t> End{-1};
    std::atomic<int> Holes{0};
    std::atomic<bool> HasAll{false};
    std::atomic<bool> Stopped{false};
};

} // namespace Parley
