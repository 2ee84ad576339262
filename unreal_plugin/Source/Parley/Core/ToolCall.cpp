// How a tool call is read, and answered once.
#include "Core/ToolCall.h"

#include "Core/CoreAgent.h"

#include <utility>

namespace Parley
{

namespace ToolCallLocal
{

std::string TextOf(const Json& Data, std::string_view Name)
{
    const Json* Found = Data.Find(Name);
    return Found != nullptr && Found->IsString() ? Found->AsText() : std::string();
}

} // namespace ToolCallLocal

ToolCall::ToolCall(std::weak_ptr<CoreAgent> Whose, const Messages::NodeEvent& Event, Answered What)
    : Agent(std::move(Whose)), Source(Event), OnAnswer(std::move(What)),
      CallId(ToolCallLocal::TextOf(Source.Data, "call_id")), Tool(ToolCallLocal::TextOf(Source.Data, "tool"))
{
    const Json* Found = Source.Data.Find("arguments");
    Arguments = Found != nullptr && Found->IsObject() ? *Found : Json::Object();
}

ToolCall::~ToolCall() = default;

void ToolCall::Reply(std::string Result)
{
    Answer(std::move(Result), "");
}

void ToolCall::Fail(std::string Error)
{
    Answer("", Error.empty() ? "it failed" : std::move(Error));
}

void ToolCall::Answer(std::string Result, std::string Error)
{
    if (!IsAnswered.exchange(true, std::memory_order_acq_rel))
    {
        OnAnswer(*this, std::move(Result), std::move(Error));
    }
}

} // namespace Parley
