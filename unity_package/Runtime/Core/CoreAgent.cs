// One character of the game, whatever becomes of the sidecars that speak for it.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;
using Newtonsoft.Json.Linq;
using Parley.Messages;

namespace Parley
{
    /// <summary>How far a character is.</summary>
    public enum AgentState
    {
        /// <summary>The sidecar does not have it yet, or not any more; what it is asked waits.</summary>
        Making,

        /// <summary>It can be spoken to.</summary>
        Ready,

        /// <summary>The sidecar refused it; see Trouble.</summary>
        Failed,

        /// <summary>Destroy was called.</summary>
        Destroyed,
    }

    /// <summary>
    /// An agent that outlives its sidecar. ParleyCore makes it. Every line that Say takes ends with exactly one
    /// TurnCompleted, also where the sidecar does not live to tell: then its status is Error, with code 2001.
    /// Callbacks and the ends of tasks come in ParleyCore.Update; do not block on a task on the game's thread.
    /// Threading: the game's thread only.
    /// </summary>
    public sealed partial class CoreAgent
    {
        private readonly ParleyCore _core;
        private readonly DialogMirror _mirror = new DialogMirror();
        private readonly JObject _workflow;
        private readonly JObject _variables;
        private readonly JObject _params = new JObject();
        private readonly List<Ask> _later = new List<Ask>();
        private readonly Handlers<AnswerText> _onAnswer = new Handlers<AnswerText>("Answer");
        private readonly Handlers<AudioFormat> _onSoundStarted = new Handlers<AudioFormat>("SoundStarted");
        private readonly Handlers<SoundChunk> _onSound = new Handlers<SoundChunk>("Sound");
        private readonly Handlers<TurnComplete> _onTurnCompleted = new Handlers<TurnComplete>("TurnCompleted");
        private readonly Handlers<ToolCall> _onToolCalled = new Handlers<ToolCall>("ToolCalled");
        private readonly Handlers<NodeEvent> _onNodeEvent = new Handlers<NodeEvent>("NodeEvent");
        private readonly Handlers<ParleyException> _onFailed = new Handlers<ParleyException>("Failed");
        private readonly Handlers<CoreAgent> _onMade = new Handlers<CoreAgent>("Made");
        private readonly HashSet<string> _silent = new HashSet<string>(StringComparer.Ordinal);
        private JToken _seed;
        private Turn _turn;
        private Turn _queued;
        private List<Request> _toAskAgain = new List<Request>();
        private string _loading = "";
        private bool _isMirrorStale;
        private bool _wasMade;
        private int _making;

        internal CoreAgent(ParleyCore core, AgentOptions options)
        {
            _core = core;
            Key = options.Key.Length > 0 ? options.Key : Guid.NewGuid().ToString("N");
            _workflow = (JObject)options.Workflow.DeepClone();
            _variables = (JObject)options.Variables.DeepClone();
            _seed = options.SeedDialog == null ? null : options.SeedDialog.DeepClone();
            EnableDiagnostics = options.EnableDiagnostics;
            MaxSteps = options.MaxSteps;
            WhenBusy = options.WhenBusy;
            AgentId = "";
            Warnings = new Problem[0];
        }

        /// <summary>Text for the player's eyes, as it comes.</summary>
        public event Action<AnswerText> Answer
        {
            add { _onAnswer.Add(value); }
            remove { _onAnswer.Remove(value); }
        }

        /// <summary>A step of the turn begins to speak: what its sound is like.</summary>
        public event Action<AudioFormat> SoundStarted
        {
            add { _onSoundStarted.Add(value); }
            remove { _onSoundStarted.Remove(value); }
        }

        /// <summary>Sound of a step, in the order in which it is to be heard.</summary>
        public event Action<SoundChunk> Sound
        {
            add { _onSound.Add(value); }
            remove { _onSound.Remove(value); }
        }

