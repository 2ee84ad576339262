// The bodies of NodeKind.h.
#include "Core/Authoring/NodeKind.h"

#include "Core/Generated/NodeTypes.h"

#include <utility>

namespace Parley::NodeKindLocal
{

std::set<std::string, std::less<>> FieldsOf(const NodeType& Type, ParamKind Kind)
{
    std::set<std::string, std::less<>> Fields;
    for (const std::string_view Field : Type.FieldsOf(Kind))
    {
        Fields.emplace(Field);
    }
    return Fields;
}

} // namespace Parley::NodeKindLocal

namespace Parley::NodeKinds
{

const NodeKindMap& Packaged()
{
    static const NodeKindMap Kinds = Of(NodeTypes::All());
    return Kinds;
}

NodeKindMap Of(const std::vector<NodeType>& Types)
{
    NodeKindMap Kinds;
    for (const NodeType& Type : Types)
    {
        NodeKind Kind;
        Kind.Produces = Type.Produces;
        Kind.TemplateFields = NodeKindLocal::FieldsOf(Type, ParamKind::Template);
        Kind.InputFields = NodeKindLocal::FieldsOf(Type, ParamKind::SlotInput);
        Kind.TagFamily.assign(Type.TagFamily);
        Kind.TagNameField.assign(Type.TagNameField);
        Kinds.insert_or_assign(std::string(Type.Name), std::move(Kind));
    }
    return Kinds;
}

} // namespace Parley::NodeKinds
