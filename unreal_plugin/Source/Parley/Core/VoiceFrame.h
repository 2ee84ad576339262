// What comes of a voice: its format once for each spoken step, then its chunks.
#pragma once

#include "Core/CoreApi.h"
#include "Core/Json.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace Parley
{

/// An AudioFormat or an AudioChunk, without its samples.
struct PARLEY_CORE_API VoiceFrame
{
    /// The only encoding there is: samples of 16 bits, little end first.
    static constexpr std::string_view Encoding16 = "s16le";

    /// True: the format of a step; false: a chunk of it.
    bool IsFormat = false;
    /// The conversation.
    std::string AgentId;
    /// The turn.
    std::int64_t TurnId = 0;
    /// Who speaks.
    std::string NodeName;
    /// The step of the turn.
    int Step = 0;
    /// Of a format: samples a second.
    int SampleRate = 0;
    /// Of a format: samples of one moment.
    int Channels = 1;
    /// Of a format: how samples are written.
    std::string Encoding{Encoding16};
    /// Of a chunk: counts those of its step from 0.
    int Index = -1;
    /// Of a chunk: the last one of its step.
    bool IsFinal = false;

    /// Whether messages of that type are part of a voice.
    static bool IsPart(std::string_view TypeName) noexcept;

    /// Reads one. False: the message is no part of a voice, or lacks what it must have.
    static bool Read(std::string_view TypeName, const Json& Body, VoiceFrame& Out);
};

} // namespace Parley
