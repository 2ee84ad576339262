// A conversation with a workflow for the test chat window, outside Play mode.
using System;
using System.Collections.Generic;
using System.Globalization;
using Newtonsoft.Json.Linq;
using Parley.Messages;

namespace Parley.Editor
{
    /// <summary>Talks to one workflow through an editor's sidecar. Threading: the editor's main thread.</summary>
    /// <remarks>Whoever has the core calls its Update; everything here changes in it.</remarks>
    public sealed class ChatModel : IDisposable
    {
        /// <summary>The name of the conversation within the editor's sidecar.</summary>
        public const string AgentKey = "parley.test-chat";

        private readonly ParleyCore _core;
        private CoreAgent _agent;
        private ChatLine _sound;
        private double _soundSeconds;
        private long _bytesPerSecond;
        private JObject _workflow;
        private string _text = "";
        private JObject _values = new JObject();

        /// <summary>No conversation yet.</summary>
        public ChatModel(ParleyCore core)
        {
            _core = core;
            Lines = new List<ChatLine>();
            Turns = new List<TurnInspectorModel>();
            Variables = new List<ChatVariable>();
            ToolCalls = new List<ChatToolCall>();
            Findings = new List<Finding>();
            Fault = "";
            _core.Gone += OnGone;
            _core.GaveUp += OnGaveUp;
        }

        /// <summary>Something changed that a window shows.</summary>
        public event Action Changed;

        /// <summary>The sidecar has the conversation and all that it needs: it knows more of its models now.</summary>
        public event Action Made;

        /// <summary>What was said, oldest first.</summary>
        public List<ChatLine> Lines { get; private set; }

        /// <summary>The turns that ended, oldest first, for the turn inspector.</summary>
        public List<TurnInspectorModel> Turns { get; private set; }

        /// <summary>The workflow's variables and what they are now.</summary>
        public List<ChatVariable> Variables { get; private set; }

        /// <summary>Calls that nobody answered yet.</summary>
        public List<ChatToolCall> ToolCalls { get; private set; }

        /// <summary>What the compiler said when the conversation began.</summary>
        public List<Finding> Findings { get; private set; }

        /// <summary>Why there is no conversation; empty: there is one, or none was asked for.</summary>
        public string Fault { get; private set; }

        /// <summary>A line can be said.</summary>
        public bool CanSay
        {
            get { return _agent != null && !_agent.IsBusy && _agent.State != AgentState.Failed && _agent.State != AgentState.Destroyed; }
        }

        /// <summary>A line is being answered.</summary>
        public bool IsBusy
        {
            get { return _agent != null && _agent.IsBusy; }
        }

        /// <summary>How it stands, in a few words.</summary>
        public string Status
        {
            get
            {
                if (_core.State == CoreState.Down)
                {
                    return "no sidecar: " + _core.Trouble;
                }
                if (_agent == null)
                {
                    return Fault.Length > 0 ? Fault : "no conversation";
                }
                switch (_agent.State)
                {
                    case AgentState.Making:
                        return _core.State == CoreState.Ready ? "loading the workflow and its models…" : "starting the sidecar…";
                    case AgentState.Failed:
                        return Fault;
                    default:
                        return _agent.IsBusy ? "answering…" : "ready";
                }
            }
        }

        /// <summary>The workflow has been edited since the conversation began.</summary>
        public bool IsStale(string text)
        {
            return _agent != null && text != _text;
        }

        /// <summary>Begins a conversation with a workflow's text; `keepDialog`: goes on with what was said so far.</summary>
        public void Begin(string text, bool keepDialog = false)
        {
            JObject workflow;
            try
            {
                workflow = WorkflowDocument.Parse(text).Root;
            }
            catch (JsonFormatException fault)
            {
                End();
                Fault = "The workflow cannot be read: " + fault.Message;
                Tell();
                return;
            }
            JToken seed = null;
            if (keepDialog && _agent != null)
            {
                seed = DialogMirror.JsonOf(_agent.Dialog.ToDocument());
            }
            End();
            if (!keepDialog)
            {
                Lines.Clear();
                Turns.Clear();
            }
            _text = text;
            _workflow = workflow;
            Fault = "";
            Findings = new List<Finding>();
            ReadVariables();
            _core.Start();
            _agent = _core.CreateAgent(new AgentOptions
            {
                Key = AgentKey,
                Workflow = (JObject)JsonText.Parse(JsonText.Compact(workflow)),
                Variables = (JObject)_values.DeepClone(),
                EnableDiagnostics = true,
                SeedDialog = seed,
                WhenBusy = WhenBusy.Refuse
            });
            Listen();
        }

