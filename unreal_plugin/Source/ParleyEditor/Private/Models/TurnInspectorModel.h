// What became of one turn, step by step, out of the diagnostics that TurnComplete carries.
#pragma once

#include "Core/Json.h"

#include <cstdint>
#include <string>
#include <vector>

namespace Parley::Editor
{

/// A name and what stands behind it, as people read it.
struct Fact
{
    std::string Name;
    std::string Value;
};

/// One message of a prompt.
struct PromptLine
{
    /// system, user or assistant.
    std::string Role;
    std::string Content;
};

/// How likely a model held one label of one question.
struct LabelChance
{
    /// The attribute that was asked about; empty: the intent.
    std::string Question;
    std::string Label;
    /// Between 0 and 1.
    double Probability = 0;
};

/// A passage or example that a search compared with.
struct RetrievalHit
{
    std::string Id;
    /// The passage, perhaps cut; empty where it is not told.
    std::string Text;
    /// The intent that it is an example of; empty: none.
    std::string Intent;
    /// 1 - cosine: 0 is the same.
    double Distance = 0;
    /// Near enough: it came into the turn.
    bool IsTaken = false;
};

/// One executed step of a turn.
struct StepView
{
    /// Counts from 1.
    int Number = 0;
    std::string NodeName;
    std::string Type;
    /// The exit that it took; empty: the turn ended in it.
    std::string Exit;
    /// When it began, in milliseconds of the turn.
    double StartMs = 0;
    double DurationMs = 0;
    std::string InputSlot;
    std::string InputText;
    /// The messages before the chat format; empty where no model was asked.
    std::vector<PromptLine> Prompt;
    /// The exact text that the model read; empty where none was asked.
    std::string Rendered;
    /// Empty: it wrote no slot.
    std::string OutputSlot;
    std::string OutputText;
    /// What the client saw.
    std::string Send;
    /// How later prompts replay it.
    std::string HistoryRole;
    /// Empty: no model.
    std::string Model;
    /// stop, length, cancelled or error; empty: nothing was generated.
    std::string Finish;
    /// What the model thought aloud and nobody was shown.
    std::string Reasoning;
    /// Tokens, cache and speed.
    std::vector<Fact> Usage;
    /// The window and what was left out of it.
    std::vector<Fact> Budget;
    /// The likeliest first, by question.
    std::vector<LabelChance> Chances;
    /// The nearest first.
    std::vector<RetrievalHit> Hits;
    /// All else that the node tells.
    std::vector<Fact> Details;

    /// The step as one line.
    std::string Title() const;
};

/// A turn for the turn inspector. Reads whatever comes: what is missing or of another kind is left out.
struct TurnInspectorModel
{
    std::int64_t TurnId = 0;
    /// Success, Error or Cancelled; empty: not told.
    std::string Status;
    /// Why it failed; empty: it did not.
    std::string Error;
    /// The player's line.
    std::string User;
    double DurationMs = 0;
    /// There are diagnostics: the agent was made with them.
    bool HasDebug = false;
    /// Intent, attributes, summary.
    std::vector<Fact> Facts;
    /// Every slot at the end of the turn.
    std::vector<Fact> Slots;
    /// What the sidecar warned of.
    std::vector<std::string> Warnings;
    std::vector<StepView> Steps;

    /// A turn out of the JSON of its TurnComplete.
    static TurnInspectorModel From(const Json& TurnComplete, const JsonCodec& Codec);

    /// Everything as text, for the clipboard.
    std::string ToText() const;
};

} // namespace Parley::Editor
