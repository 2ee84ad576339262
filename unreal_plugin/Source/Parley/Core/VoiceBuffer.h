// What a character says aloud, between the frames that bring it and the audio thread that plays it.
#pragma once

#include "Core/CoreApi.h"
#include "Core/Generated/Messages.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace Parley
{

/// A sentence of a spoken step: all of a step, joined, are its text.
struct VoiceSentence
{
    /// Counts the sentences of the step from 0.
    std::int64_t Number = 0;
    /// With the spaces and line breaks behind it.
    std::string Text;
    /// The sample of the voice at which it begins.
    std::int64_t StartsAt = 0;
};

/// The sound of one spoken step: numbered chunks go in, samples come out, each once and in order.
///
/// Nothing is played until there is a lead of some length, or all has come; where the sound comes too slowly there is
/// silence until there is a lead again, rather than many short holes. A chunk that came already is dropped; one that comes
/// before its turn is kept back, and what is missing for too long is taken for lost: a moment's silence stands for it.
/// Threading: one thread writes (the game's), one reads (the audio thread's). Read takes no lock and allocates nothing.
class PARLEY_CORE_API VoiceBuffer
{
public:
    /// What stands for chunks that are lost; it counts as sound of the voice.
    static constexpr int GapMilliseconds = 100;

    /// A buffer for one spoken step; null with a fault where the format cannot be played.
    /// `Rate` and `ChannelCount`: as AudioFormat says; samples of one moment stand beside each other.
    /// `LeadSeconds`: so much must be there before anything is heard. `MaxHeldSeconds`: so much may wait for a chunk that
    /// is missing; then it is taken for lost.
    static std::unique_ptr<VoiceBuffer> Make(
        std::int64_t Rate, std::int64_t ChannelCount, double LeadSeconds, double MaxHeldSeconds, std::string& Fault);

    VoiceBuffer(const VoiceBuffer&) = delete;
    VoiceBuffer& operator=(const VoiceBuffer&) = delete;
    ~VoiceBuffer();

    // ---- Any thread

    /// Samples a second, of each channel.
    int SampleRate() const noexcept { return Rate; }
    /// Samples of one moment.
    int Channels() const noexcept { return ChannelCount; }
    /// Samples that came, with the silence in the place of what was lost.
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
    /// How many samples of the voice are over when so many samples, silence included, are: what is read is heard later.
    /// `At`: as Position counts, and not more than that. `IsSilent`: there is silence now: before the voice, in a hole, or
    /// behind its end.
    std::int64_t SamplesAt(std::int64_t At, bool& IsSilent) const noexcept;
    /// There is enough to begin.
    bool IsReady() const noexcept { return IsComplete() || Written() - SamplesRead() >= LeadSamples; }
    /// All has come and was read, or it was stopped.
    bool IsFinished() const noexcept { return IsStopped() || (IsComplete() && SamplesRead() == Written()); }

    // ---- The writer's thread

    /// A chunk. `Samples`: of 16 bits, little end first; null: none. False: it came already, or too late.
    bool Push(const Messages::AudioChunk& What, const std::uint8_t* Samples, std::size_t Bytes);
    /// No more will come: the turn is over, or the sidecar gave the sound up.
    void Complete();
    /// Be silent from now on.
    void Stop();
    /// How loud the voice is at one of its samples, as the envelopes say: 0 to 1.
    float LoudnessAt(std::int64_t Sample) const noexcept;
    /// The next sentence that is heard when so many samples of the voice are over; each comes once. One without sound is
    /// heard with what follows it. `IsEnd`: those are all, so that what is left is heard too.
    bool TakeSentence(std::int64_t Samples, bool IsEnd, VoiceSentence& Out);
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
    static constexpr std::int64_t KeptRuns = 32;

    struct Block
    {
        std::int16_t Samples[BlockSamples];
        Block* Next = nullptr;
    };

    struct EarlyChunk
    {
        Messages::AudioChunk What;
        std::vector<std::uint8_t> Samples;
    };

    /// From a sample of the voice to the next of its kind.
    struct Span
    {
        std::int64_t Start = 0;
        float Loudness = 0;
    };

    /// Voice without silence in it: where it begins among all that was read, and in the voice.
    struct Run
    {
        std::atomic<std::int64_t> Position{0};
        std::atomic<std::int64_t> Voice{0};
    };

    VoiceBuffer(int SamplesASecond, int SamplesAMoment, double LeadSeconds, double MaxHeldSeconds);
    template <class Sample>
    int ReadAs(Sample* Samples, int Count) noexcept;
    template <class Sample>
    void CopyTo(Sample* Samples, int Count) noexcept;
    void Release(bool All);
    void Follow();
    void Append(const Messages::AudioChunk& What, const std::uint8_t* Samples, std::size_t Bytes);
    void AppendSilence();
    void Shape(std::int64_t Start, std::int64_t Behind, const std::vector<double>& Loudness);
    void Add(std::int16_t Value);
    void Close();
    void Recycle() noexcept;

    const int Rate;
    const int ChannelCount;
    const std::int64_t LeadSamples;
    const std::int64_t MaxHeldSamples;
    const int EnvelopeSamples;

    // The writer's.
    std::map<std::int64_t, EarlyChunk> Early;
    std::vector<Span> Envelope;
    std::deque<VoiceSentence> Begun;
    Block* First;
    Block* WriteBlock;
    Block* Spare = nullptr;
    std::int64_t FirstNumber = 0;
    int WriteAt = 0;
    std::int64_t NextIndex = 0;
    std::int64_t HeldSamples = 0;
    int HalfSample = -1;
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
    Run Runs[KeptRuns];
    std::atomic<std::int64_t> RunCount{0};
    std::atomic<int> Holes{0};
    std::atomic<bool> HasAll{false};
    std::atomic<bool> Stopped{false};
};

} // namespace Parley