        /// <summary>The end of a turn, once for each line that Say took.</summary>
        public event Action<TurnComplete> TurnCompleted
        {
            add { _onTurnCompleted.Add(value); }
            remove { _onTurnCompleted.Remove(value); }
        }

        /// <summary>A model called a tool.</summary>
        public event Action<ToolCall> ToolCalled
        {
            add { _onToolCalled.Add(value); }
            remove { _onToolCalled.Remove(value); }
        }

        /// <summary>Something that a node did beside speaking, tool calls too.</summary>
        public event Action<NodeEvent> NodeEvent
        {
            add { _onNodeEvent.Add(value); }
            remove { _onNodeEvent.Remove(value); }
        }

        /// <summary>The sidecar refused to make it.</summary>
        public event Action<ParleyException> Failed
        {
            add { _onFailed.Add(value); }
            remove { _onFailed.Remove(value); }
        }

        /// <summary>The sidecar has it now; comes again for each sidecar.</summary>
        public event Action<CoreAgent> Made
        {
            add { _onMade.Add(value); }
            remove { _onMade.Remove(value); }
        }

        /// <summary>Its name within the game.</summary>
        public string Key { get; private set; }

        /// <summary>Its name in the sidecar that runs now; empty: it has none.</summary>
        public string AgentId { get; private set; }

        /// <summary>How far it is.</summary>
        public AgentState State { get; private set; }

        /// <summary>Why it could not be made; null: it could.</summary>
        public ParleyException Trouble { get; private set; }

        /// <summary>What the compiler remarked when it was made.</summary>
        public IList<Problem> Warnings { get; private set; }

        /// <summary>What becomes of a line that is said while a turn runs.</summary>
        public WhenBusy WhenBusy { get; set; }

        /// <summary>Whether TurnComplete.Debug is filled.</summary>
        public bool EnableDiagnostics { get; private set; }

        /// <summary>Steps of one turn; more end it.</summary>
        public int MaxSteps { get; private set; }

        /// <summary>The dialog, mirrored.</summary>
        public DialogMirror Dialog
        {
            get { return _mirror; }
        }

        /// <summary>A line is being answered, or waits to be.</summary>
        public bool IsBusy
        {
            get { return _turn != null || _queued != null; }
        }

        /// <summary>The turn that runs; 0: none, or it has not begun.</summary>
        public long TurnId
        {
            get { return _turn != null ? _turn.TurnId : 0; }
        }

        /// <summary>Whether a node of the workflow has a voice. False too where the sidecar said that it cannot use it.</summary>
        public bool MaySpeak(string nodeName)
        {
            string voice = VoiceOf(nodeName);
            return voice.Length > 0 && !_silent.Contains(voice);
        }

        // ---- speaking ----

        /// <summary>Say the player's line; an empty one lets the character speak first.</summary>
        public SayOutcome Say(string text)
        {
            return Say(new Turn(text ?? ""));
        }

        /// <summary>
        /// Say the player's line; the task ends with its turn, whatever its status. Faults with AgentBusy or
        /// SidecarFailed where the line was refused. `cancel` cancels the turn, whose end then has status Cancelled.
        /// </summary>
        public Task<TurnComplete> SayAsync(string text, CancellationToken cancel = default(CancellationToken))
        {
            Turn turn = new Turn(text ?? "") { Waiting = new TaskCompletionSource<TurnComplete>() };
            SayOutcome outcome = Say(turn);
            if (outcome == SayOutcome.Busy)
            {
                turn.Waiting.SetException(new ParleyException(
                    ErrorCode.AgentBusy, "AgentBusy", "a turn of this agent is running; wait for it or cancel it"));
            }
            else if (outcome == SayOutcome.Unavailable)
            {
                turn.Waiting.SetException(WhyUnavailable());
            }
            else if (cancel.CanBeCanceled)
            {
                CancellationTokenRegistration registration =
                    cancel.Register(() => _core.OnGameThread(() => CancelTurn(turn)));
                turn.Waiting.Task.ContinueWith(ended => registration.Dispose(), TaskContinuationOptions.ExecuteSynchronously);
            }
            return turn.Waiting.Task;
        }

