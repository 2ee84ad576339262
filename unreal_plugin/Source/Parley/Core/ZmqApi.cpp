// Fills the table of libzmq's functions.
#include "Core/ZmqApi.h"

#include "Core/SharedLibrary.h"

#include <utility>

namespace Parley
{

namespace ZmqApiLocal
{

Fault Missing(const std::string& From, const std::string& Why)
{
    return Fault::Local(
        LocalFaults::LibraryMissing,
        "ZeroMQ's library (libzmq) cannot be used: " + From + ": " + Why
            + "; the plugin's ThirdParty folder must have it for this platform, with libsodium beside it");
}

template <class F>
void FindOne(const ZmqApi::Finder& Find, const char* Name, F& Out, const char*& Lacks)
{
    void* Found = Find(Name);
    if (Found == nullptr)
    {
        Lacks = Lacks == nullptr ? Name : Lacks;
        return;
    }
    Out = reinterpret_cast<F>(Found);
}

} // namespace ZmqApiLocal

std::shared_ptr<const ZmqApi> ZmqApi::Load(const std::string& Path, Fault& Why)
{
    std::string Said;
    void* Library = SharedLibrary::Open(Path, Said);
    if (Library == nullptr)
    {
        Why = ZmqApiLocal::Missing("'" + Path + "'", Said);
        return nullptr;
    }
    return Fill([Library](const char* Name) { return SharedLibrary::Find(Library, Name); }, "'" + Path + "'", Why);
}

std::shared_ptr<const ZmqApi> ZmqApi::Fill(const Finder& Find, const std::string& From, Fault& Why)
{
    std::shared_ptr<ZmqApi> Api(new ZmqApi);
    const char* Lacks = nullptr;
    ZmqApiLocal::FindOne(Find, "zmq_errno", Api->Errno, Lacks);
    ZmqApiLocal::FindOne(Find, "zmq_strerror", Api->StrError, Lacks);
    ZmqApiLocal::FindOne(Find, "zmq_ctx_new", Api->CtxNew, Lacks);
    ZmqApiLocal::FindOne(Find, "zmq_ctx_term", Api->CtxTerm, Lacks);
    ZmqApiLocal::FindOne(Find, "zmq_socket", Api->Socket, Lacks);
    ZmqApiLocal::FindOne(Find, "zmq_close", Api->Close, Lacks);
    ZmqApiLocal::FindOne(Find, "zmq_setsockopt", Api->SetSockOpt, Lacks);
    ZmqApiLocal::FindOne(Find, "zmq_bind", Api->Bind, Lacks);
    ZmqApiLocal::FindOne(Find, "zmq_connect", Api->Connect, Lacks);
    ZmqApiLocal::FindOne(Find, "zmq_socket_monitor", Api->SocketMonitor, Lacks);
    ZmqApiLocal::FindOne(Find, "zmq_send", Api->Send, Lacks);
    ZmqApiLocal::FindOne(Find, "zmq_msg_init", Api->MsgInit, Lacks);
    ZmqApiLocal::FindOne(Find, "zmq_msg_recv", Api->MsgRecv, Lacks);
    ZmqApiLocal::FindOne(Find, "zmq_msg_data", Api->MsgData, Lacks);
    ZmqApiLocal::FindOne(Find, "zmq_msg_more", Api->MsgMore, Lacks);
    ZmqApiLocal::FindOne(Find, "zmq_msg_close", Api->MsgClose, Lacks);
    ZmqApiLocal::FindOne(Find, "zmq_has", Api->Has, Lacks);
    ZmqApiLocal::FindOne(Find, "zmq_curve_keypair", Api->CurveKeypair, Lacks);
    ZmqApiLocal::FindOne(Find, "zmq_z85_decode", Api->Z85Decode, Lacks);
    ZmqApiLocal::FindOne(Find, "zmq_poll", Api->Poll, Lacks);
    if (Lacks != nullptr)
    {
        Why = ZmqApiLocal::Missing(From, std::string("it has no ") + Lacks);
        return nullptr;
    }
    return Api;
}

std::string ZmqApi::Describe(const std::string& What) const
{
    const int Error = Errno();
    const char* Words = StrError(Error);
    return What + ": " + (Words != nullptr ? Words : "no reason is told");
}

} // namespace Parley
