// How faults are made and told.
#include "Core/Fault.h"

#include "Core/Numbers.h"

#include <utility>

namespace Parley
{

Fault Fault::Local(std::string_view Name, std::string Text)
{
    return OfWire(ErrorCode::None, Name, std::move(Text));
}

Fault Fault::OfWire(ErrorCode Code, std::string_view Name, std::string Text)
{
    Fault Made;
    Made.Code = Code;
    Made.Name = Name;
    Made.Text = std::move(Text);
    return Made;
}

Fault Fault::From(const Messages::Error& Told)
{
    Fault Made;
    Made.Code = static_cast<ErrorCode>(Told.Code);
    Made.Name = Told.Name;
    Made.Text = Told.Message;
    Made.AgentId = Told.AgentId;
    Made.NodeName = Told.NodeName;
    Made.Path = Told.Path;
    Made.Problems = Told.Problems;
    return Made;
}

Messages::Error Fault::ToError() const
{
    Messages::Error Told;
    Told.Code = static_cast<int>(Code);
    Told.Name = Name;
    Told.Message = Text;
    Told.AgentId = AgentId;
    Told.NodeName = NodeName;
    Told.Path = Path;
    Told.Problems = Problems;
    return Told;
}

std::string Fault::Shown() const
{
    const std::string Number = Code == ErrorCode::None ? "" : " (" + Numbers::Of(static_cast<int>(Code)) + ")";
    return Name + Number + ": " + Text;
}

} // namespace Parley
