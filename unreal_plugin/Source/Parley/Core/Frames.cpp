// The layout of messages, and what is wrong with one that came.
#include "Core/Frames.h"

#include "Core/Numbers.h"
#include "Core/Utf8.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace Parley
{

namespace FramesLocal
{

// What is kept for the next message, where one was large.
constexpr std::size_t KeptBytes = 256 * 1024;

void WriteUInt64(std::string& To, std::uint64_t Value)
{
    for (int Byte = 0; Byte < 8; ++Byte)
    {
        To += static_cast<char>(static_cast<unsigned char>(Value >> (8 * Byte)));
    }
}

// What a reader says of what it was given may repeat it.
std::string Shown(std::string_view Said)
{
    constexpr std::size_t MostBytes = 1000;
    return Utf8::Mended(Utf8::Cut(Said, MostBytes));
}

template <std::size_t Room>
void CopyWhole(const void* Data, std::size_t Size, std::array<unsigned char, Room>& To) noexcept
{
    if (Size > 0 && Size <= Room)
    {
        std::memcpy(To.data(), Data, Size);
    }
}

} // namespace FramesLocal

namespace Frames
{

Parts Encode(
    const JsonCodec& Codec, std::string_view TypeName, std::uint64_t RequestId, std::uint64_t Seq, const Json& Body)
{
    std::string Header;
    FramesLocal::WriteUInt64(Header, RequestId);
    FramesLocal::WriteUInt64(Header, Seq);
    return Parts{std::string(TypeName), std::move(Header), Codec.Write(Body)};
}

Parts Encode(const JsonCodec& Codec, const Message& Said, std::uint64_t RequestId, std::uint64_t Seq)
{
    return Encode(Codec, Said.TypeName(), RequestId, Seq, Said.ToJson());
}

std::uint64_t ReadUInt64(const unsigned char* From) noexcept
{
    std::uint64_t Value = 0;
    for (int Byte = 7; Byte >= 0; --Byte)
    {
        Value = (Value << 8) | From[Byte];
    }
    return Value;
}

Fault Malformed(std::string Text)
{
    return Fault::OfWire(ErrorCode::MalformedMessage, "MalformedMessage", std::move(Text));
}

Fault TooLarge(std::string Text)
{
    return Fault::OfWire(ErrorCode::MessageTooLarge, "MessageTooLarge", std::move(Text));
}

} // namespace Frames

InboundMessage::InboundMessage(std::size_t InMaxJsonBytes, std::size_t InMaxPayloadBytes)
    : MaxJsonBytes(InMaxJsonBytes), MaxPayloadBytes(InMaxPayloadBytes)
{
}

void InboundMessage::Clear() noexcept
{
    Type.clear();
    Text.clear();
    if (Text.capacity() > FramesLocal::KeptBytes)
    {
        std::string().swap(Text);
    }
    Payload.clear();
    TheRequestId = 0;
    TheSeq = 0;
    TheBytes = 0;
    Count = 0;
}

void InboundMessage::Part(const void* Data, std::size_t Size)
{
    TheBytes += Size;
    const std::size_t Number = Count++;
    if (Number >= Sizes.size())
    {
        return;
    }
    Sizes[Number] = Size;
    const char* Bytes = static_cast<const char*>(Data);
    switch (Number)
    {
        case 0:
            FramesLocal::CopyWhole(Data, Size, TypeBytes);
            break;
        case 1:
            FramesLocal::CopyWhole(Data, Size, Header);
            break;
        case 2:
            if (Size > 0 && Size <= MaxJsonBytes)
            {
                Text.assign(Bytes, Size);
            }
            break;
        default:
            if (Size > 0 && Size <= MaxPayloadBytes)
            {
                Payload.assign(Bytes, Bytes + Size);
            }
            break;
    }
}

bool InboundMessage::Judge(Fault& Why)
{
    if (Count < static_cast<std::size_t>(Protocol::MinParts) || Count > static_cast<std::size_t>(Protocol::MaxParts))
    {
        Why = Frames::Malformed(
            "the sidecar sent a message of " + Numbers::Of(Count) + " parts; one has three or four");
        return false;
    }
    if (Sizes[1] != Header.size())
    {
        Why = Frames::Malformed(
            "the sidecar sent a message whose part 2 has " + Numbers::Of(Sizes[1]) + " bytes in place of 16");
        return false;
    }
    // What is shown in messages must be fit to be seen.
    const bool IsType = Sizes[0] > 0 && Sizes[0] <= TypeBytes.size()
        && std::all_of(
            TypeBytes.begin(), TypeBytes.begin() + static_cast<std::ptrdiff_t>(Sizes[0]),
            [](unsigned char Letter) { return Letter > 0x20 && Letter < 0x7F; });
    if (!IsType)
    {
        Why = Frames::Malformed("the sidecar sent a message whose part 1 is not a type: 1 to 64 ASCII characters");
        return false;
    }
    Type.assign(TypeBytes.begin(), TypeBytes.begin() + static_cast<std::ptrdiff_t>(Sizes[0]));
    TheRequestId = Frames::ReadUInt64(Header.data());
    TheSeq = Frames::ReadUInt64(Header.data() + 8);
    if (Sizes[2] > MaxJsonBytes)
    {
        Why = Frames::TooLarge(
            Type + ": its JSON has " + Numbers::Of(Sizes[2]) + " bytes; at most " + Numbers::Of(MaxJsonBytes)
            + " are taken (MaxJsonBytes)");
        return false;
    }
    if (Count > static_cast<std::size_t>(Protocol::MinParts) && Sizes[3] > MaxPayloadBytes)
    {
        Why = Frames::TooLarge(
            Type + ": its payload has " + Numbers::Of(Sizes[3]) + " bytes; at most " + Numbers::Of(MaxPayloadBytes)
            + " are taken (MaxPayloadBytes)");
        return false;
    }
    return true;
}

bool InboundMessage::Interpret(const JsonCodec& Codec, std::unique_ptr<Message>& Out, Fault& Why) const
{
    Out.reset();
    Json Body;
    std::string Said;
    if (!Codec.Read(Text, Body, Said))
    {
        Why = Frames::Malformed(Type + ": part 3 is not valid JSON: " + FramesLocal::Shown(Said));
        return false;
    }
    if (!Body.IsObject())
    {
        Why = Frames::Malformed(Type + ": part 3 must be a JSON object");
        return false;
    }
    Said.clear();
    Out = Messages::ReadMessage(Type, Body, Said);
    if (Out == nullptr && !Said.empty())
    {
        Why = Frames::Malformed(Type + ": " + FramesLocal::Shown(Said));
        return false;
    }
    return true;
}

} // namespace Parley
