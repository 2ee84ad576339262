// Looking up node types and their parameters.
#include "Core/NodeType.h"

namespace Parley
{

const NodeParam* NodeType::Param(std::string_view Field) const noexcept
{
    for (const NodeParam& Each : Params)
    {
        if (Each.Name == Field)
        {
            return &Each;
        }
    }
    return nullptr;
}

std::vector<std::string_view> NodeType::FieldsOf(ParamKind Kind) const
{
    std::vector<std::string_view> Found;
    for (const NodeParam& Each : Params)
    {
        if (Each.Kind == Kind)
        {
            Found.push_back(Each.Name);
        }
    }
    return Found;
}

const NodeType* NodeTypes::Find(std::string_view Name)
{
    for (const NodeType& Each : All())
    {
        if (Each.Name == Name)
        {
            return &Each;
        }
    }
    return nullptr;
}

} // namespace Parley
