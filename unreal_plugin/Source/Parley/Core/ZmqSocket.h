// Sockets and contexts of libzmq as objects whose end is certain, and waiting for several sockets.
#pragma once

#include "Core/CoreApi.h"
#include "Core/ZmqApi.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace Parley
{

/// One of libzmq's contexts: its threads, and all sockets that were made of it.
class PARLEY_CORE_API ZmqContext
{
public:
    explicit ZmqContext(std::shared_ptr<const ZmqApi> TheApi);
    /// Terminates.
    ~ZmqContext();
    ZmqContext(const ZmqContext&) = delete;
    ZmqContext& operator=(const ZmqContext&) = delete;

    /// False: `Why` has libzmq's words.
    bool Open(std::string& Why);
    /// Ends it; waits until its sockets, which must be closed, have lingered. Idempotent.
    void Terminate();

    const std::shared_ptr<const ZmqApi>& Api() const noexcept { return TheApi; }
    void* Handle() const noexcept { return TheHandle; }

private:
    std::shared_ptr<const ZmqApi> TheApi;
    void* TheHandle = nullptr;
};

/// Takes the parts of a message. `Data` is gone once the call returns.
class PARLEY_CORE_API IPartReader
{
public:
    virtual ~IPartReader();
    virtual void Part(const void* Data, std::size_t Size) = 0;
};

/// How a call went that does not wait.
enum class ZmqResult
{
    Done,
    /// There is nothing, or no room, now.
    NotNow,
    /// Why has libzmq's words.
    Failed,
};

/// One socket. Threading: used by one thread at a time; nothing here waits.
class PARLEY_CORE_API ZmqSocket
{
public:
    ZmqSocket() = default;
    /// Closes at once.
    ~ZmqSocket();
    ZmqSocket(const ZmqSocket&) = delete;
    ZmqSocket& operator=(const ZmqSocket&) = delete;

    /// All of these return false where libzmq refuses; `Why` has its words.
    bool Open(const ZmqContext& Context, int Type, std::string& Why);
    bool Set(int Option, int Value, std::string& Why);
    bool SetLong(int Option, std::int64_t Value, std::string& Why);
    bool SetText(int Option, std::string_view Value, std::string& Why);
    bool Bind(const std::string& Endpoint, std::string& Why);
    bool Connect(const std::string& Endpoint, std::string& Why);
    /// Lets a PAIR socket at an inproc endpoint hear of events.
    bool Monitor(const std::string& Endpoint, int Events, std::string& Why);
    /// Ends what Monitor began. Whoever listens closes after this.
    void EndMonitor() noexcept;

    /// Sends one part.
    ZmqResult TrySend(std::string_view Part, bool More, std::string& Why);
    /// Hands the next part, if there is one, to `Parts`.
    ZmqResult TryReceive(IPartReader& Parts, bool& More, std::string& Why);

    /// Closes; what was sent may stay for so long until it is on its way. Idempotent.
    void Close(int LingerMs) noexcept;

    /// Null once it is closed.
    void* Handle() const noexcept { return TheHandle; }

private:
    bool SetBytes(int Option, const void* Value, std::size_t Size, std::string& Why);

    std::shared_ptr<const ZmqApi> Api;
    void* TheHandle = nullptr;
};

/// Waits for several sockets at once. Threading: one thread's.
class PARLEY_CORE_API ZmqPoll
{
public:
    explicit ZmqPoll(std::shared_ptr<const ZmqApi> TheApi);

    void Clear() noexcept { Count = 0; }
    /// Of open sockets, at most as many as a session has.
    void Add(const ZmqSocket& Socket, bool ToSend) noexcept;
    /// Waits until there is something for one of them, or the time is over. False: `Why` has libzmq's words.
    bool Wait(long TimeoutMs, std::string& Why);

private:
    std::shared_ptr<const ZmqApi> Api;
    std::array<ZmqApi::PollItem, 4> Sockets{};
    std::size_t Count = 0;
};

} // namespace Parley