        /// <summary>Stop the running turn and forget the line that waits; their TurnCompleted come, with status Cancelled.</summary>
        public void Cancel()
        {
            DropQueued();
            CancelTurn(_turn);
        }

        // ---- changing ----

        /// <summary>Change a variable, for every sidecar to come too. A text, a number, a flag or a list of texts.</summary>
        public void SetVariable(string name, JToken value, Action<ParleyException> done = null)
        {
            SetVariables(new JObject { { name, value } }, done);
        }

        /// <summary>Change variables, all or none, for every sidecar to come too.</summary>
        public void SetVariables(JObject values, Action<ParleyException> done = null)
        {
            JObject kept = (JObject)values.DeepClone();
            if (!CanBeWritten(kept, done))
            {
                return;
            }
            Do(
                () => new SetVariables { AgentId = AgentId, Values = (JObject)kept.DeepClone() },
                (reply, fault) =>
                {
                    if (fault == null)
                    {
                        Merge(_variables, kept);
                    }
                    Tell(done, fault);
                });
        }

        /// <summary>As SetVariables. Faults with ParleyException.</summary>
        public Task SetVariablesAsync(JObject values)
        {
            TaskCompletionSource<bool> waiting = new TaskCompletionSource<bool>();
            SetVariables(values, fault => End(waiting, true, fault));
            return waiting.Task;
        }

        /// <summary>
        /// Change parameters of a node, only those that are named, for every sidecar to come too. Needs an idle agent.
        /// </summary>
        public void ChangeParams(string nodeName, JObject changes, Action<ParleyException> done = null)
        {
            JObject kept = (JObject)changes.DeepClone();
            if (!CanBeWritten(kept, done))
            {
                return;
            }
            Do(
                () => new ChangeParams { AgentId = AgentId, NodeName = nodeName, Params = (JObject)kept.DeepClone() },
                (reply, fault) =>
                {
                    if (fault == null)
                    {
                        KeepParams(nodeName, kept);
                    }
                    Tell(done, fault);
                });
        }

        /// <summary>As ChangeParams. Faults with ParleyException.</summary>
        public Task ChangeParamsAsync(string nodeName, JObject changes)
        {
            TaskCompletionSource<bool> waiting = new TaskCompletionSource<bool>();
            ChangeParams(nodeName, changes, fault => End(waiting, true, fault));
            return waiting.Task;
        }

        /// <summary>What the next turn will use in a node, and what that was when the agent was made.</summary>
        public void GetParams(string nodeName, Action<Params, ParleyException> done)
        {
            Do(
                () => new GetParams { AgentId = AgentId, NodeName = nodeName },
                (reply, fault) => _core.Call(() => done(reply as Params, fault)));
        }

        /// <summary>As GetParams. Faults with ParleyException.</summary>
        public Task<Params> GetParamsAsync(string nodeName)
        {
            TaskCompletionSource<Params> waiting = new TaskCompletionSource<Params>();
            GetParams(nodeName, (found, fault) => End(waiting, found, fault));
            return waiting.Task;
        }

        // ---- the dialog ----

        /// <summary>
        /// The dialog as JSON text for a save game. Where no sidecar has the agent just now, it is the dialog as the game
        /// knows it: saving waits for no restart.
        /// </summary>
        public void SaveDialog(Action<string, ParleyException> done)
        {
            if (State != AgentState.Ready || !_core.IsConnected)
            {
                Write(_mirror.ToDocument(), done);
                return;
            }
            Export(new DialogDocument(), Do, (document, fault) =>
            {
                if (fault != null && !Faults.MeansGone(fault))
                {
                    _core.Call(() => done(null, fault));
                }
                else
                {
                    Write(fault == null ? document : _mirror.ToDocument(), done);
                }
            });
        }

