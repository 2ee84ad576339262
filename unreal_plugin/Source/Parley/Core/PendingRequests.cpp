// Open requests: numbered, sent, sent again, answered, given up, late.
#include "Core/PendingRequests.h"

#include "Core/Numbers.h"

#include <algorithm>
#include <utility>

namespace Parley
{

// ---- one ----

PendingRequest::PendingRequest(std::unique_ptr<Request> InSaid, double InTimeoutS, ReplyHandler InDone)
    : TypeName(InSaid->TypeName()), TimeoutS(InTimeoutS), Done(std::move(InDone)), Said(std::move(InSaid))
{
}

bool PendingRequest::GiveUp() noexcept
{
    if (!TryFinish())
    {
        return false;
    }
    // What it holds ends here, not wherever the session's thread lets go of the request.
    const ReplyHandler Ends = std::exchange(Done, nullptr);
    return true;
}

bool PendingRequest::Encode(const JsonCodec& Codec, std::uint64_t TheId, std::size_t MaxJsonBytes, Fault& Why)
{
    Id = TheId;
    Parts = Frames::Encode(Codec, *Said, TheId);
    Said.reset();
    if (Parts[2].size() > MaxJsonBytes)
    {
        Why = Frames::TooLarge(
            TypeName + ": its JSON has " + Numbers::Of(Parts[2].size()) + " bytes; the sidecar takes at most "
            + Numbers::Of(MaxJsonBytes) + " (max_json_bytes)");
        return false;
    }
    return true;
}

// ---- all ----

bool PendingRequests::Add(Item Taken)
{
    const std::lock_guard<std::mutex> Lock(Gate);
    if (Closed)
    {
        return false;
    }
    Added.push_back(std::move(Taken));
    return true;
}

PendingRequests::Item PendingRequests::TakeAdded(double Now)
{
    while (true)
    {
        Item Next;
        {
            const std::lock_guard<std::mutex> Lock(Gate);
            if (Added.empty())
            {
                return nullptr;
            }
            Next = std::move(Added.front());
            Added.pop_front();
        }
        if (!Next->IsFinished())
        {
            Next->Deadline = Now + Next->TimeoutS;
            TheNextDeadline = (std::min)(TheNextDeadline, Next->Deadline);
            return Next;
        }
    }
}

void PendingRequests::Open(Item Numbered)
{
    Opened.emplace(Numbered->Id, Numbered);
    Unsent.push_back(std::move(Numbered));
}

PendingRequest* PendingRequests::NextUnsent()
{
    while (!Unsent.empty())
    {
        PendingRequest* Next = Unsent.front().get();
        if (!Next->IsFinished())
        {
            return Next;
        }
        Opened.erase(Next->Id);
        Unsent.pop_front();
    }
    return nullptr;
}

void PendingRequests::Sent()
{
    Unsent.pop_front();
}

void PendingRequests::SendAllAgain()
{
    Unsent.clear();
    for (auto Place = Opened.begin(); Place != Opened.end();)
    {
        if (Place->second->IsFinished())
        {
            Place = Opened.erase(Place);
        }
        else
        {
            Unsent.push_back(Place->second);
            ++Place;
        }
    }
}

PendingRequests::Item PendingRequests::Answer(std::uint64_t Id)
{
    const auto Place = Opened.find(Id);
    if (Place == Opened.end())
    {
        return nullptr;
    }
    Item Found = std::move(Place->second);
    Opened.erase(Place);
    return Found->TryFinish() ? Found : nullptr;
}

void PendingRequests::Expire(double Now, std::vector<Item>& Late)
{
    if (Now < TheNextDeadline)
    {
        return;
    }
    TheNextDeadline = std::numeric_limits<double>::infinity();
    for (auto Place = Opened.begin(); Place != Opened.end();)
    {
        const Item& Open = Place->second;
        if (!Open->IsFinished() && Now < Open->Deadline)
        {
            TheNextDeadline = (std::min)(TheNextDeadline, Open->Deadline);
            ++Place;
            continue;
        }
        if (Open->TryFinish())
        {
            Late.push_back(Open);
        }
        Place = Opened.erase(Place);
    }
}

void PendingRequests::Close(std::vector<Item>& Left)
{
    for (auto& [Id, Open] : Opened)
    {
        if (Open->TryFinish())
        {
            Left.push_back(std::move(Open));
        }
    }
    Opened.clear();
    Unsent.clear();
    const std::lock_guard<std::mutex> Lock(Gate);
    Closed = true;
    for (Item& Waiting : Added)
    {
        if (Waiting->TryFinish())
        {
            Left.push_back(std::move(Waiting));
        }
    }
    Added.clear();
}

} // namespace Parley
