// How requests of what somebody else keeps are written.
#include "Core/SharedRequests.h"

#include "Core/Numbers.h"

namespace Parley
{

Json SeedRequest::ToJson() const
{
    Messages::SeedDialog Whole;
    Whole.AgentId = AgentId;
    Whole.Dialog = *Dialog;
    Whole.Append = Append;
    return Whole.ToJson();
}

Json MakingRequest::ToJson() const
{
    Messages::CreateAgent Whole;
    Whole.Workflow = *Workflow;
    Whole.Variables = Variables;
    Whole.EnableDiagnostics = EnableDiagnostics;
    Whole.MaxSteps = MaxSteps;
    if (SeedDialog != nullptr)
    {
        Whole.SeedDialog = *SeedDialog;
    }
    return Whole.ToJson();
}

bool SharedRequests::IsTooDeep(const Json& Value, int Levels)
{
    if (!Value.IsArray() && !Value.IsObject())
    {
        return false;
    }
    if (Levels == 0)
    {
        return true;
    }
    for (const Json& Item : Value.Items())
    {
        if (IsTooDeep(Item, Levels - 1))
        {
            return true;
        }
    }
    for (const JsonMember& Field : Value.Members())
    {
        if (IsTooDeep(Field.Value, Levels - 1))
        {
            return true;
        }
    }
    return false;
}

std::string SharedRequests::TooDeep()
{
    return "the JSON is nested deeper than " + Numbers::Of(MostLevels) + " levels";
}

} // namespace Parley
