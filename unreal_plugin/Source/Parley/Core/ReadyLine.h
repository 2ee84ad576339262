// The line with which a sidecar says where it is.
#pragma once

#include "Core/CoreApi.h"
#include "Core/Json.h"

#include <optional>
#include <string>
#include <string_view>

namespace Parley
{

/// Where a sidecar listens, and how to get in.
struct PARLEY_CORE_API ReadyLine
{
    /// Such as `tcp://127.0.0.1:50123`.
    std::string Endpoint;
    /// Secret: what Hello says.
    std::string Token;
    /// The sidecar's process; where a launcher started it, not the one that was started here. 0: it does not say.
    int Pid = 0;
    /// What clients need where it encrypts; empty: it does not.
    std::string CurvePublicKey;

    /// What a line says; nothing: it is no ready line.
    static std::optional<ReadyLine> Read(std::string_view Line, const JsonCodec& Codec);
};

} // namespace Parley
