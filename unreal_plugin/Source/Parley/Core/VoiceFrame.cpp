// The bodies of VoiceFrame.h.
#include "Core/VoiceFrame.h"

#include <limits>
#include <utility>

namespace Parley::VoiceFrameLocal
{

constexpr std::string_view FormatType = "AudioFormat";
constexpr std::string_view ChunkType = "AudioChunk";

void Take(const Json& Body, std::string_view Name, std::string& Out)
{
    const Json* Value = Body.Find(Name);
    if (Value != nullptr && Value->IsString())
    {
        Out = Value->AsText();
    }
}

void Take(const Json& Body, std::string_view Name, std::int64_t& Out)
{
    const Json* Value = Body.Find(Name);
    std::int64_t Number = 0;
    if (Value != nullptr && Value->ToInt64(Number))
    {
        Out = Number;
    }
}

void Take(const Json& Body, std::string_view Name, int& Out)
{
    std::int64_t Number = Out;
    Take(Body, Name, Number);
    if (Number >= (std::numeric_limits<int>::min)() && Number <= (std::numeric_limits<int>::max)())
    {
        Out = static_cast<int>(Number);
    }
}

} // namespace Parley::VoiceFrameLocal

namespace Parley
{

bool VoiceFrame::IsPart(std::string_view TypeName) noexcept
{
    return TypeName == VoiceFrameLocal::ChunkType || TypeName == VoiceFrameLocal::FormatType;
}

bool VoiceFrame::Read(std::string_view TypeName, const Json& Body, VoiceFrame& Out)
{
    using VoiceFrameLocal::Take;
    if (!IsPart(TypeName))
    {
        return false;
    }
    VoiceFrame Frame;
    Frame.IsFormat = TypeName == VoiceFrameLocal::FormatType;
    Take(Body, "agent_id", Frame.AgentId);
    Take(Body, "turn_id", Frame.TurnId);
    Take(Body, "node_name", Frame.NodeName);
    Take(Body, "step", Frame.Step);
    Take(Body, "sample_rate", Frame.SampleRate);
    Take(Body, "channels", Frame.Channels);
    Take(Body, "encoding", Frame.Encoding);
    Take(Body, "index", Frame.Index);
    const Json* IsLast = Body.Find("is_final");
    Frame.IsFinal = IsLast != nullptr && IsLast->AsBoolean();
    if (Frame.AgentId.empty() || !(Frame.IsFormat ? Frame.SampleRate > 0 : Frame.Index >= 0))
    {
        return false;
    }
    Out = std::move(Frame);
    return true;
}

} // namespace Parley
