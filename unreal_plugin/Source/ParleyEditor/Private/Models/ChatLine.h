// What the test chat shows: lines, variables, tool calls.
#pragma once

#include "Core/Json.h"
#include "Core/ToolCall.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace Parley::Editor
{

/// What a line of the chat is.
enum class ChatLineKind
{
    /// The player said it.
    Player,
    /// A node says it.
    Speaker,
    /// How much sound came of what a node says.
    Sound,
    /// Something that happened.
    Note,
    /// Something that failed.
    Failure,
};

/// One line of the chat.
struct ChatLine
{
    ChatLineKind Kind = ChatLineKind::Note;
    /// The node that speaks; empty: none.
    std::string NodeName;
    /// The text, as much as has come.
    std::string Text;
    /// The turn; 0: none.
    std::int64_t TurnId = 0;
    /// The step of the turn; 0: none.
    std::int64_t Step = 0;
    /// More is to come.
    bool IsOpen = false;

    /// As a person reads it.
    std::string Shown() const;
};

/// A variable of the workflow, as the chat edits it.
struct ChatVariable
{
    std::string Name;
    /// int, float, string, bool or string_set.
    std::string Type;
    /// Its value as text; a string_set is separated by commas.
    std::string Text;
    /// Why the last value was refused; empty: it was not.
    std::string Refusal;

    static std::string TextOf(const Json& Value, const JsonCodec& Codec);
    /// A typed text as a value; nothing, with the reason, where it is none of that type.
    static std::optional<Json> Read(std::string_view Type, std::string_view Text, std::string& Refusal);
};

/// A tool call that the turn waits for.
struct ChatToolCall
{
    std::shared_ptr<ToolCall> Call;
    /// What a person types as its result.
    std::string Result;
};

} // namespace Parley::Editor
