// Requests of what somebody else keeps: they are written on the session's thread, and copied nowhere else.
#pragma once

#include "Core/Generated/Messages.h"
#include "Core/Generated/Protocol.h"
#include "Core/Json.h"
#include "Core/Message.h"

#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace Parley
{

/// A request that somebody else keeps and does not change.
struct SharedRequest final : Request
{
    explicit SharedRequest(std::shared_ptr<const Request> Kept) : What(std::move(Kept)) {}

    MessageId Id() const noexcept override { return What->Id(); }
    std::string_view TypeName() const noexcept override { return What->TypeName(); }
    Json ToJson() const override { return What->ToJson(); }

    const std::shared_ptr<const Request> What;
};

/// SeedDialog with a piece of a dialog.
struct SeedRequest final : Request
{
    MessageId Id() const noexcept override { return Messages::SeedDialog::TheId; }
    std::string_view TypeName() const noexcept override { return "SeedDialog"; }
    Json ToJson() const override;

    std::string AgentId;
    std::shared_ptr<const Json> Dialog;
    bool Append = false;
};

/// CreateAgent.
struct MakingRequest final : Request
{
    MessageId Id() const noexcept override { return Messages::CreateAgent::TheId; }
    std::string_view TypeName() const noexcept override { return "CreateAgent"; }
    Json ToJson() const override;

    std::shared_ptr<const Json> Workflow;
    Json Variables;
    bool EnableDiagnostics = false;
    int MaxSteps = 0;
    /// Null: none.
    std::shared_ptr<const Json> SeedDialog;
};

namespace SharedRequests
{

/// Levels of nesting that a value may have, so that a request around it is one the sidecar takes.
inline constexpr int MostLevels = Protocol::MaxJsonDepth - 1;

bool IsTooDeep(const Json& Value, int Levels = MostLevels);
/// What to say of it.
std::string TooDeep();

} // namespace SharedRequests

} // namespace Parley
