// What a session needs to know before it begins.
#pragma once

#include "Core/CoreApi.h"
#include "Core/Generated/Protocol.h"
#include "Core/Json.h"
#include "Core/LogSink.h"
#include "Core/ZmqApi.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace Parley
{

/// Where the sidecar is, who asks, which session to take up again, and how patient to be.
struct PARLEY_CORE_API SessionOptions
{
    /// As the ready line says, such as tcp://127.0.0.1:5600.
    std::string Endpoint;
    /// The token of the ready line.
    std::string Token;
    /// Who asks, for the sidecar's log.
    std::string ClientName = "unreal";
    /// The sidecar's public key, 40 characters, where the connection is to be encrypted; empty: it is not.
    std::string ServerPublicKey;
    /// The SessionKey of a session that an earlier object had; empty: begin a new one.
    std::string ResumeKey;
    /// The LastSeq of that object. 0: all that the sidecar still keeps comes again.
    std::uint64_t LastSeq = 0;
    /// The LastRequestId of that object.
    std::uint64_t LastRequestId = 0;
    /// Seconds within which the first Hello must be answered, with as many tries as fit.
    double ConnectTimeoutS = 10.0;
    /// Seconds for which a lost connection is made anew; 0: never.
    double ReconnectS = Protocol::ResumeWindowS;
    /// Seconds that one Hello may remain unanswered.
    double TryTimeoutS = 5.0;
    /// Seconds without a word from the sidecar, and at least three heartbeats, that make a connection lost.
    double SilenceS = Protocol::DetachAfterS;
    /// The largest part 3 in either direction; as the sidecar's setting `max_json_bytes`.
    std::size_t MaxJsonBytes = Protocol::MaxJsonBytes;
    /// The largest part 4; as the sidecar's setting `max_payload_bytes`.
    std::size_t MaxPayloadBytes = Protocol::MaxPayloadBytes;
    /// libzmq. Must be there.
    std::shared_ptr<const ZmqApi> Zmq;
    /// Reads and writes JSON. Must be there.
    std::shared_ptr<const JsonCodec> Codec;
    /// Hears why connections break, for developers. Empty: nobody. Called on the session's own thread.
    LogSink Log;
};

} // namespace Parley
