// What an inspector shows for one field: the control, the value, the choices, what is wrong with it.
#include "FieldRow.h"

#include "EditorJson.h"

#include "Core/Numbers.h"

#include <algorithm>

namespace Parley::Editor
{

namespace FieldRowLocal
{

FieldRow* FieldOf(std::vector<FieldRow>& Rows, std::string_view Name)
{
    for (FieldRow& Row : Rows)
    {
        if (!Row.Way.empty() && !Row.Way.back().IsIndex && Row.Way.back().Field == Name)
        {
            return &Row;
        }
    }
    return nullptr;
}

} // namespace FieldRowLocal

void Dropdown::Add(std::string Value, std::string Label)
{
    Values.push_back(std::move(Value));
    Labels.push_back(std::move(Label));
}

int Dropdown::IndexOf(std::string_view Value) const
{
    const auto At = std::find(Values.begin(), Values.end(), Value);
    return At == Values.end() ? -1 : static_cast<int>(At - Values.begin());
}

void Dropdown::Select(const std::string& Value)
{
    Selected = IndexOf(Value);
    if (Selected < 0)
    {
        Add(Value, Value.empty() ? "(none)" : Value + " (missing)");
        Selected = static_cast<int>(Values.size()) - 1;
        IsMissing = true;
    }
}

Dropdown Dropdown::Of(const ChoiceList& List)
{
    Dropdown Made;
    Made.Selected = List.Selected;
    for (const Choice& Item : List.Items)
    {
        Made.Add(Item.Value, Item.Label);
    }
    Made.IsMissing = Made.Selected >= 0 && List.Items[static_cast<std::size_t>(Made.Selected)].IsMissing;
    return Made;
}

double FieldRow::Number() const
{
    double Found = 0;
    return Value && EditorJson::TryNumber(*Value, Found) ? Found : 0;
}

std::string FieldRow::FullTooltip() const
{
    std::string Text = Tooltip;
    if (Least || Most)
    {
        Text += " (";
        Text += Least ? "from " + Numbers::Shown(*Least) : "";
        Text += Least && Most ? " " : "";
        Text += Most ? "to " + Numbers::Shown(*Most) : "";
        Text += ")";
    }
    return IsStructural && IsKnown ? Text + " Fixed while a conversation runs." : Text;
}

Json FieldRow::First() const
{
    const double One = Least && *Least > 1 ? *Least : Most && *Most < 1 ? *Most : 1;
    switch (Control)
    {
    case FieldControl::Boolean:
        return Json::Boolean(true);
    case FieldControl::Integer:
        return Json::Integer(static_cast<std::int64_t>(One));
    case FieldControl::Number:
        return Json::Real(One);
    default:
        return Json::String("");
    }
}

FieldRow* FieldRow::Deepest(std::vector<FieldRow>& Rows, std::string_view Path)
{
    for (FieldRow& Row : Rows)
    {
        const std::size_t Length = Row.Path.size();
        if (Path.substr(0, Length) == Row.Path && (Path.size() == Length || Path[Length] == '.' || Path[Length] == '['))
        {
            FieldRow* Deeper = Deepest(Row.Children, Path);
            return Deeper != nullptr ? Deeper : &Row;
        }
    }
    return nullptr;
}

std::vector<FieldRow>& NodeRow::Fields()
{
    MakeFields();
    return *Made;
}

const std::vector<Finding>& NodeRow::Findings()
{
    MakeFields();
    return OfNode;
}

std::string NodeRow::Title() const
{
    return (Name.empty() ? "(no name)" : Name) + "  \xC2\xB7  " + (TypeName.empty() ? "(no type)" : TypeName);
}

FieldRow* NodeRow::Field(std::string_view FieldName)
{
    return FieldRowLocal::FieldOf(Fields(), FieldName);
}

void NodeRow::Tell(const Finding& Found)
{
    Told.push_back(Found);
    ++(Found.IsError ? Errors : Warnings);
}

void NodeRow::MakeFields()
{
    if (Made)
    {
        return;
    }
    Made = Make();
    for (const Finding& Found : Told)
    {
        FieldRow* Row = FieldRow::Deepest(*Made, Found.Path);
        if (Row == nullptr && !Found.Field.empty())
        {
            Row = FieldRowLocal::FieldOf(*Made, Found.Field);
        }
        (Row == nullptr ? OfNode : Row->Findings).push_back(Found);
    }
}

} // namespace Parley::Editor
