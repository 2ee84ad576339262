// Makes the rows of an inspector out of a workflow's JSON and the descriptions of its node types.
#pragma once

#include "FieldRow.h"

#include <map>
#include <memory>

namespace Parley::Editor
{

/// A model that a dropdown offers.
struct KnownModel
{
    /// What workflows call it.
    std::string Name;
    /// language, embedding or tts.
    std::string Type;
    /// Of a voice: its speakers, by their numbers.
    std::vector<std::string> Speakers = {};
};

/// What a reading of a workflow needs; the rows of nodes keep it until they are made.
struct RowSources
{
    Json Root;
    std::vector<KnownModel> Models;
    /// Why the last edit of a path was refused.
    std::map<std::string, std::string> Refusals;
    /// Outlives the rows.
    const JsonCodec* Codec = nullptr;
};

/// One reading of a workflow. Fails at nothing: what fits no control is shown as JSON.
class RowBuilder
{
public:
    explicit RowBuilder(std::shared_ptr<const RowSources> InSources);

    /// The rows of the workflow itself.
    std::vector<FieldRow> Workflow() const;
    /// Its nodes, in their order.
    std::vector<NodeRow> Nodes() const;

private:
    FieldRow Variables() const;
    FieldRow Variable(std::size_t At, const Json& Item) const;
    FieldRow VariableValue(const Steps& Way, const std::string& Type) const;
    void Texts(FieldRow& Row) const;
    std::vector<FieldRow> FieldsOf(std::size_t Index) const;
    FieldRow Guessed(std::size_t Index, const JsonMember& Field) const;
    FieldRow Field(std::size_t Index, const NodeParam& Param) const;
    Dropdown VariableChoices(const std::string& Stored) const;
    void ModelChoices(FieldRow& Row, const char* Type, const std::string& None) const;
    std::optional<Dropdown> SpeakerChoices(std::string_view Voice, const std::optional<Json>& Stored) const;
    FieldRow Of(const Steps& Way, const NodeParam& Param, const std::string& Label) const;
    void ListOf(FieldRow& Row, const NodeParam& Param) const;
    void RecordOf(FieldRow& Row, const NodeParam& Param) const;
    void AddUnknown(FieldRow& Row, const Json* Stored, const std::vector<std::string>& Known) const;
    Dropdown Words(const std::vector<std::string>& List, const std::optional<Json>& Stored) const;
    FieldRow Row(const Steps& Way, const std::string& Label, const std::string& Tooltip) const;
    FieldRow Unknown(const Steps& Way, const std::string& Label) const;

    std::shared_ptr<const RowSources> Sources;
    const Json& Root;
    std::string DefaultModel;
};

} // namespace Parley::Editor
