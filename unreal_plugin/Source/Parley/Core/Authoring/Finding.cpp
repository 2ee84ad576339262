// The bodies of Finding.h.
#include "Core/Authoring/Finding.h"

#include "Core/Generated/Messages.h"
#include "Core/Numbers.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string_view>
#include <utility>

namespace Parley
{

Finding Finding::Of(const Messages::Problem& Problem)
{
    Finding Made;
    Made.IsError = Problem.Severity == Messages::Severity::Error;
    Made.Code = static_cast<ErrorCode>(Problem.Code);
    Made.Message = Problem.Message;
    Made.Path = Problem.Path;
    Made.NodeName = Problem.NodeName;
    Made.Field = Problem.Field;
    return Made;
}

int Finding::NodeIndex() const noexcept
{
    constexpr std::string_view NodePath = "$.nodes[";
    const std::size_t Closing = Path.find(']');
    if (Path.compare(0, NodePath.size(), NodePath) != 0 || Closing == std::string::npos)
    {
        return -1;
    }
    const std::string_view Digits = std::string_view(Path).substr(NodePath.size(), Closing - NodePath.size());
    int Index = -1;
    const bool IsWhole = !Digits.empty() && Digits.front() != '-' && Numbers::Read(Digits, Index);
    return IsWhole ? Index : -1;
}

Findings::Findings(std::vector<Finding> Found)
    : Sorted(std::move(Found))
{
    std::stable_sort(Sorted.begin(), Sorted.end(), [](const Finding& One, const Finding& Other) {
        return One.IsError != Other.IsError ? One.IsError : One.NodeIndex() < Other.NodeIndex();
    });
    std::map<int, NodeFindings> Nodes;
    // Where each field is in its node: a file of a hostile maker has as many of them as fit.
    std::map<std::pair<int, std::string_view>, std::size_t> Places;
    for (const Finding& One : Sorted)
    {
        const int Index = One.NodeIndex();
        NodeFindings& Node = Nodes.try_emplace(Index, NodeFindings{Index, One.NodeName, {}, false}).first->second;
        const auto [Place, IsNew] = Places.try_emplace({Index, One.Field}, Node.Fields.size());
        if (IsNew)
        {
            Node.Fields.push_back(FieldFindings{One.Field, {}});
        }
        Node.Fields[Place->second].Items.push_back(One);
        Node.HasError |= One.IsError;
        ++(One.IsError ? Errors : Warnings);
    }
    Grouped.reserve(Nodes.size());
    for (auto& Node : Nodes)
    {
        Grouped.push_back(std::move(Node.second));
    }
}

Findings Findings::Of(const Messages::Validation& Reply)
{
    return Of(Reply.Problems);
}

Findings Findings::Of(const std::vector<Messages::Problem>& Problems)
{
    std::vector<Finding> Found;
    Found.reserve(Problems.size());
    for (const Messages::Problem& Problem : Problems)
    {
        Found.push_back(Finding::Of(Problem));
    }
    return Findings(std::move(Found));
}

const NodeFindings* Findings::OfNode(int NodeIndex) const noexcept
{
    const auto Node = std::lower_bound(
        Grouped.begin(), Grouped.end(), NodeIndex, [](const NodeFindings& Of, int Wanted) { return Of.NodeIndex < Wanted; });
    return Node != Grouped.end() && Node->NodeIndex == NodeIndex ? &*Node : nullptr;
}

const std::vector<Finding>& Findings::OfField(int NodeIndex, std::string_view Field) const noexcept
{
    static const std::vector<Finding> Nothing;
    if (const NodeFindings* Node = OfNode(NodeIndex))
    {
        for (const FieldFindings& Of : Node->Fields)
        {
            if (Of.Field == Field)
            {
                return Of.Items;
            }
        }
    }
    return Nothing;
}

} // namespace Parley
