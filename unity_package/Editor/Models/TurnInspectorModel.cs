// What became of one turn, step by step, out of the diagnostics that TurnComplete carries.
using System;
using System.Collections.Generic;
using System.Globalization;
using System.Text;
using Newtonsoft.Json.Linq;

namespace Parley.Editor
{
    /// <summary>A name and what stands behind it.</summary>
    public sealed class Fact
    {
        /// <summary>A fact.</summary>
        public Fact(string name, string value)
        {
            Name = name;
            Value = value;
        }

        /// <summary>What it is.</summary>
        public readonly string Name;

        /// <summary>Its value, as people read it.</summary>
        public readonly string Value;
    }

    /// <summary>One message of a prompt.</summary>
    public sealed class PromptMessage
    {
        /// <summary>system, user or assistant.</summary>
        public string Role = "";

        /// <summary>The text.</summary>
        public string Content = "";
    }

    /// <summary>How likely a model held one label of one question.</summary>
    public sealed class LabelChance
    {
        /// <summary>The attribute that was asked about; empty: the intent.</summary>
        public string Question = "";

        /// <summary>The label.</summary>
        public string Label = "";

        /// <summary>Between 0 and 1.</summary>
        public double Probability;
    }

    /// <summary>A passage or example that a search compared with.</summary>
    public sealed class RetrievalHit
    {
        /// <summary>The record.</summary>
        public string Id = "";

        /// <summary>The passage, perhaps cut; empty where it is not told.</summary>
        public string Text = "";

        /// <summary>The intent that it is an example of; empty: none.</summary>
        public string Intent = "";

        /// <summary>1 - cosine: 0 is the same.</summary>
        public double Distance;

        /// <summary>Near enough: it came into the turn.</summary>
        public bool IsTaken;
    }

    /// <summary>One executed step of a turn.</summary>
    public sealed class StepView
    {
        /// <summary>Counts from 1.</summary>
        public int Number;

        /// <summary>The node that ran.</summary>
        public string NodeName = "";

        /// <summary>Its type.</summary>
        public string Type = "";

        /// <summary>The exit that it took; empty: the turn ended in it.</summary>
        public string Exit = "";

        /// <summary>When it began, in milliseconds of the turn.</summary>
        public double StartMs;

        /// <summary>How long it took.</summary>
        public double DurationMs;

        /// <summary>The slot that it read, and its text.</summary>
        public string InputSlot = "", InputText = "";

        /// <summary>The messages before the chat format; empty where no model was asked.</summary>
        public readonly List<PromptMessage> Prompt = new List<PromptMessage>();

        /// <summary>The exact text that the model read; empty where none was asked.</summary>
        public string Rendered = "";

        /// <summary>The slot that it wrote, and its text. Slot empty: it wrote none.</summary>
        public string OutputSlot = "", OutputText = "";

        /// <summary>What the client saw, and how later prompts replay it.</summary>
        public string Send = "", HistoryRole = "";

        /// <summary>The model; empty: none.</summary>
        public string Model = "";

        /// <summary>stop, length, cancelled or error; empty: nothing was generated.</summary>
        public string Finish = "";

        /// <summary>What the model thought aloud and nobody was shown.</summary>
        public string Reasoning = "";

        /// <summary>Tokens, cache and speed.</summary>
        public readonly List<Fact> Usage = new List<Fact>();

        /// <summary>The window and what was left out of it.</summary>
        public readonly List<Fact> Budget = new List<Fact>();

        /// <summary>The likeliest first, by question.</summary>
        public readonly List<LabelChance> Chances = new List<LabelChance>();

        /// <summary>The nearest first.</summary>
        public readonly List<RetrievalHit> Hits = new List<RetrievalHit>();

        /// <summary>All else that the node tells.</summary>
        public readonly List<Fact> Details = new List<Fact>();

        /// <summary>The step as one line.</summary>
        public string Title
        {
            get
            {
                return string.Format(
                    CultureInfo.InvariantCulture, "{0}  {1} ({2})  {3}  {4:0.0} ms", Number, NodeName, Type, Exit.Length > 0 ? "→ " + Exit : "", DurationMs);
            }
        }
    }

    /// <summary>A turn for the turn inspector. Reads whatever comes: what is missing or of another kind is left out.</summary>
    public sealed class TurnInspectorModel
    {
        /// <summary>The turn.</summary>
        public long TurnId;

