// What the game hears of a session while it drains it.
#pragma once

#include "Core/CoreApi.h"
#include "Core/Fault.h"
#include "Core/Message.h"
#include "Core/SessionState.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace Parley
{

/// Hears what came, once and in order. Every method is called by ParleySession::Drain, on its thread.
class PARLEY_CORE_API IFrameSink
{
public:
    virtual ~IFrameSink();

    /// Something the sidecar sent unasked; the receiver may keep it. A Gap with the reason dropped means that frames are
    /// lost, perhaps the end of a turn: ListAgents tells which agents are still busy. `Payload`: the sound of an AudioChunk;
    /// empty where there is none. `Seq`: its number in the session; 0: it has none.
    virtual void OnPush(std::unique_ptr<Push> Said, std::vector<std::uint8_t> Payload, std::uint64_t Seq) = 0;

    /// A reply that no callback waits for: to a request that was given up, or that an earlier object of this session sent.
    /// `RequestId` 0: an Error about something the sidecar could not read.
    virtual void OnReply(std::uint64_t RequestId, std::unique_ptr<Reply> Said) = 0;

    /// The session got into another state. `Reason`: why it is Lost or Closed, else null.
    virtual void OnState(SessionState State, const Fault* Reason) = 0;
};

} // namespace Parley