        /// <summary>Goes on with the conversation that the sidecar kept over a reload of the scripts; false: there is none.</summary>
        /// <param name="text">The workflow's text when it was begun.</param>
        public bool Adopt(string text)
        {
            var agent = _core.FindAgent(AgentKey);
            if (agent == null || _agent != null)
            {
                return false;
            }
            _agent = agent;
            _text = text;
            try
            {
                _workflow = WorkflowDocument.Parse(text ?? "").Root;
            }
            catch (JsonFormatException)
            {
                _workflow = null; // the window's own text was lost; the conversation goes on without its variables
            }
            ReadVariables();
            foreach (var turn in agent.Dialog.Interactions)
            {
                Lines.Add(new ChatLine { Kind = ChatLineKind.Player, Text = turn.User, TurnId = turn.TurnId });
                foreach (var output in turn.Outputs)
                {
                    if (output.Send != Send.None)
                    {
                        Lines.Add(new ChatLine { Kind = ChatLineKind.Speaker, NodeName = output.NodeName, Text = output.Text, TurnId = turn.TurnId, Step = output.Step });
                    }
                }
            }
            Listen();
            return true;
        }

        private void Listen()
        {
            _agent.Answer += OnAnswer;
            _agent.SoundStarted += OnSoundStarted;
            _agent.Sound += OnSound;
            _agent.TurnCompleted += OnTurnCompleted;
            _agent.ToolCalled += OnToolCalled;
            _agent.NodeEvent += OnNodeEvent;
            _agent.Failed += OnFailed;
            _agent.Made += OnMade;
            Tell();
        }

        /// <summary>Hears no more and leaves the conversation in the sidecar, for Adopt.</summary>
        public void Leave()
        {
            if (_agent != null)
            {
                Deafen(_agent);
                _agent = null;
            }
        }

        /// <summary>Says the player's line. False: it was refused, and Lines says why.</summary>
        public bool Say(string text)
        {
            if (_agent == null)
            {
                return false;
            }
            var outcome = _agent.Say(text);
            if (outcome != SayOutcome.Sent && outcome != SayOutcome.Queued)
            {
                Note(ChatLineKind.Error, outcome == SayOutcome.Busy ? "a line is being answered; wait for it or cancel it" : Status);
                return false;
            }
            Lines.Add(new ChatLine { Kind = ChatLineKind.Player, Text = text });
            Tell();
            return true;
        }

        /// <summary>Stops the turn that runs; its end comes with status Cancelled.</summary>
        public void Cancel()
        {
            if (_agent != null)
            {
                _agent.Cancel();
            }
        }

        /// <summary>Changes a variable, for the next turn. What is no value of its type is refused.</summary>
        public bool SetVariable(ChatVariable variable, string text)
        {
            string refusal;
            var value = ChatVariable.Read(variable.Type, text, out refusal);
            variable.Refusal = refusal ?? "";
            variable.Text = text;
            if (value == null)
            {
                Tell();
                return false;
            }
            _values[variable.Name] = value;
            if (_agent != null)
            {
                _agent.SetVariable(variable.Name, value, delegate(ParleyException fault)
                {
                    variable.Refusal = fault == null ? "" : fault.Message;
                    Tell();
                });
            }
            Tell();
            return true;
        }

        /// <summary>Answers a tool call with what was typed.</summary>
        public void Answer(ChatToolCall call)
        {
            ToolCalls.Remove(call);
            Note(ChatLineKind.Note, call.Call.Tool + " → " + call.Result);
            call.Call.Reply(call.Result);
        }

        /// <summary>Lets a tool call fail.</summary>
        public void Refuse(ChatToolCall call)
        {
            ToolCalls.Remove(call);
            call.Call.Fail(call.Result);
        }

        /// <summary>Ends the conversation; what was said stays to be read.</summary>
        public void End()
        {
            if (_agent == null)
            {
                return;
            }
            var agent = _agent;
            _agent = null;
            Deafen(agent);
            agent.Destroy();
            ToolCalls.Clear();
            Close(0);
            Tell();
        }

        private void Deafen(CoreAgent agent)
        {
            agent.Answer -= OnAnswer;
            agent.SoundStarted -= OnSoundStarted;
            agent.Sound -= OnSound;
            agent.TurnCompleted -= OnTurnCompleted;
            agent.ToolCalled -= OnToolCalled;
            agent.NodeEvent -= OnNodeEvent;
            agent.Failed -= OnFailed;
            agent.Made -= OnMade;
        }

        /// <summary>Ends the conversation.</summary>
        public void Dispose()
        {
            End();
            _core.Gone -= OnGone;
            _core.GaveUp -= OnGaveUp;
        }

        // ---- what comes

        private void OnMade(CoreAgent agent)
        {
            if (Made != null)
            {
                Made();
            }
            Findings = agent.Warnings == null ? new List<Finding>() : new List<Finding>(Parley.Findings.Of(agent.Warnings).All);
            Tell();
        }

        private void OnFailed(ParleyException fault)
        {
            Fault = fault.Message;
            Findings = new List<Finding>(Parley.Findings.Of(fault.Problems).All);
            Note(ChatLineKind.Error, fault.Message);
        }

