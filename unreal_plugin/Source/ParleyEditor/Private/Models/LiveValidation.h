// Has a sidecar look at a workflow while it is edited.
#pragma once

#include "WorkflowInspectorModel.h"

#include "Core/ParleyCore.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace Parley::Editor
{

/// Asks for the compiler's findings once a workflow has not changed for a moment. Threading: the game thread; whoever has
/// the core calls its Update.
class LiveValidation
{
public:
    /// Seconds without an edit until the sidecar is asked.
    static constexpr double PauseS = 0.4;

    /// `InCore` tells the sidecar's core, or null while there is none: then nothing is asked. The model lives as long as
    /// this does.
    LiveValidation(WorkflowInspectorModel& InWorkflow, std::function<std::shared_ptr<ParleyCore>()> InCore);

    /// Findings came, or could not be had. May be empty.
    std::function<void()> Changed;

    /// Why there are no findings of the sidecar; empty: there are, or they are on their way.
    const std::string& GetFault() const { return Fault; }
    /// The sidecar is asked and has not answered.
    bool IsAsking() const { return Asking; }
    /// Looks whether it is time to ask. `Now`: seconds of any clock that only goes forward.
    void Tick(double Now);
    /// Asks now, whatever was asked before.
    void AskNow();

private:
    void Ask(const Json& About);

    WorkflowInspectorModel& Workflow;
    std::function<std::shared_ptr<ParleyCore>()> Core;
    std::shared_ptr<bool> Life = std::make_shared<bool>(true);
    std::string Fault;
    std::optional<Json> Seen;
    std::optional<Json> Asked;
    double Since = 0;
    bool Asking = false;
};

/// How it stands with the findings, in a few words.
std::string StateOfValidation(const WorkflowInspectorModel& Workflow, const LiveValidation& Validation, bool HasSidecar);

} // namespace Parley::Editor
