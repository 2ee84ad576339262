// The calls into libzmq that the plugin needs, found by name when the library is loaded.
#pragma once

#include "Core/CoreApi.h"
#include "Core/Fault.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace Parley
{

/// libzmq's C interface, version 4.2 or later, as http://api.zeromq.org/ describes it. There is nothing to link with: the
/// builds of libzmq that come with the plugin have no import library for Windows.
/// Threading: immutable once it is made. A context may be used from any thread, a socket from one at a time.
class PARLEY_CORE_API ZmqApi
{
public:
    /// Finds one function by its name; null where there is none.
    using Finder = std::function<void*(const char* Name)>;

    /// Loads the library at a path (UTF-8). Null: the fault (LibraryMissing) says why. What is loaded stays so.
    static std::shared_ptr<const ZmqApi> Load(const std::string& Path, Fault& Why);

    /// Takes the functions of a library that somebody else has loaded; `From` is told to people. Null: one of them is
    /// missing, as the fault (LibraryMissing) says.
    static std::shared_ptr<const ZmqApi> Fill(const Finder& Find, const std::string& From, Fault& Why);

    ZmqApi(const ZmqApi&) = delete;
    ZmqApi& operator=(const ZmqApi&) = delete;

    static constexpr int Pair = 0;
    static constexpr int Dealer = 5;

    static constexpr int OptionLinger = 17;
    static constexpr int OptionReconnectInterval = 18;
    static constexpr int OptionMaxMessageSize = 22;
    static constexpr int OptionReceiveLimit = 24;
    static constexpr int OptionIpv6 = 42;
    static constexpr int OptionCurvePublicKey = 48;
    static constexpr int OptionCurveSecretKey = 49;
    static constexpr int OptionCurveServerKey = 50;

    static constexpr int DontWait = 1;
    static constexpr int SendMore = 2;
    static constexpr short PollIn = 1;
    static constexpr short PollOut = 2;

    static constexpr int EventClosed = 0x0080;
    static constexpr int EventDisconnected = 0x0200;
    static constexpr int EventHandshakeFailedNoDetail = 0x0800;
    static constexpr int EventHandshakeFailedProtocol = 0x2000;
    static constexpr int EventHandshakeFailedAuth = 0x4000;

    /// Characters of a CURVE key in Z85.
    static constexpr std::size_t KeyChars = 40;

    /// Room for a zmq_msg_t.
    struct alignas(void*) Msg
    {
        unsigned char Room[64];
    };

    /// zmq_pollitem_t, which holds a SOCKET on Windows, whose size is that of a pointer, and an int elsewhere.
    struct PollItem
    {
        void* Socket;
#if defined(_WIN32)
        std::uintptr_t Descriptor;
#else
        int Descriptor;
#endif
        short Events;
        short Found;
    };

    int (*Errno)() = nullptr;
    const char* (*StrError)(int Error) = nullptr;
    void* (*CtxNew)() = nullptr;
    int (*CtxTerm)(void* Context) = nullptr;
    void* (*Socket)(void* Context, int Type) = nullptr;
    int (*Close)(void* Socket) = nullptr;
    int (*SetSockOpt)(void* Socket, int Option, const void* Value, std::size_t Size) = nullptr;
    int (*Bind)(void* Socket, const char* Endpoint) = nullptr;
    int (*Connect)(void* Socket, const char* Endpoint) = nullptr;
    int (*SocketMonitor)(void* Socket, const char* Endpoint, int Events) = nullptr;
    int (*Send)(void* Socket, const void* Data, std::size_t Size, int Flags) = nullptr;
    int (*MsgInit)(Msg* Message) = nullptr;
    int (*MsgRecv)(Msg* Message, void* Socket, int Flags) = nullptr;
    void* (*MsgData)(Msg* Message) = nullptr;
    int (*MsgMore)(const Msg* Message) = nullptr;
    int (*MsgClose)(Msg* Message) = nullptr;
    int (*Has)(const char* Capability) = nullptr;
    int (*CurveKeypair)(char* PublicKey, char* SecretKey) = nullptr;
    std::uint8_t* (*Z85Decode)(std::uint8_t* Data, const char* Text) = nullptr;
    int (*Poll)(PollItem* Items, int Count, long TimeoutMs) = nullptr;

    /// Nothing there now, or no room: try later. The number is Linux's and Windows's, and macOS's.
    static bool IsAgain(int Error) noexcept { return Error == 11 || Error == 35; }
    /// A signal came between.
    static bool IsInterrupted(int Error) noexcept { return Error == 4; }

    /// What could not be done, and libzmq's words for why. Call it right after the call that failed, on its thread.
    std::string Describe(const std::string& What) const;

private:
    ZmqApi() = default;
};

} // namespace Parley