        /// <summary>Success, Error or Cancelled; empty: not told.</summary>
        public string Status = "";

        /// <summary>Why it failed; empty: it did not.</summary>
        public string Error = "";

        /// <summary>The player's line.</summary>
        public string User = "";

        /// <summary>How long it took.</summary>
        public double DurationMs;

        /// <summary>There are diagnostics: the agent was made with them.</summary>
        public bool HasDebug;

        /// <summary>Intent, attributes, summary.</summary>
        public readonly List<Fact> Facts = new List<Fact>();

        /// <summary>Every slot at the end of the turn.</summary>
        public readonly List<Fact> Slots = new List<Fact>();

        /// <summary>What the sidecar warned of.</summary>
        public readonly List<string> Warnings = new List<string>();

        /// <summary>The steps in order.</summary>
        public readonly List<StepView> Steps = new List<StepView>();

        /// <summary>A turn out of the JSON of its TurnComplete.</summary>
        public static TurnInspectorModel From(JObject turnComplete)
        {
            var turn = new TurnInspectorModel();
            turn.TurnId = (long)EditorJson.Number(turnComplete, "turn_id");
            turn.Status = EditorJson.Text(turnComplete, "status");
            var error = EditorJson.Object(turnComplete, "error");
            if (error != null)
            {
                turn.Error = EditorJson.Text(error, "name") + " ("
                    + EditorJson.Number(error, "code").ToString("0", CultureInfo.InvariantCulture) + "): " + EditorJson.Text(error, "message");
            }
            turn.User = EditorJson.Text(EditorJson.Object(turnComplete, "interaction"), "user");
            var debug = EditorJson.Object(turnComplete, "debug");
            if (debug != null)
            {
                turn.HasDebug = true;
                turn.Read(debug);
            }
            return turn;
        }

        /// <summary>Everything as text, for the clipboard.</summary>
        public string ToText()
        {
            var text = new StringBuilder();
            text.Append("turn ").Append(TurnId.ToString(CultureInfo.InvariantCulture)).Append("  ").Append(Status).Append("  ")
                .Append(DurationMs.ToString("0.0", CultureInfo.InvariantCulture)).Append(" ms\n> ").Append(User).Append('\n');
            foreach (var step in Steps)
            {
                text.Append('\n').Append(step.Title).Append('\n');
                foreach (var fact in step.Usage)
                {
                    text.Append("  ").Append(fact.Name).Append(": ").Append(fact.Value).Append('\n');
                }
                if (step.Rendered.Length > 0)
                {
                    text.Append("--- prompt ---\n").Append(step.Rendered).Append("\n--- end of prompt ---\n");
                }
                if (step.OutputSlot.Length > 0)
                {
                    text.Append(step.OutputSlot).Append(" = ").Append(step.OutputText).Append('\n');
                }
            }
            return text.ToString();
        }

        private void Read(JObject debug)
        {
            DurationMs = EditorJson.Number(debug, "duration_ms");
            AddFact(Facts, "intent", EditorJson.Text(debug, "intent"));
            var attributes = EditorJson.Object(debug, "attributes");
            if (attributes != null)
            {
                foreach (var attribute in attributes.Properties())
                {
                    AddFact(Facts, attribute.Name, Shown(attribute.Value));
                }
            }
            AddFact(Facts, "summary", EditorJson.Text(debug, "summary"));
            var slots = EditorJson.Object(debug, "slots");
            if (slots != null)
            {
                foreach (var slot in slots.Properties())
                {
                    Slots.Add(new Fact(slot.Name, Shown(slot.Value)));
                }
            }
            foreach (var warning in EditorJson.Items(debug, "warnings"))
            {
                Warnings.Add(Shown(warning));
            }
            foreach (var item in EditorJson.Items(debug, "steps"))
            {
                var step = item as JObject;
                if (step != null)
                {
                    Steps.Add(ReadStep(step));
                }
            }
        }

