// What came of a turn, in case that nothing more does.
using System;
using System.Collections.Generic;
using System.Globalization;
using System.Text;
using System.Threading.Tasks;
using Newtonsoft.Json.Linq;
using Parley.Messages;

namespace Parley
{
    /// <summary>A line of the player's, from Say to its TurnComplete. Threading: the game's thread only.</summary>
    internal sealed class Turn
    {
        private readonly SortedDictionary<long, Said> _said = new SortedDictionary<long, Said>();

        internal Turn(string text)
        {
            Text = text;
        }

        /// <summary>The player's line.</summary>
        internal string Text { get; private set; }

        /// <summary>As the sidecar counts; 0: it has not begun.</summary>
        internal long TurnId { get; set; }

        /// <summary>Ends with the turn; null: nobody waits.</summary>
        internal TaskCompletionSource<TurnComplete> Waiting { get; set; }

        /// <summary>An object of before had it said; whether the sidecar heard it nobody knows.</summary>
        internal bool IsTakenOver { get; set; }

        /// <summary>The game cancelled it while the sidecar could not be told.</summary>
        internal bool IsToBeCancelled { get; set; }

        internal void Take(AnswerText frame)
        {
            TurnId = frame.TurnId;
            Said said;
            if (!_said.TryGetValue(frame.Step, out said))
            {
                said = new Said { NodeName = frame.NodeName };
                _said.Add(frame.Step, said);
            }
            if (!frame.IsDelta)
            {
                said.Text.Length = 0;
            }
            said.Text.Append(frame.Text);
        }

        /// <summary>The end of a turn that its sidecar does not tell. What the player had seen of it stays in the dialog.</summary>
        internal TurnComplete End(string agentId, JObject workflow, TurnStatus status, ErrorCode code, string name, string why)
        {
            List<Output> outputs = new List<Output>();
            foreach (KeyValuePair<long, Said> step in _said)
            {
                if (step.Value.Text.Length > 0)
                {
                    outputs.Add(OutputOf(step.Key, step.Value, workflow));
                }
            }
            TurnComplete complete = new TurnComplete { AgentId = agentId, TurnId = TurnId, Status = status };
            if (status == TurnStatus.Error)
            {
                complete.Error = new TurnError { Code = (int)code, Name = name, Message = why };
            }
            if (outputs.Count > 0)
            {
                complete.Interaction = new Interaction
                {
                    TurnId = TurnId,
                    User = Text,
                    Outputs = outputs,
                    Status = status,
                    Time = DateTime.UtcNow.ToString("yyyy-MM-dd'T'HH:mm:ss.fff'Z'", CultureInfo.InvariantCulture),
                };
            }
            return complete;
        }

        internal JObject ToState()
        {
            JArray said = new JArray();
            foreach (KeyValuePair<long, Said> step in _said)
            {
                said.Add(new JObject
                {
                    { "step", step.Key },
                    { "node_name", step.Value.NodeName },
                    { "text", step.Value.Text.ToString() },
                });
            }
            return new JObject
            {
                { "text", Text }, { "turn_id", TurnId }, { "said", said }, { "is_to_be_cancelled", IsToBeCancelled },
            };
        }

        internal static Turn FromState(JObject state)
        {
            Turn turn = new Turn(JsonRead.Text(JsonRead.Field(state, "text")))
            {
                TurnId = JsonRead.Int64(JsonRead.Field(state, "turn_id")),
                IsToBeCancelled = JsonRead.Boolean(JsonRead.Field(state, "is_to_be_cancelled")),
                IsTakenOver = true,
            };
            foreach (JObject step in JsonRead.List(JsonRead.Field(state, "said"), JsonRead.Object))
            {
                Said said = new Said { NodeName = JsonRead.Text(JsonRead.Field(step, "node_name")) };
                said.Text.Append(JsonRead.Text(JsonRead.Field(step, "text")));
                turn._said[JsonRead.Int64(JsonRead.Field(step, "step"))] = said;
            }
            return turn;
        }

        private static Output OutputOf(long step, Said said, JObject workflow)
        {
            JObject node = NodeOf(workflow, said.NodeName);
            string slot = TextOf(node, "output_name");
            return new Output
            {
                Step = step,
                NodeName = said.NodeName,
                Slot = slot.Length > 0 ? slot : said.NodeName,
                Text = said.Text.ToString(),
                Send = Send.Streamed,
                HistoryRole = TextOf(node, "history_role") == "None" ? HistoryRole.None : HistoryRole.Assistant,
                HistoryName = TextOf(node, "history_name"),
            };
        }

        internal static JObject NodeOf(JObject workflow, string name)
        {
            JArray nodes = workflow["nodes"] as JArray;
            if (nodes != null)
            {
                foreach (JToken item in nodes)
                {
                    JObject node = item as JObject;
                    if (node != null && TextOf(node, "name") == name)
                    {
                        return node;
                    }
                }
            }
            return null;
        }

        internal static string TextOf(JObject node, string name)
        {
            JValue value = node == null ? null : node[name] as JValue;
            return value != null && value.Type == JTokenType.String ? (string)value.Value : "";
        }

        private sealed class Said
        {
            internal string NodeName = "";
            internal readonly StringBuilder Text = new StringBuilder();
        }
    }
}
