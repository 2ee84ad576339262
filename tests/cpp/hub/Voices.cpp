// Voices from a real sidecar to an audio thread: what is heard is what was sent.
#include "World.h"

#include "Core/VoiceBuffer.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>
#include <utility>

namespace Parley::Testing
{

namespace
{

/// One spoken step: what comes of it on the game's thread, and an audio thread that takes it in real time.
class Spoken
{
public:
    explicit Spoken(const Messages::AudioFormat& How) : Format(How)
    {
        std::string Why;
        Buffer = VoiceBuffer::Make(How.SampleRate, How.Channels, 0.1, 0.5, Why);
        Check(Buffer != nullptr, Why);
        Audio = std::thread([this] { Listen(); });
    }

    ~Spoken()
    {
        Buffer->Stop();
        Audio.join();
    }

    void Take(const SoundChunk& Sound)
    {
        Equal(Sound.Chunk.Index, Chunks++, "the number of a chunk");
        const std::int64_t Start = Buffer->Written();
        std::vector<std::int16_t> Samples;
        for (std::size_t Index = 0; Index + 1 < Sound.Bytes; Index += 2)
        {
            Samples.push_back(static_cast<std::int16_t>(Sound.Samples[Index] | (Sound.Samples[Index + 1] << 8)));
        }
        Check(Buffer->Push(Sound.Chunk, Sound.Samples, Sound.Bytes), "a chunk is taken");
        Sent.insert(Sent.end(), Samples.begin(), Samples.end());
        Text += Sound.Chunk.Text.value_or("");
        const std::size_t Span = static_cast<std::size_t>(Format.SampleRate / 50);
        for (std::size_t First = 0; First < Samples.size(); First += Span)
        {
            double Energy = 0;
            const std::size_t Behind = (std::min)(First + Span, Samples.size());
            for (std::size_t Index = First; Index < Behind; ++Index)
            {
                Energy += Samples[Index] * static_cast<double>(Samples[Index]);
            }
            const double Loudness = std::sqrt(Energy / static_cast<double>(Behind - First)) / 32768;
            const double Told = Buffer->LoudnessAt(Start + static_cast<std::int64_t>(First));
            Check(std::abs(Told - Loudness) < 0.001, "loudness " + std::to_string(Told) + ", not " + std::to_string(Loudness));
        }
    }

    bool IsHeard() const { return Buffer->IsFinished(); }

    /// When all of it is heard.
    Json Report()
    {
        Buffer->Stop();
        Audio.join();
        Audio = std::thread([] {});
        Check(Heard == Sent, "what is heard is not what was sent");
        Equal(Buffer->Missing() + Buffer->Doubled(), 0, "chunks that are missing or doubled");
        Json Found = Json::Object();
        Found.Set("node", Json::String(Format.NodeName));
        Found.Set("turn", Json::Integer(Format.TurnId));
        Found.Set("sample_rate", Json::Integer(Format.SampleRate));
        Found.Set("samples", Json::Integer(static_cast<std::int64_t>(Heard.size())));
        Found.Set("text", Json::String(Text));
        Found.Set("underruns", Json::Integer(Buffer->Underruns()));
        return Found;
    }

    const Messages::AudioFormat Format;

private:
    void Listen()
    {
        // As much as is due: whoever falls behind on a busy machine reads more at once, not less.
        const Watch Clock;
        std::vector<std::int16_t> Samples;
        while (!Buffer->IsFinished())
        {
            const double Due = Clock.Seconds() * static_cast<double>(Format.SampleRate) - static_cast<double>(Buffer->Position());
            Samples.resize(static_cast<std::size_t>((std::max)(Due, 0.0)));
            const int Got = Buffer->Read(Samples.data(), static_cast<int>(Samples.size()));
            Heard.insert(Heard.end(), Samples.begin(), Samples.begin() + Got);
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
    }

    std::unique_ptr<VoiceBuffer> Buffer;
    std::vector<std::int16_t> Sent;
    std::vector<std::int16_t> Heard;
    std::string Text;
    std::int64_t Chunks = 0;
    std::thread Audio;
};

/// A turn that is heard; one that is cancelled while it speaks; the next one.
Json Voices()
{
    World Game;
    const std::unique_ptr<Character> Mira = Game.Ready().Make("voices");
    Check(Mira->Agent->HasVoice("mira") && !Mira->Agent->HasVoice("nobody"), "who has a voice");
    std::vector<std::unique_ptr<Spoken>> All;
    int Chunks = 0;
    Mira->Agent->SoundStarted.Add(
        [&All](const Messages::AudioFormat& How) { All.push_back(std::make_unique<Spoken>(How)); });
    Mira->Agent->Sound.Add(
        [&All, &Chunks](const SoundChunk& Sound)
        {
            Check(!All.empty() && All.back()->Format.Step == Sound.Chunk.Step, "a chunk comes behind the format of its step");
            Equal(Sound.Chunk.TurnId, All.back()->Format.TurnId, "its turn");
            All.back()->Take(Sound);
            ++Chunks;
        });
    Json Turns = Json::Array();
    const auto Hear = [&](const char* Line)
    {
        Equal(Mira->Turn(Line).Status, Success, "the turn");
        Json& Steps = Turns.Add(Json::Array());
        for (const std::unique_ptr<Spoken>& One : All)
        {
            Game.Until([&One] { return One->IsHeard(); }, "all is heard");
            Steps.Add(One->Report());
        }
        All.clear();
    };
    Hear("Who is there?");
    Chunks = 0;
    Mira->Agent->Say("And now?");
    Game.Until([&Chunks] { return Chunks > 0; }, "it speaks");
    Mira->Agent->Cancel();
    const int Before = Chunks;
    Game.Until([&Mira] { return Mira->Ends.size() == 2; }, "the turn ends");
    Equal(Mira->Ends[1]->Status, Cancelled, "the turn");
    Equal(Chunks, Before, "chunks of a turn that is cancelled");
    All.clear();
    Hear("And then?");
    Game.End();
    return Turns;
}

const Scenario Played("voices", Voices);

} // namespace

} // namespace Parley::Testing