        private static StepView ReadStep(JObject json)
        {
            var step = new StepView
            {
                Number = (int)EditorJson.Number(json, "step"),
                NodeName = EditorJson.Text(json, "node_name"),
                Type = EditorJson.Text(json, "type"),
                Exit = EditorJson.Text(json, "exit"),
                StartMs = EditorJson.Number(json, "start_ms"),
                DurationMs = EditorJson.Number(json, "duration_ms"),
                Model = EditorJson.Text(json, "model"),
                Finish = EditorJson.Text(json, "finish"),
                Reasoning = EditorJson.Text(json, "reasoning")
            };
            var input = EditorJson.Object(json, "input");
            step.InputSlot = EditorJson.Text(input, "slot");
            step.InputText = EditorJson.Text(input, "text");
            step.Rendered = EditorJson.Text(input, "rendered");
            foreach (var item in EditorJson.Items(input, "prompt"))
            {
                var message = item as JObject;
                if (message != null)
                {
                    step.Prompt.Add(new PromptMessage { Role = EditorJson.Text(message, "role"), Content = EditorJson.Text(message, "content") });
                }
            }
            var output = EditorJson.Object(json, "output");
            step.OutputSlot = EditorJson.Text(output, "slot");
            step.OutputText = EditorJson.Text(output, "text");
            step.Send = EditorJson.Text(output, "send");
            step.HistoryRole = EditorJson.Text(output, "history_role");
            AddFacts(step.Usage, EditorJson.Object(json, "usage"));
            AddFacts(step.Budget, EditorJson.Object(json, "budget"));
            ReadDetails(step, EditorJson.Object(json, "details"));
            return step;
        }

        private static void ReadDetails(StepView step, JObject details)
        {
            if (details == null)
            {
                return;
            }
            ReadChances(step, "", EditorJson.Object(details, "probabilities"));
            var taken = new HashSet<string>(StringComparer.Ordinal);
            foreach (var item in EditorJson.Items(details, "hits"))
            {
                taken.Add(EditorJson.Text(item as JObject, "id"));
            }
            var listed = new HashSet<string>(StringComparer.Ordinal);
            foreach (var list in new[] { "nearest", "hits" })
            {
                foreach (var item in EditorJson.Items(details, list))
                {
                    var hit = item as JObject;
                    if (hit == null || !listed.Add(EditorJson.Text(hit, "id")))
                    {
                        continue;
                    }
                    step.Hits.Add(new RetrievalHit
                    {
                        Id = EditorJson.Text(hit, "id"),
                        Text = EditorJson.Text(hit, "text"),
                        Intent = EditorJson.Text(hit, "intent"),
                        Distance = EditorJson.Number(hit, "distance"),
                        IsTaken = taken.Contains(EditorJson.Text(hit, "id"))
                    });
                }
            }
            foreach (var detail in details.Properties())
            {
                var isShown = (detail.Name == "probabilities" && step.Chances.Count > 0)
                    || ((detail.Name == "hits" || detail.Name == "nearest") && detail.Value is JArray);
                if (!isShown)
                {
                    AddFact(step.Details, detail.Name, Shown(detail.Value));
                }
            }
        }

        /// Of one question {label: chance}, of several {question: {label: chance}}.
        private static void ReadChances(StepView step, string question, JObject chances)
        {
            if (chances == null)
            {
                return;
            }
            var found = new List<LabelChance>();
            foreach (var chance in chances.Properties())
            {
                var inner = chance.Value as JObject;
                if (inner != null && question.Length == 0)
                {
                    ReadChances(step, chance.Name, inner);
                }
                else if (chance.Value.Type == JTokenType.Float || chance.Value.Type == JTokenType.Integer)
                {
                    found.Add(new LabelChance { Question = question, Label = chance.Name, Probability = EditorJson.Number(chances, chance.Name) });
                }
            }
            found.Sort(LikeliestFirst);
            step.Chances.AddRange(found);
        }

        private static int LikeliestFirst(LabelChance one, LabelChance other)
        {
            var order = other.Probability.CompareTo(one.Probability);
            return order != 0 ? order : string.CompareOrdinal(one.Label, other.Label);
        }

        private static void AddFacts(List<Fact> facts, JObject json)
        {
            if (json == null)
            {
                return;
            }
            foreach (var field in json.Properties())
            {
                AddFact(facts, field.Name, Shown(field.Value));
            }
        }

        private static void AddFact(List<Fact> facts, string name, string value)
        {
            if (value.Length > 0)
            {
                facts.Add(new Fact(name, value));
            }
        }

        private static string Shown(JToken value)
        {
            var plain = value as JValue;
            if (plain == null)
            {
                return value.ToString(Newtonsoft.Json.Formatting.None);
            }
            if (plain.Value == null)
            {
                return "";
            }
            if (plain.Value is bool)
            {
                return (bool)plain.Value ? "true" : "false";
            }
            return Convert.ToString(plain.Value, CultureInfo.InvariantCulture);
        }
    }
}
