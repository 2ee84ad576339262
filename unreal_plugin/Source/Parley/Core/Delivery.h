// Which numbered frames came, which is the next, and which the sidecar may forget.
#pragma once

#include "Core/CoreApi.h"
#include "Core/Inbox.h"

#include <cstddef>
#include <cstdint>

namespace Parley
{

/// Every frame once and in order: what came is let go, a hole is found. Threading: the session's thread's.
class PARLEY_CORE_API Delivery
{
public:
    enum class Verdict
    {
        /// It is the next one.
        Next,
        /// Some before it are missing and can be had again.
        Hole,
        /// It is the next one that there is. The sidecar was asked for those before it, more than once, and does not have
        /// them: it believes that they were acknowledged.
        Loss,
    };

    /// `LastSeq`: the last frame that is there already; 0 with `Resumes`: that is not known.
    Delivery(std::uint64_t LastSeq, bool Resumes) noexcept;

    /// The number of the last frame that came in order.
    std::uint64_t Received() const noexcept { return TheReceived; }
    /// Whether a frame came already.
    bool Has(std::uint64_t Seq) const noexcept { return Seq <= TheReceived; }
    /// Judges a frame that is new and stands for the numbers from `First` to `Seq`.
    Verdict Take(std::uint64_t First, std::uint64_t Seq, std::size_t Bytes) noexcept;

    /// The last frame that the game has had, and how many bytes came up to there: all else the sidecar keeps, so that it can
    /// be had again should this process lose its memory. Unless it is much: a game that stands still must not fill the
    /// sidecar.
    void FindAcknowledgeable(const Inbox& Arrived, std::uint64_t& Seq, std::uint64_t& Bytes) const noexcept;

private:
    // The session is another object's, whose last frame nobody knows: the first may have any number.
    bool TakesUp;
    std::uint64_t TheReceived;
    std::uint64_t ReceivedBytes = 0;
    std::uint64_t HoleAt = 0;
    int HoleTries = 0;
};

} // namespace Parley