        private void OnAnswer(AnswerText answer)
        {
            ChatLine line = null;
            for (var at = Lines.Count - 1; at >= 0 && line == null; at--)
            {
                if (Lines[at].Kind == ChatLineKind.Speaker && Lines[at].IsOpen && Lines[at].TurnId == answer.TurnId && Lines[at].Step == answer.Step)
                {
                    line = Lines[at];
                }
            }
            if (line == null)
            {
                line = new ChatLine
                {
                    Kind = ChatLineKind.Speaker, NodeName = answer.NodeName, TurnId = answer.TurnId, Step = answer.Step, IsOpen = true
                };
                Lines.Add(line);
            }
            line.Text = answer.IsDelta ? line.Text + answer.Text : answer.Text;
            line.IsOpen = !answer.IsFinal;
            if (answer.IsFinal && line.Text.Length == 0)
            {
                Lines.Remove(line);
            }
            Tell();
        }

        private void OnSoundStarted(AudioFormat format)
        {
            _soundSeconds = 0;
            _bytesPerSecond = 2 * format.SampleRate * format.Channels;
            _sound = new ChatLine
            {
                Kind = ChatLineKind.Sound, NodeName = format.NodeName, TurnId = format.TurnId, Step = format.Step, IsOpen = true
            };
            Lines.Add(_sound);
            TellSound();
        }

        private void OnSound(SoundChunk chunk)
        {
            if (_sound == null || _sound.TurnId != chunk.Message.TurnId || _sound.Step != chunk.Message.Step)
            {
                return; // it was begun before a reload of the scripts
            }
            _soundSeconds += chunk.Samples == null ? 0 : (double)chunk.Samples.Length / _bytesPerSecond;
            _sound.IsOpen = !chunk.Message.IsFinal;
            TellSound();
        }

        private void TellSound()
        {
            _sound.Text = _soundSeconds.ToString("0.0", CultureInfo.InvariantCulture) + " s of sound";
            Tell();
        }

        private void OnTurnCompleted(TurnComplete turn)
        {
            Close(turn.TurnId);
            ToolCalls.Clear();
            Turns.Add(TurnInspectorModel.From(turn.ToJson()));
            if (turn.Status == TurnStatus.Error)
            {
                Note(ChatLineKind.Error, turn.Error == null ? "the turn failed" : turn.Error.Message);
            }
            else if (turn.Status == TurnStatus.Cancelled)
            {
                Note(ChatLineKind.Note, "cancelled");
            }
            Tell();
        }

        private void OnToolCalled(ToolCall call)
        {
            ToolCalls.Add(new ChatToolCall { Call = call });
            Note(ChatLineKind.Note, call.NodeName + " calls " + call.Tool + " " + call.Arguments.ToString(Newtonsoft.Json.Formatting.None));
        }

        private void OnNodeEvent(NodeEvent what)
        {
            if (what.Event == "intent_classified" || what.Event == "attributes_classified" || what.Event == "summary_written")
            {
                Note(ChatLineKind.Note, what.NodeName + ": " + what.Event + " " + what.Data.ToString(Newtonsoft.Json.Formatting.None));
            }
        }

        private void OnGone(string why)
        {
            if (_agent != null)
            {
                Note(ChatLineKind.Note, "the sidecar is lost (" + why + "); another one takes its place");
            }
        }

        private void OnGaveUp(string why)
        {
            if (_agent != null)
            {
                Note(ChatLineKind.Error, why);
            }
            Tell();
        }

        /// Of one turn, or of all: 0.
        private void Close(long turnId)
        {
            foreach (var line in Lines)
            {
                if (turnId == 0 || line.TurnId == turnId)
                {
                    line.IsOpen = false;
                }
            }
        }

        private void Note(ChatLineKind kind, string text)
        {
            Lines.Add(new ChatLine { Kind = kind, Text = text });
            Tell();
        }

        private void Tell()
        {
            if (Changed != null)
            {
                Changed();
            }
        }

        // ---- variables

        /// What a person set stays for as long as the workflow declares the variable with that type.
        private void ReadVariables()
        {
            var before = Variables;
            Variables = new List<ChatVariable>();
            var kept = new JObject();
            foreach (var item in EditorJson.Items(_workflow, "variables"))
            {
                var declared = item as JObject;
                var variable = new ChatVariable { Name = EditorJson.Text(declared, "name"), Type = EditorJson.Text(declared, "type") };
                if (variable.Name.Length == 0)
                {
                    continue;
                }
                var value = declared["value"];
                foreach (var old in before)
                {
                    if (old.Name == variable.Name && old.Type == variable.Type && _values[old.Name] != null)
                    {
                        value = _values[old.Name];
                        kept[old.Name] = value;
                    }
                }
                variable.Text = ChatVariable.TextOf(value);
                Variables.Add(variable);
            }
            _values = (JObject)kept.DeepClone();
        }
    }
}
