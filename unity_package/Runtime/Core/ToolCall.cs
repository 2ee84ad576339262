// A call that a model made, and the game's answer to it.
using System;
using Newtonsoft.Json.Linq;
using Parley.Messages;

namespace Parley
{
    /// <summary>
    /// What a node wants the game to do. Answer once, with Reply or Fail, while the turn waits for it; a late or second
    /// answer is harmless.
    /// Threading: Reply and Fail may be called from any thread.
    /// </summary>
    public sealed class ToolCall
    {
        private readonly Action<ToolCall, string, string> _answer;
        private int _isAnswered;

        internal ToolCall(CoreAgent agent, NodeEvent source, Action<ToolCall, string, string> answer)
        {
            Agent = agent;
            Source = source;
            CallId = TextOf(source.Data, "call_id");
            Tool = TextOf(source.Data, "tool");
            Arguments = source.Data["arguments"] as JObject ?? new JObject();
            _answer = answer;
        }

        /// <summary>Whose turn it is.</summary>
        public CoreAgent Agent { get; private set; }

        /// <summary>The event itself.</summary>
        public NodeEvent Source { get; private set; }

        /// <summary>Names the call.</summary>
        public string CallId { get; private set; }

        /// <summary>The tool's name, as the workflow has it.</summary>
        public string Tool { get; private set; }

        /// <summary>What it is called with.</summary>
        public JObject Arguments { get; private set; }

        /// <summary>The node whose model made the call.</summary>
        public string NodeName
        {
            get { return Source.NodeName; }
        }

        /// <summary>Say what it brought, for the model to read.</summary>
        public void Reply(string result)
        {
            Answer(result ?? "", null);
        }

        /// <summary>Say why it failed; the model reads that instead.</summary>
        public void Fail(string error)
        {
            Answer("", string.IsNullOrEmpty(error) ? "it failed" : error);
        }

        private void Answer(string result, string error)
        {
            if (System.Threading.Interlocked.Exchange(ref _isAnswered, 1) == 0)
            {
                _answer(this, result, error);
            }
        }

        private static string TextOf(JObject data, string name)
        {
            JValue value = data[name] as JValue;
            return value != null && value.Type == JTokenType.String ? (string)value.Value : "";
        }
    }
}
