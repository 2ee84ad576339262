// Has a sidecar look at a workflow while it is edited.
#include "LiveValidation.h"

#include "Core/Authoring/Authoring.h"
#include "Core/Authoring/Finding.h"

#include <utility>

namespace Parley::Editor
{

LiveValidation::LiveValidation(WorkflowInspectorModel& InWorkflow, std::function<std::shared_ptr<ParleyCore>()> InCore)
    : Workflow(InWorkflow), Core(std::move(InCore))
{
}

void LiveValidation::Tick(double Now)
{
    const Json& Current = Workflow.Workflow();
    if (!Seen || !Authoring::IsSame(*Seen, Current))
    {
        Seen = Current;
        Since = Now;
    }
    const bool IsAsked = Asked && Authoring::IsSame(*Asked, Current);
    if (!IsAsked && !Asking && Now - Since >= PauseS)
    {
        Ask(Current);
    }
}

void LiveValidation::AskNow()
{
    Asked.reset();
    if (!Asking)
    {
        Ask(Workflow.Workflow());
    }
}

void LiveValidation::Ask(const Json& About)
{
    const std::shared_ptr<ParleyCore> Asks = Core();
    if (!Asks)
    {
        return;
    }
    Asked = About;
    Asking = true;
    Fault.clear();
    auto Request = std::make_shared<Messages::ValidateWorkflow>();
    Request->Workflow = About;
    Asks->Request(Request, [this, Request, Alive = std::weak_ptr<bool>(Life)](std::unique_ptr<Reply> Answer, const Parley::Fault* Why)
    {
        if (Alive.expired())
        {
            return;
        }
        Asking = false;
        if (const auto* Findings = As<Messages::Validation>(Answer.get()))
        {
            Workflow.TakeFindings(Request->Workflow, Parley::Findings::Of(*Findings));
        }
        else
        {
            Fault = Why == nullptr ? "the sidecar sent no findings" : Why->Text;
        }
        if (Changed)
        {
            Changed();
        }
    });
}

std::string StateOfValidation(const WorkflowInspectorModel& Workflow, const LiveValidation& Validation, bool HasSidecar)
{
    if (!Validation.GetFault().empty())
    {
        return Validation.GetFault();
    }
    const Findings& Found = Workflow.Found();
    const std::string Counts = std::to_string(Found.ErrorCount()) + " errors, " + std::to_string(Found.WarningCount()) + " warnings";
    if (Workflow.IsValidated())
    {
        return Counts + " by the sidecar";
    }
    return Counts + " at first sight" + (HasSidecar ? "" : "; the sidecar sees more");
}

} // namespace Parley::Editor
