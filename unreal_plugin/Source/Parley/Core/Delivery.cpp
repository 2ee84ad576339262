// The order of numbered frames.
#include "Core/Delivery.h"

#include "Core/Generated/Protocol.h"

namespace Parley
{

namespace DeliveryLocal
{

constexpr int MaxHoleTries = 3;

} // namespace DeliveryLocal

Delivery::Delivery(std::uint64_t LastSeq, bool Resumes) noexcept
    : TakesUp(Resumes && LastSeq == 0), TheReceived(LastSeq)
{
}

Delivery::Verdict Delivery::Take(std::uint64_t First, std::uint64_t Seq, std::size_t Bytes) noexcept
{
    Verdict Found = Verdict::Next;
    const std::uint64_t Due = TheReceived + 1;
    if (First > Due && !TakesUp)
    {
        HoleTries = HoleAt == Due ? HoleTries + 1 : 1;
        HoleAt = Due;
        if (HoleTries <= DeliveryLocal::MaxHoleTries)
        {
            return Verdict::Hole;
        }
        Found = Verdict::Loss;
    }
    TakesUp = false;
    TheReceived = Seq;
    ReceivedBytes += Bytes;
    return Found;
}

void Delivery::FindAcknowledgeable(const Inbox& Arrived, std::uint64_t& Seq, std::uint64_t& Bytes) const noexcept
{
    if (Arrived.Count() > static_cast<std::size_t>(Protocol::AckFrames)
        || Arrived.WaitingBytes() > static_cast<std::uint64_t>(Protocol::AckBytes))
    {
        Seq = TheReceived;
        Bytes = ReceivedBytes;
    }
    else
    {
        Bytes = Arrived.TakenBytes();
        Seq = Arrived.TakenSeq();
    }
}

} // namespace Parley