        /// <summary>As SaveDialog. Faults with ParleyException.</summary>
        public Task<string> SaveDialogAsync()
        {
            TaskCompletionSource<string> waiting = new TaskCompletionSource<string>();
            SaveDialog((text, fault) => End(waiting, text, fault));
            return waiting.Task;
        }

        /// <summary>
        /// Put a saved dialog, or its short form, in the place of the dialog. Needs an idle agent. A fault leaves the
        /// dialog as it was, or, of one over 4 MiB, with the part that was taken. A line that is said meanwhile waits.
        /// </summary>
        public void LoadDialog(string json, Action<ParleyException> done = null)
        {
            string loading = _loading = json ?? "";
            Action<ParleyException> end = fault =>
            {
                if (ReferenceEquals(_loading, loading))
                {
                    _loading = "";
                }
                Tell(done, fault);
                // What was said behind it belongs to the dialog that is loaded.
                SayQueued();
            };
            _core.Background(
                () => DialogMirror.Split(JsonText.Parse(json)),
                (pieces, fault) =>
                {
                    if (fault == null)
                    {
                        Seed(pieces, 0, end);
                        return;
                    }
                    end(new ParleyException(
                        ErrorCode.InvalidDialog, "InvalidDialog", "this is no saved dialog: " + fault.Message, fault));
                });
        }

        /// <summary>As LoadDialog. Faults with ParleyException.</summary>
        public Task LoadDialogAsync(string json)
        {
            TaskCompletionSource<bool> waiting = new TaskCompletionSource<bool>();
            LoadDialog(json, fault => End(waiting, true, fault));
            return waiting.Task;
        }

        /// <summary>Change one turn of the dialog, counted from 0; what is null stays. Needs an idle agent.</summary>
        public void EditDialog(int index, string user, List<ShortReply> replies, Action<ParleyException> done = null)
        {
            Do(
                () => new EditDialog { AgentId = AgentId, Index = index, User = user, Replies = replies },
                (reply, fault) => Mirror(done, fault));
        }

        /// <summary>Keep the first turns of the dialog and forget the others. Needs an idle agent.</summary>
        public void TruncateDialog(int keep, Action<ParleyException> done = null)
        {
            Do(
                () => new TruncateDialog { AgentId = AgentId, Keep = keep },
                (reply, fault) => Mirror(done, fault));
        }

        /// <summary>End the character, here and in every sidecar to come. Its turn ends with status Cancelled.</summary>
        public void Destroy()
        {
            if (State == AgentState.Destroyed)
            {
                return;
            }
            string agentId = AgentId;
            State = AgentState.Destroyed;
            AgentId = "";
            _making++;
            _core.Forget(this, agentId);
            Settle(TurnStatus.Cancelled, ErrorCode.AgentDestroyed, "AgentDestroyed", "this agent was destroyed");
            DropQueued();
            FailWaiting(Faults.Destroyed());
        }

        // ---- requests ----

        private void Do(Func<Request> make, Action<Reply, ParleyException> done)
        {
            Do(new Ask { Agent = this, Make = make, Done = done });
        }

        private void Do(Ask ask)
        {
            if (State == AgentState.Destroyed || State == AgentState.Failed || !_core.WillBeThere)
            {
                ParleyException why = WhyUnavailable();
                _core.Post(() => ask.Done(null, why));
            }
            else if (State == AgentState.Ready && _core.IsConnected)
            {
                _core.Send(ask);
            }
            else
            {
                _later.Add(ask);
            }
        }

        /// <summary>Whether JSON has a form for all of it: what it has none for must not be kept for sidecars to come.</summary>
        private bool CanBeWritten(JObject json, Action<ParleyException> done)
        {
            try
            {
                JsonText.Compact(json);
                return true;
            }
            catch (JsonFormatException fault)
            {
                ParleyException why = new ParleyException(ErrorCode.InvalidValue, "InvalidValue", fault.Message, fault);
                _core.Post(() => Tell(done, why));
                return false;
            }
        }

