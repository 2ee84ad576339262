// What every sidecar is told: the one that is there, and those to come.
#include "Core/CoreInside.h"
#include "Core/SharedRequests.h"

#include <algorithm>
#include <utility>

namespace Parley
{

std::unique_ptr<Request> CoreInside::CopyOf(const KeptRequest& What)
{
    return std::make_unique<SharedRequest>(What);
}

void CoreInside::Configure(const Messages::ConfigureSession& Settings, DoneCallback Done)
{
    if (!Configured)
    {
        Configured.emplace();
    }
    if (Settings.StorageFolder)
    {
        Configured->StorageFolder = Settings.StorageFolder;
    }
    if (Settings.AllowModelDownload)
    {
        Configured->AllowModelDownload = Settings.AllowModelDownload;
    }
    if (Settings.GameName)
    {
        Configured->GameName = Settings.GameName;
    }
    ConfiguredRequest = std::make_shared<Messages::ConfigureSession>(*Configured);
    const bool IsNow = IsMade && IsConnected();
    AlsoNow(
        IsNow ? std::make_shared<Messages::ConfigureSession>(Settings) : KeptRequest(ConfiguredRequest),
        std::move(Done));
}

void CoreInside::Keep(KeptRequest What, DoneCallback Done)
{
    const std::string Name = NameOf(*What);
    KeptRequest Before;
    const auto Found =
        std::find_if(Made.begin(), Made.end(), [&Name](const KeptRequest& One) { return NameOf(*One) == Name; });
    if (Found != Made.end())
    {
        Before = *Found;
        Made.erase(Found);
    }
    Made.push_back(What);
    AlsoNow(
        What,
        [Weak = weak_from_this(), What, Before, Name, Done = std::move(Done)](const Fault* Why)
        {
            const std::shared_ptr<CoreInside> Self = Weak.lock();
            if (Self != nullptr && Why != nullptr && Why->Code != ErrorCode::None && !Faults::MeansGone(*Why))
            {
                const auto At = std::find(Self->Made.begin(), Self->Made.end(), What);
                if (At != Self->Made.end())
                {
                    Self->Made.erase(At);
                    if (Before != nullptr)
                    {
                        // What was refused is not made in the next sidecar either; what is there is.
                        Self->Made.push_back(Before);
                    }
                }
            }
            if (Done)
            {
                Done(Why);
            }
            else if (Self != nullptr && Why != nullptr)
            {
                Self->SayRefused(Name, *Why);
            }
        });
}

void CoreInside::Drop(const std::string& Name, KeptRequest What, DoneCallback Done)
{
    Made.erase(
        std::remove_if(Made.begin(), Made.end(), [&Name](const KeptRequest& One) { return NameOf(*One) == Name; }),
        Made.end());
    AlsoNow(What, std::move(Done));
}

void CoreInside::AlsoNow(const KeptRequest& What, DoneCallback Done)
{
    // Every sidecar to come is told anyway; the one that is there is told now.
    DoneCallback Hears = [Weak = weak_from_this(), Name = NameOf(*What), Done = std::move(Done)](const Fault* Why)
    {
        const std::shared_ptr<CoreInside> Self = Weak.lock();
        if (Done)
        {
            Done(Why);
        }
        else if (Self != nullptr && Why != nullptr)
        {
            Self->SayRefused(Name, *Why);
        }
    };
    if (!WillBeThere())
    {
        Queue->Post([Hears = std::move(Hears), Why = Faults::Down(Trouble)] { Hears(&Why); });
    }
    else if (IsMade && IsConnected())
    {
        AskAnything(
            What, [Hears = std::move(Hears)](std::unique_ptr<Reply>, const Fault* Why) { Hears(Why); });
    }
    else if (
        Life.IsResuming() || What == ConfiguredRequest || std::find(Made.begin(), Made.end(), What) != Made.end())
    {
        // It is among the first things that the sidecar is told.
        ToTell.push_back({What, std::move(Hears)});
    }
    else
    {
        // What was never made there need not be taken back.
        Queue->Post([Hears = std::move(Hears)] { Hears(nullptr); });
    }
}

void CoreInside::Tell(const std::string* Name, const Fault* Why)
{
    std::vector<Told> Called;
    for (auto One = ToTell.begin(); One != ToTell.end();)
    {
        if (Name == nullptr || NameOf(*One->What) == *Name)
        {
            Called.push_back(std::move(*One));
            One = ToTell.erase(One);
        }
        else
        {
            ++One;
        }
    }
    for (const Told& One : Called)
    {
        One.Tell(Why);
    }
}

void CoreInside::SayRefused(const std::string& Name, const Fault& Why)
{
    if (Why.Code == ErrorCode::None || Faults::MeansGone(Why))
    {
        // No sidecar refused anything: there was none, and that was told already.
        Say(LogLevel::Info, Name + " was not said to a sidecar: " + Why.Text);
        return;
    }
    Say(LogLevel::Error, "the sidecar refused " + Name + ": " + Why.Shown());
}

std::string CoreInside::NameOf(const Request& What)
{
    std::string Name;
    if (const Messages::CreateStringStorage* Strings = As<Messages::CreateStringStorage>(&What))
    {
        Name = Strings->Name;
    }
    else if (const Messages::CreateEmbeddedStorage* Embedded = As<Messages::CreateEmbeddedStorage>(&What))
    {
        Name = Embedded->Name;
    }
    else if (const Messages::LoadModel* Model = As<Messages::LoadModel>(&What))
    {
        Name = Model->Model;
    }
    return Name.empty() ? std::string(What.TypeName()) : std::string(What.TypeName()) + " " + Name;
}

} // namespace Parley
