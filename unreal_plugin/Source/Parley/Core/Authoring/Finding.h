// What is wrong with a workflow, and where.
#pragma once

#include "Core/CoreApi.h"
#include "Core/Generated/ErrorCodes.h"

#include <string>
#include <string_view>
#include <vector>

namespace Parley
{

namespace Messages
{
struct Problem;
struct Validation;
} // namespace Messages

/// Something to say about a workflow, by the sidecar's compiler or by QuickValidation.
struct PARLEY_CORE_API Finding
{
    /// An error stops the workflow from running; a warning never does.
    bool IsError = true;
    /// The kind of finding.
    ErrorCode Code = ErrorCode::None;
    /// What is wrong and what would be right.
    std::string Message;
    /// Where in the workflow's JSON, such as $.nodes[2].template.
    std::string Path;
    /// The node it is about; empty: the workflow itself, or a node without a name.
    std::string NodeName;
    /// The parameter it is about; empty: the whole node or workflow.
    std::string Field;

    /// A finding of the sidecar's.
    static Finding Of(const Messages::Problem& Problem);

    /// The place of its node in the workflow, by its path; -1: the workflow itself. Of two nodes with one name this tells
    /// which is meant.
    int NodeIndex() const noexcept;
};

/// The findings about one field, errors first.
struct PARLEY_CORE_API FieldFindings
{
    /// The field; empty: the whole node or workflow.
    std::string Field;
    /// At least one.
    std::vector<Finding> Items;
};

/// The findings about one node, by field.
struct PARLEY_CORE_API NodeFindings
{
    /// The node's place in the workflow; -1: the workflow itself.
    int NodeIndex = -1;
    /// The node's name; empty where it has none.
    std::string NodeName;
    /// Fields in the order in which they were found faulty.
    std::vector<FieldFindings> Fields;
    /// Whether one of them stops the workflow from running.
    bool HasError = false;
};

/// All findings about a workflow: errors first, each kind in workflow order, and grouped by node and field.
class PARLEY_CORE_API Findings
{
public:
    /// No findings.
    Findings() = default;
    /// Sorts and groups findings.
    explicit Findings(std::vector<Finding> Found);

    /// What the sidecar answered to ValidateWorkflow.
    static Findings Of(const Messages::Validation& Reply);
    /// What an error of the sidecar carries.
    static Findings Of(const std::vector<Messages::Problem>& Problems);

    /// Errors first, each kind in workflow order.
    const std::vector<Finding>& All() const noexcept { return Sorted; }
    /// By node, in workflow order; the workflow itself comes first.
    const std::vector<NodeFindings>& Nodes() const noexcept { return Grouped; }
    /// How many stop the workflow from running.
    int ErrorCount() const noexcept { return Errors; }
    /// How many do not.
    int WarningCount() const noexcept { return Warnings; }
    /// The findings about one node, -1: about the workflow itself; null: there are none.
    const NodeFindings* OfNode(int NodeIndex) const noexcept;
    /// The findings about one field of a node.
    const std::vector<Finding>& OfField(int NodeIndex, std::string_view Field) const noexcept;

private:
    std::vector<Finding> Sorted;
    std::vector<NodeFindings> Grouped;
    int Errors = 0;
    int Warnings = 0;
};

} // namespace Parley
