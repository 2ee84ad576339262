// What all generated messages have in common.
#pragma once

#include "Core/CoreApi.h"
#include "Core/Json.h"

#include <memory>
#include <string>
#include <string_view>

namespace Parley
{

enum class MessageId : int; // Generated/MessageId.h has the words

enum class MessageKind
{
    Request,
    Reply,
    Push,
};

/// A message of the wire. No RTTI is needed: `As<T>` looks at `Id()`.
/// Every generated class has `static constexpr MessageId TheId` and
/// `static bool FromJson(const Json& Body, T& Out, std::string& Fault)` (unknown fields are left out; Fault names the field).
struct PARLEY_CORE_API Message
{
    virtual ~Message();
    virtual MessageId Id() const noexcept = 0;
    virtual MessageKind Kind() const noexcept = 0;
    /// The word of the wire, for example "AnswerText".
    virtual std::string_view TypeName() const noexcept = 0;
    /// Optional fields that are not set are left out.
    virtual Json ToJson() const = 0;
};

struct PARLEY_CORE_API Request : Message
{
    MessageKind Kind() const noexcept final { return MessageKind::Request; }
};

struct PARLEY_CORE_API Reply : Message
{
    MessageKind Kind() const noexcept final { return MessageKind::Reply; }
};

struct PARLEY_CORE_API Push : Message
{
    MessageKind Kind() const noexcept final { return MessageKind::Push; }
};

/// The message as what it is, or null.
template <class T>
const T* As(const Message* Any) noexcept
{
    return Any != nullptr && Any->Id() == T::TheId ? static_cast<const T*>(Any) : nullptr;
}

} // namespace Parley
