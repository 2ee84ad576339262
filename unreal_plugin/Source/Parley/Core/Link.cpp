// How a connection is made, and what libzmq tells of its end.
#include "Core/Link.h"

#include "Core/Numbers.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace Parley
{

namespace LinkLocal
{

// Never: but -1 would make libzmq throw away what came before the connection broke and is not read yet.
constexpr int ReconnectMs = 24 * 60 * 60 * 1000;
constexpr std::size_t CurveOverhead = 64;

constexpr std::uint32_t Cryptographic = 0x11000001;
constexpr std::uint32_t MechanismMismatch = 0x11000002;
constexpr std::uint32_t KeyExchange = 0x10000003;

bool Encrypt(const ZmqApi& Api, ZmqSocket& Socket, const std::string& ServerPublicKey, std::string& Said)
{
    Fault Unusable;
    if (!Curve::IsUsable(Api, ServerPublicKey, Unusable))
    {
        Said = Unusable.Text;
        return false;
    }
    std::array<char, ZmqApi::KeyChars + 1> PublicKey{};
    std::array<char, ZmqApi::KeyChars + 1> SecretKey{};
    if (Api.CurveKeypair(PublicKey.data(), SecretKey.data()) != 0)
    {
        Said = Api.Describe("cannot make a key pair");
        return false;
    }
    return Socket.SetText(ZmqApi::OptionCurveServerKey, ServerPublicKey, Said)
        && Socket.SetText(ZmqApi::OptionCurvePublicKey, std::string_view(PublicKey.data(), ZmqApi::KeyChars), Said)
        && Socket.SetText(ZmqApi::OptionCurveSecretKey, std::string_view(SecretKey.data(), ZmqApi::KeyChars), Said);
}

} // namespace LinkLocal

bool Curve::IsUsable(const ZmqApi& Api, const std::string& Key, Fault& Why)
{
    if (Api.Has("curve") == 0)
    {
        Why = Fault::Local(
            LocalFaults::LibraryFault, "this build of ZeroMQ's library cannot encrypt (it has no CURVE)");
        return false;
    }
    std::array<std::uint8_t, 32> Decoded{};
    const bool IsKey = Key.size() == ZmqApi::KeyChars
        && std::all_of(Key.begin(), Key.end(), [](char Letter) { return Letter > 0x20 && Letter < 0x7F; })
        && Api.Z85Decode(Decoded.data(), Key.c_str()) != nullptr;
    if (!IsKey)
    {
        Why = Fault::OfWire(
            ErrorCode::InvalidValue, "InvalidValue",
            "the server's public key must be the 40 characters that `parley keygen` printed and the ready line has as "
            "curve_public_key");
    }
    return IsKey;
}

Link::~Link()
{
    Close(0);
}

bool Link::Open(
    const ZmqContext& Context, const std::string& Endpoint, const std::string& ServerPublicKey, std::size_t MaxPartBytes,
    int Number, std::string& Said)
{
    const std::string Ears = "inproc://parley-link-" + Numbers::Of(Number);
    const int Wanted = ZmqApi::EventDisconnected | ZmqApi::EventClosed | ZmqApi::EventHandshakeFailedNoDetail
        | ZmqApi::EventHandshakeFailedProtocol | ZmqApi::EventHandshakeFailedAuth;
    const bool IsOpen = Socket.Open(Context, ZmqApi::Dealer, Said)
        && Socket.Set(ZmqApi::OptionReconnectInterval, LinkLocal::ReconnectMs, Said)
        && Socket.SetLong(
            ZmqApi::OptionMaxMessageSize, static_cast<std::int64_t>(MaxPartBytes + LinkLocal::CurveOverhead), Said)
        && Socket.Set(ZmqApi::OptionIpv6, Endpoint.find('[') != std::string::npos ? 1 : 0, Said)
        && (ServerPublicKey.empty() || LinkLocal::Encrypt(*Context.Api(), Socket, ServerPublicKey, Said))
        && Socket.Monitor(Ears, Wanted, Said)
        && Monitor.Open(Context, ZmqApi::Pair, Said)
        // Unbounded: with a full queue, libzmq's own thread would wait for this one.
        && Monitor.Set(ZmqApi::OptionReceiveLimit, 0, Said)
        && Monitor.Connect(Ears, Said)
        && Socket.Connect(Endpoint, Said);
    if (!IsOpen)
    {
        Close(0);
    }
    return IsOpen;
}

void Link::AddTo(ZmqPoll& Poll, bool ToRead, bool ToSend) const noexcept
{
    if (!Broken)
    {
        Poll.Add(Monitor, false);
        if (ToRead)
        {
            Poll.Add(Socket, ToSend);
        }
    }
}

bool Link::TrySend(const Frames::Parts& Parts)
{
    if (Broken)
    {
        return false;
    }
    std::string Said;
    for (std::size_t At = 0; At < Parts.size(); ++At)
    {
        // Once the first part is taken, so are the others.
        const ZmqResult Result = Socket.TrySend(Parts[At], At + 1 < Parts.size(), Said);
        if (Result == ZmqResult::Failed)
        {
            Break(std::move(Said));
        }
        if (Result != ZmqResult::Done)
        {
            return false;
        }
    }
    return true;
}

bool Link::TryReceive(InboundMessage& Into)
{
    Into.Clear();
    std::string Said;
    bool More = true;
    bool IsWhole = false;
    while (More)
    {
        const ZmqResult Result = Socket.TryReceive(Into, More, Said);
        if (Result == ZmqResult::Failed)
        {
            Break(std::move(Said));
            return false;
        }
        if (Result == ZmqResult::NotNow)
        {
            break;
        }
        IsWhole = true;
    }
    return IsWhole;
}

bool Link::HearsTheEnd()
{
    bool Ended = false;
    bool More = false;
    std::string Said;
    while (Monitor.TryReceive(Events, More, Said) == ZmqResult::Done)
    {
        while (More && Monitor.TryReceive(Events, More, Said) == ZmqResult::Done)
        {
        }
        Ended = true;
        if (Reason.empty())
        {
            // What comes behind the first reason is only that the connection is closed then.
            Reason = Events.Words();
        }
        Events.Clear();
    }
    return Ended;
}

void Link::Break(std::string Because)
{
    Broken = true;
    Reason = std::move(Because);
}

void Link::Close(int Linger) noexcept
{
    Socket.EndMonitor();
    Monitor.Close(0);
    Socket.Close(Linger);
}

void Link::EventReader::Part(const void* Data, std::size_t Size)
{
    if (Count++ == 0 && Size == Event.size())
    {
        std::memcpy(Event.data(), Data, Size);
    }
}

void Link::EventReader::Clear() noexcept
{
    Count = 0;
}

std::string Link::EventReader::Words() const
{
    std::uint16_t Number = 0;
    std::uint32_t Value = 0;
    std::memcpy(&Number, Event.data(), sizeof(Number));
    std::memcpy(&Value, Event.data() + sizeof(Number), sizeof(Value));
    switch (Number)
    {
        case ZmqApi::EventClosed:
            return std::string(NobodyListens);
        case ZmqApi::EventDisconnected:
            return std::string(WasClosed);
        case ZmqApi::EventHandshakeFailedNoDetail:
            return "the connection ended in its handshake; do both sides encrypt (CURVE) with this sidecar's key, or neither?";
        case ZmqApi::EventHandshakeFailedProtocol:
            switch (Value)
            {
                case LinkLocal::MechanismMismatch:
                    return "one side encrypts (CURVE) and the other does not";
                case LinkLocal::Cryptographic:
                case LinkLocal::KeyExchange:
                    return "the sidecar's public key is another one";
                default:
                    return "the other side does not speak ZeroMQ's protocol as a sidecar does";
            }
        default:
            return "the other side refused the keys";
    }
}

} // namespace Parley
