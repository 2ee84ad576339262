// Messages to frames and back: the only place that knows how the parts of a message are laid out.
#pragma once

#include "Core/CoreApi.h"
#include "Core/Fault.h"
#include "Core/Generated/Protocol.h"
#include "Core/Json.h"
#include "Core/Message.h"
#include "Core/ZmqSocket.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace Parley
{

/// A message is three or four parts: its type in ASCII; sixteen bytes with request_id and seq, both u64 little-endian; a
/// JSON object in UTF-8; and, for some, a binary payload. Pure.
namespace Frames
{

/// The three parts of a message.
using Parts = std::array<std::string, 3>;

PARLEY_CORE_API Parts Encode(
    const JsonCodec& Codec, std::string_view TypeName, std::uint64_t RequestId, std::uint64_t Seq, const Json& Body);
/// As the other one.
PARLEY_CORE_API Parts Encode(
    const JsonCodec& Codec, const Message& Said, std::uint64_t RequestId, std::uint64_t Seq = 0);

PARLEY_CORE_API std::uint64_t ReadUInt64(const unsigned char* From) noexcept;

PARLEY_CORE_API Fault Malformed(std::string Text);
PARLEY_CORE_API Fault TooLarge(std::string Text);

} // namespace Frames

/// One message as it came, judged by its parts before any of it is parsed. Used again and again for one message after the
/// other. Threading: one thread's.
class PARLEY_CORE_API InboundMessage final : public IPartReader
{
public:
    InboundMessage(std::size_t MaxJsonBytes, std::size_t MaxPayloadBytes);

    /// Makes room for the next message.
    void Clear() noexcept;
    /// Takes one part. Of what is too large, or one part too many, only the size is kept.
    void Part(const void* Data, std::size_t Size) override;
    /// Reads type and header, and checks the sizes of all parts. False: 5001 or 5003.
    bool Judge(Fault& Why);
    /// Parses part 3, after Judge, and reads what it says. False: 5001. `Out` is null for a type that this version does not
    /// know.
    bool Interpret(const JsonCodec& Codec, std::unique_ptr<Message>& Out, Fault& Why) const;

    /// Known after Judge.
    const std::string& TypeName() const noexcept { return Type; }
    /// Known after Judge; 0: not the answer to a request.
    std::uint64_t RequestId() const noexcept { return TheRequestId; }
    /// Known after Judge; 0: not numbered.
    std::uint64_t Seq() const noexcept { return TheSeq; }
    /// Bytes of all parts.
    std::size_t Bytes() const noexcept { return TheBytes; }
    /// Part 4, which is the caller's from now on; empty where there is none.
    std::vector<std::uint8_t> TakePayload() noexcept { return std::move(Payload); }

private:
    const std::size_t MaxJsonBytes;
    const std::size_t MaxPayloadBytes;
    std::array<unsigned char, Protocol::MaxTypeBytes> TypeBytes{};
    std::array<unsigned char, Protocol::IdsBytes> Header{};
    std::array<std::size_t, Protocol::MaxParts> Sizes{};
    std::string Text;
    std::vector<std::uint8_t> Payload;
    std::string Type;
    std::uint64_t TheRequestId = 0;
    std::uint64_t TheSeq = 0;
    std::size_t TheBytes = 0;
    std::size_t Count = 0;
};

} // namespace Parley
