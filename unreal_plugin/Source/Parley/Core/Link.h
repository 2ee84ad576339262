// One connection to a sidecar: a DEALER socket, and the news that it broke.
#pragma once

#include "Core/CoreApi.h"
#include "Core/Fault.h"
#include "Core/Frames.h"
#include "Core/ZmqSocket.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace Parley
{

/// The client's half of CURVE, ZeroMQ's encryption.
namespace Curve
{

/// False where `Key` cannot be a sidecar's public key, or libzmq cannot encrypt.
PARLEY_CORE_API bool IsUsable(const ZmqApi& Api, const std::string& Key, Fault& Why);

} // namespace Curve

/// A broken connection is not mended here: whoever owns the link closes it and makes another, because what was on its way is
/// lost with it. Threading: one thread's.
class PARLEY_CORE_API Link
{
public:
    /// What was said last may stay for so long after an orderly end.
    static constexpr int LingerMs = 100;
    /// What Why says of an end that the other side made.
    static constexpr std::string_view WasClosed = "the connection was closed";
    /// What Why says where nothing of what was sent can have come to anybody.
    static constexpr std::string_view NobodyListens = "nobody listens there";

    Link() = default;
    /// Closes at once.
    ~Link();
    Link(const Link&) = delete;
    Link& operator=(const Link&) = delete;

    /// Connects. `Number` tells the links of a context apart. False: libzmq refuses, such as an endpoint that is none;
    /// `Said` has its words.
    bool Open(
        const ZmqContext& Context, const std::string& Endpoint, const std::string& ServerPublicKey,
        std::size_t MaxPartBytes, int Number, std::string& Said);

    /// It has ended; all that came before was read, and the rest does not count.
    bool IsBroken() const noexcept { return Broken; }
    /// Why, as far as libzmq says it.
    const std::string& Why() const noexcept { return Reason; }

    /// Adds its sockets to those that are waited for.
    void AddTo(ZmqPoll& Poll, bool ToRead, bool ToSend) const noexcept;
    /// Sends a message now; false where the connection takes no more.
    bool TrySend(const Frames::Parts& Parts);
    /// Reads the next message whole; false where there is none.
    bool TryReceive(InboundMessage& Into);
    /// Whether libzmq told that the connection ended. What came before may still be to be read.
    bool HearsTheEnd();
    /// It counts as ended from now on.
    void Break(std::string Because);
    /// Says and hears nothing more. Idempotent.
    void Close(int Linger) noexcept;

private:
    // An event: its number as u16 and a value as u32, both of this machine's order; then an address.
    class EventReader final : public IPartReader
    {
    public:
        void Part(const void* Data, std::size_t Size) override;
        void Clear() noexcept;
        std::string Words() const;

    private:
        std::array<unsigned char, 6> Event{};
        int Count = 0;
    };

    ZmqSocket Socket;
    ZmqSocket Monitor;
    EventReader Events;
    std::string Reason;
    bool Broken = false;
};

} // namespace Parley
