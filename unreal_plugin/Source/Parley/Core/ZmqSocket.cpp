// Calls into libzmq, each of which may fail.
#include "Core/ZmqSocket.h"

#include "Core/Numbers.h"

#include <utility>

namespace Parley
{

IPartReader::~IPartReader() = default;

// ---- contexts ----

ZmqContext::ZmqContext(std::shared_ptr<const ZmqApi> InApi) : TheApi(std::move(InApi))
{
}

ZmqContext::~ZmqContext()
{
    Terminate();
}

bool ZmqContext::Open(std::string& Why)
{
    TheHandle = TheApi->CtxNew();
    if (TheHandle == nullptr)
    {
        Why = TheApi->Describe("cannot make a ZeroMQ context");
        return false;
    }
    return true;
}

void ZmqContext::Terminate()
{
    void* Handle = std::exchange(TheHandle, nullptr);
    if (Handle == nullptr)
    {
        return;
    }
    while (TheApi->CtxTerm(Handle) != 0 && ZmqApi::IsInterrupted(TheApi->Errno()))
    {
    }
}

// ---- sockets ----

ZmqSocket::~ZmqSocket()
{
    Close(0);
}

bool ZmqSocket::Open(const ZmqContext& Context, int Type, std::string& Why)
{
    Api = Context.Api();
    TheHandle = Api->Socket(Context.Handle(), Type);
    if (TheHandle == nullptr)
    {
        Why = Api->Describe("cannot make a ZeroMQ socket");
        return false;
    }
    return Set(ZmqApi::OptionLinger, 0, Why);
}

bool ZmqSocket::Set(int Option, int Value, std::string& Why)
{
    return SetBytes(Option, &Value, sizeof(Value), Why);
}

bool ZmqSocket::SetLong(int Option, std::int64_t Value, std::string& Why)
{
    return SetBytes(Option, &Value, sizeof(Value), Why);
}

bool ZmqSocket::SetText(int Option, std::string_view Value, std::string& Why)
{
    return SetBytes(Option, Value.data(), Value.size(), Why);
}

bool ZmqSocket::SetBytes(int Option, const void* Value, std::size_t Size, std::string& Why)
{
    if (Api->SetSockOpt(TheHandle, Option, Value, Size) != 0)
    {
        Why = Api->Describe("cannot set option " + Numbers::Of(Option) + " of a ZeroMQ socket");
        return false;
    }
    return true;
}

bool ZmqSocket::Bind(const std::string& Endpoint, std::string& Why)
{
    if (Api->Bind(TheHandle, Endpoint.c_str()) != 0)
    {
        Why = Api->Describe("cannot bind " + Endpoint);
        return false;
    }
    return true;
}

bool ZmqSocket::Connect(const std::string& Endpoint, std::string& Why)
{
    if (Api->Connect(TheHandle, Endpoint.c_str()) != 0)
    {
        Why = Api->Describe("cannot connect to '" + Endpoint + "'");
        return false;
    }
    return true;
}

bool ZmqSocket::Monitor(const std::string& Endpoint, int Events, std::string& Why)
{
    if (Api->SocketMonitor(TheHandle, Endpoint.c_str(), Events) != 0)
    {
        Why = Api->Describe("cannot watch a ZeroMQ socket");
        return false;
    }
    return true;
}

void ZmqSocket::EndMonitor() noexcept
{
    if (TheHandle != nullptr)
    {
        Api->SocketMonitor(TheHandle, nullptr, 0);
    }
}

ZmqResult ZmqSocket::TrySend(std::string_view Part, bool More, std::string& Why)
{
    const int Flags = ZmqApi::DontWait | (More ? ZmqApi::SendMore : 0);
    while (Api->Send(TheHandle, Part.data(), Part.size(), Flags) < 0)
    {
        const int Error = Api->Errno();
        if (ZmqApi::IsAgain(Error))
        {
            return ZmqResult::NotNow;
        }
        if (!ZmqApi::IsInterrupted(Error))
        {
            Why = Api->Describe("cannot send");
            return ZmqResult::Failed;
        }
    }
    return ZmqResult::Done;
}

ZmqResult ZmqSocket::TryReceive(IPartReader& Parts, bool& More, std::string& Why)
{
    More = false;
    ZmqApi::Msg Received;
    if (Api->MsgInit(&Received) != 0)
    {
        Why = Api->Describe("cannot receive");
        return ZmqResult::Failed;
    }
    ZmqResult Result = ZmqResult::Done;
    int Size = 0;
    while ((Size = Api->MsgRecv(&Received, TheHandle, ZmqApi::DontWait)) < 0)
    {
        const int Error = Api->Errno();
        if (ZmqApi::IsAgain(Error))
        {
            Result = ZmqResult::NotNow;
            break;
        }
        if (!ZmqApi::IsInterrupted(Error))
        {
            Why = Api->Describe("cannot receive");
            Result = ZmqResult::Failed;
            break;
        }
    }
    if (Result == ZmqResult::Done)
    {
        More = Api->MsgMore(&Received) != 0;
        Parts.Part(Api->MsgData(&Received), static_cast<std::size_t>(Size));
    }
    Api->MsgClose(&Received);
    return Result;
}

void ZmqSocket::Close(int LingerMs) noexcept
{
    void* Handle = std::exchange(TheHandle, nullptr);
    if (Handle == nullptr)
    {
        return;
    }
    Api->SetSockOpt(Handle, ZmqApi::OptionLinger, &LingerMs, sizeof(LingerMs));
    Api->Close(Handle);
}

// ---- waiting ----

ZmqPoll::ZmqPoll(std::shared_ptr<const ZmqApi> InApi) : Api(std::move(InApi))
{
}

void ZmqPoll::Add(const ZmqSocket& Socket, bool ToSend) noexcept
{
    ZmqApi::PollItem& Item = Sockets[Count++];
    Item.Socket = Socket.Handle();
    Item.Descriptor = 0;
    Item.Events = static_cast<short>(ZmqApi::PollIn | (ToSend ? ZmqApi::PollOut : 0));
    Item.Found = 0;
}

bool ZmqPoll::Wait(long TimeoutMs, std::string& Why)
{
    if (Api->Poll(Sockets.data(), static_cast<int>(Count), TimeoutMs) < 0 && !ZmqApi::IsInterrupted(Api->Errno()))
    {
        Why = Api->Describe("cannot wait for ZeroMQ sockets");
        return false;
    }
    return true;
}

} // namespace Parley