        /// <summary>Of this sidecar and no other one.</summary>
        private void AskOnce(Func<Request> make, Action<Reply, ParleyException> done)
        {
            _core.Send(new Ask { Agent = this, IsOnce = true, Make = make, Done = done });
        }

        private void Seed(List<JToken> pieces, int next, Action<ParleyException> done)
        {
            if (next == pieces.Count)
            {
                Mirror(done);
                return;
            }
            Do(new Ask
            {
                Agent = this,
                IsLong = true,
                Make = () => new SeedDialog { AgentId = AgentId, Dialog = pieces[next], Append = next > 0 },
                Done = (reply, fault) =>
                {
                    if (fault == null)
                    {
                        Seed(pieces, next + 1, done);
                    }
                    else if (next == 0)
                    {
                        Tell(done, fault);
                    }
                    else
                    {
                        Mirror(ignored => Tell(done, fault));
                    }
                },
            });
        }

        private void Mirror(Action<ParleyException> done, ParleyException fault)
        {
            if (fault != null)
            {
                Tell(done, fault);
                return;
            }
            Mirror(done);
        }

        /// <summary>Take the dialog over as the sidecar has it.</summary>
        private void Mirror(Action<ParleyException> done)
        {
            _isMirrorStale = true;
            Export(new DialogDocument(), Do, (document, fault) =>
            {
                if (fault == null)
                {
                    _isMirrorStale = false;
                    _mirror.Replace(document);
                }
                Tell(done, fault);
            });
        }

        private void Export(
            DialogDocument found,
            Action<Func<Request>, Action<Reply, ParleyException>> ask,
            Action<DialogDocument, ParleyException> done)
        {
            ask(
                () => new ExportDialog { AgentId = AgentId, From = found.Interactions.Count },
                (reply, fault) =>
                {
                    Dialog dialog = reply as Dialog;
                    if (dialog == null)
                    {
                        done(null, fault ?? new ParleyException(LocalFaults.InternalFault, "the sidecar sent no dialog"));
                        return;
                    }
                    found.Interactions.AddRange(dialog.Content.Interactions);
                    found.Summary = dialog.Content.Summary;
                    if (found.Interactions.Count >= dialog.Total || dialog.Content.Interactions.Count == 0)
                    {
                        done(found, null);
                    }
                    else
                    {
                        Export(found, ask, done);
                    }
                });
        }

        private void Write(DialogDocument document, Action<string, ParleyException> done)
        {
            _core.Background(
                () => JsonText.Compact(DialogMirror.JsonOf(document)),
                (text, fault) => done(
                    text, fault == null ? null : new ParleyException(LocalFaults.InternalFault, fault.Message, fault)));
        }

        private void Tell(Action<ParleyException> done, ParleyException fault)
        {
            if (done != null)
            {
                _core.Call(() => done(fault));
            }
        }

        private static void End<T>(TaskCompletionSource<T> waiting, T result, ParleyException fault)
        {
            if (fault == null)
            {
                waiting.TrySetResult(result);
            }
            else
            {
                waiting.TrySetException(fault);
            }
        }

        private void KeepParams(string nodeName, JObject changes)
        {
            JObject known = _params[nodeName] as JObject;
            if (known == null)
            {
                known = new JObject();
                _params[nodeName] = known;
            }
            JObject sampling = known["sampling"] as JObject;
            JObject changed = changes["sampling"] as JObject;
            Merge(known, changes);
            if (sampling != null && changed != null)
            {
                JObject both = (JObject)sampling.DeepClone();
                Merge(both, changed);
                known["sampling"] = both;
            }
        }

        private static void Merge(JObject into, JObject from)
        {
            foreach (JProperty property in from.Properties())
            {
                into[property.Name] = property.Value.DeepClone();
            }
        }
    }
}
