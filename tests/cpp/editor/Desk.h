// What the editor's tests have before them: a workflow with undo, casts, and a sidecar that is started as a project would.
#pragma once

#include "NlohmannCodec.h"
#include "Testing.h"
#include "WorkflowInspectorModel.h"
#include "WorkflowStore.h"

#include "Core/ParleyCore.h"

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace Parley::Testing
{

using Editor::FieldControl;
using Editor::FieldRow;
using Editor::NodeRow;
using Editor::WorkflowInspectorModel;

const JsonCodec& Codec();
Json Parsed(std::string_view Text);
void Equal(const std::string& Wanted, const std::string& Found, const std::string& What);
void Equal(long long Wanted, long long Found, const std::string& What);
std::string Joined(const std::vector<std::string>& Texts);
bool Contains(const std::string& Text, const std::string& Part);

/// A test, by its name.
using Test = void (*)(const Arguments& Given);
struct Entry
{
    Entry(const char* Name, Test Run);
};
const std::map<std::string, Test>& AllTests();

/// A cast: names of nodes in an order.
struct Cast final : INodeNames
{
    explicit Cast(std::vector<std::string> Known) : Nodes(std::move(Known)) {}
    std::vector<std::string> Names() const override { return Nodes; }
    void Rename(std::size_t Index, std::string_view Name) override { Nodes[Index] = Name; }

    std::vector<std::string> Nodes;
};

/// A workflow in memory, with the editor's undo.
class Desk final : public Editor::WorkflowStore
{
public:
    explicit Desk(std::string_view Text) : Now(Parsed(Text)) {}

    Json Get() const override { return Trouble.empty() ? Now : Json(); }
    void Set(const Json& Workflow) override { Now = Workflow; }
    std::string GetFault() const override { return Trouble; }
    void Begin(std::string_view Label) override;
    void Keep(IEditTarget& Target) override;
    void End() override;
    std::vector<std::unique_ptr<INodeNames>> FollowersOf(std::string_view NodeName) override;

    void Undo();
    std::string Text() const { return Codec().Write(Now); }
    const Json& Node(std::string_view Name) const;

    Json Now;
    std::string Trouble;
    std::vector<Cast*> Casts;
    /// What can be undone, the latest last.
    std::vector<std::string> Labels;

private:
    struct Step
    {
        Json Before;
        std::vector<std::vector<std::string>> CastsBefore;
    };
    std::vector<Step> Steps;
    bool IsOpen = false;
};

/// A field of nodes[Index] by its name; fails where there is none.
FieldRow& Field(WorkflowInspectorModel& Model, std::size_t Index, std::string_view Name);
/// A field of the workflow itself.
FieldRow& Field(WorkflowInspectorModel& Model, std::string_view Name);
/// A child of a row by its label.
FieldRow& Child(FieldRow& Row, std::string_view Label);

/// A sidecar that is started as a project would start it, with whatever the caller of the program said; ended with it.
class Sidecar
{
public:
    explicit Sidecar(const Arguments& Given);
    ~Sidecar();
    Sidecar(const Sidecar&) = delete;
    Sidecar& operator=(const Sidecar&) = delete;

    /// Lets the editor go on until something is so.
    void Until(const std::function<bool()>& IsSo, const std::string& What);

    std::shared_ptr<ParleyCore> Core;

private:
    std::shared_ptr<const ZmqApi> Zmq;
    std::string Log;
};

} // namespace Parley::Testing

#define PARLEY_TEST(Name) \
    static void Name(const ::Parley::Testing::Arguments& Given); \
    static const ::Parley::Testing::Entry Name##Entry(#Name, &Name); \
    static void Name([[maybe_unused]] const ::Parley::Testing::Arguments& Given)
