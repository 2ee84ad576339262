// How a ready line is told from all others.
#include "Core/ReadyLine.h"

#include <cstdint>
#include <limits>

namespace Parley
{

namespace ReadyLineLocal
{

std::string TextOf(const Json& Found, std::string_view Name)
{
    const Json* Field = Found.Find(Name);
    return Field != nullptr && Field->IsString() ? Field->AsText() : std::string();
}

} // namespace ReadyLineLocal

std::optional<ReadyLine> ReadyLine::Read(std::string_view Line, const JsonCodec& Codec)
{
    Json Found;
    std::string Wrong;
    if (Line.empty() || Line.front() != '{' || !Codec.Read(Line, Found, Wrong)
        || ReadyLineLocal::TextOf(Found, "event") != "ready")
    {
        return std::nullopt;
    }
    ReadyLine Ready;
    Ready.Endpoint = ReadyLineLocal::TextOf(Found, "endpoint");
    Ready.Token = ReadyLineLocal::TextOf(Found, "token");
    Ready.CurvePublicKey = ReadyLineLocal::TextOf(Found, "curve_public_key");
    std::int64_t Number = 0;
    const Json* Pid = Found.Find("pid");
    if (Pid != nullptr && Pid->ToInt64(Number) && Number > 0 && Number <= (std::numeric_limits<int>::max)())
    {
        Ready.Pid = static_cast<int>(Number);
    }
    return Ready.Endpoint.empty() ? std::nullopt : std::optional<ReadyLine>(Ready);
}

} // namespace Parley
