// A character that talks: the component that goes on its GameObject.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;
using Newtonsoft.Json.Linq;
using Parley.Messages;
using UnityEngine;

namespace Parley
{
    /// <summary>
    /// One conversation: a workflow with its dialog and variables. It lives as long as its GameObject, whatever becomes of
    /// the sidecar meanwhile.
    /// </summary>
    /// <remarks>
    /// Disabled it takes no lines, and what runs is cancelled; the dialog is kept. Every line that was taken ends with one
    /// OnTurnComplete. Threading: the game's thread; events come in the hub's Update.
    /// </remarks>
    [AddComponentMenu("Parley/Parley Agent")]
    public sealed class ParleyAgent : MonoBehaviour
    {
        [Tooltip("Who talks, and how.")]
        [SerializeField]
        private ParleyWorkflow workflow = null;

        [Tooltip("What becomes of a line that is said while a turn runs.")]
        [SerializeField]
        private WhenBusy whenBusy = WhenBusy.QueueOne;

        [Tooltip("A saved dialog, or its short form, to begin with. None: an empty one.")]
        [SerializeField]
        private TextAsset startDialog = null;

        [Tooltip("Fill the debug part of OnTurnComplete: what each step read, wrote and cost.")]
        [SerializeField]
        private bool enableDiagnostics = false;

        [Tooltip("Steps of one turn; more end it.")]
        [Range(1, 1000)]
        [SerializeField]
        private int maxSteps = 64;

        [Tooltip("Speaker, text, whether the speaker says nothing more. Texts of one speaker follow each other until then.")]
        [SerializeField]
        private AnswerEvent onAnswer = new AnswerEvent();

        [Tooltip("The end of a turn, once for each line that was taken.")]
        [SerializeField]
        private TurnEvent onTurnComplete = new TurnEvent();

        [Tooltip("A model calls a tool of the game: answer with Reply or Fail.")]
        [SerializeField]
        private ToolEvent onToolCall = new ToolEvent();

        [Tooltip("Something failed: the message says what and what to do.")]
        [SerializeField]
        private ErrorEvent onError = new ErrorEvent();

        /// <summary>What finds the conversation again after a reload of the scripts; empty but for that moment.</summary>
        [HideInInspector]
        [SerializeField]
        private string boundKey = "";

        private readonly List<ParleyVoice> _voices = new List<ParleyVoice>();
        private readonly JObject _variables = new JObject();
        [NonSerialized]
        private TaskCompletionSource<bool> _cancelling;
        [NonSerialized]
        private ParleyException _trouble;
        [NonSerialized]
        private string _silentAgentId;
        [NonSerialized]
        private long _silentTurnId;

        /// <summary>Text for the player's eyes, with all that the wire says of it.</summary>
        public event Action<AnswerText> Answered;

        /// <summary>The end of a turn.</summary>
        public event Action<TurnComplete> TurnEnded;

        /// <summary>A model calls a tool of the game.</summary>
        public event Action<ToolCall> ToolCalled;

        /// <summary>Something that a node did beside speaking.</summary>
        public event Action<NodeEvent> NodeHappened;

        /// <summary>Something failed.</summary>
        public event Action<ParleyException> Failed;

        /// <summary>The player's line was taken.</summary>
        public event Action<string> Said;

        /// <summary>The conversation behind it, with all that can be done with one; null: it is not made yet.</summary>
        public CoreAgent Agent { get; private set; }

        /// <summary>Who talks, and how. Set it before the agent starts, or call Remake afterwards.</summary>
        public ParleyWorkflow Workflow
        {
            get { return workflow; }
            set { workflow = value; }
        }

        /// <summary>What becomes of a line that is said while a turn runs.</summary>
        public WhenBusy WhenBusy
        {
            get
            {
                return whenBusy;
            }
            set
            {
                whenBusy = value;
                if (Agent != null)
                {
                    Agent.WhenBusy = value;
                }
            }
        }

        /// <summary>A saved dialog to begin with; null: none.</summary>
        public TextAsset StartDialog
        {
            get { return startDialog; }
            set { startDialog = value; }
        }

        /// <summary>Fill TurnComplete.Debug. Set it before the agent starts, or call Remake afterwards.</summary>
        public bool EnableDiagnostics
        {
            get { return enableDiagnostics; }
            set { enableDiagnostics = value; }
        }

        /// <summary>Speaker, text, whether the speaker says nothing more.</summary>
        public AnswerEvent OnAnswer
        {
            get { return onAnswer; }
        }

        /// <summary>The end of a turn, once for each line that was taken.</summary>
        public TurnEvent OnTurnComplete
        {
            get { return onTurnComplete; }
        }

        /// <summary>A model calls a tool of the game.</summary>
        public ToolEvent OnToolCall
        {
            get { return onToolCall; }
        }

        /// <summary>Something failed.</summary>
        public ErrorEvent OnError
        {
            get { return onError; }
        }

        /// <summary>A line is being answered, or waits to be.</summary>
        public bool IsBusy
        {
            get { return Agent != null && Agent.IsBusy; }
        }

        /// <summary>The sidecar has it, so a line is answered at once.</summary>
        public bool IsReady
        {
            get { return Agent != null && Agent.State == AgentState.Ready; }
        }

        // ---- speaking ----

        /// <summary>
        /// Say the player's line; an empty one lets the character speak first. A line that is not taken is an OnError
        /// (AgentBusy, or why there is nobody to hear it).
        /// </summary>
        public void Say(string line)
        {
            SayOutcome outcome = TrySay(line);
            if (outcome == SayOutcome.Busy)
            {
                Fail(new ParleyException(
                    ErrorCode.AgentBusy, "AgentBusy", "'" + name + "' is being spoken to already; wait for OnTurnComplete or Cancel"));
            }
            else if (outcome == SayOutcome.Unavailable && !(isActiveAndEnabled && IsTold))
            {
                Fail(WhyUnavailable());
            }
        }

        /// <summary>As Say, but what became of the line is only returned.</summary>
        public SayOutcome TrySay(string line)
        {
            if (!isActiveAndEnabled || !Bind())
            {
                return SayOutcome.Unavailable;
            }
            SayOutcome outcome = Agent.Say(line);
            if (outcome == SayOutcome.Sent || outcome == SayOutcome.Queued)
            {
                Calls.Raise(Said, line ?? "", this);
            }
            return outcome;
        }

        /// <summary>
        /// Say the player's line; the task ends with its turn, whatever its status. Faults with ParleyException where the
        /// line is not taken.
        /// </summary>
        public Task<TurnComplete> SayAsync(string line, CancellationToken cancel = default(CancellationToken))
        {
            if (!isActiveAndEnabled || !Bind())
            {
                return Faulted<TurnComplete>(WhyUnavailable());
            }
            Task<TurnComplete> turn = Agent.SayAsync(line, cancel);
            if (!turn.IsFaulted)
            {
                Calls.Raise(Said, line ?? "", this);
            }
            return turn;
        }

        /// <summary>
        /// Stop the turn that runs and forget the line that waits. Their OnTurnComplete come. The agent's voices are silent
        /// at once, also where a turn is over but still heard.
        /// </summary>
        public void Cancel()
        {
            if (Agent != null)
            {
                _silentAgentId = Agent.AgentId;
                _silentTurnId = Agent.TurnId;
                StopVoices();
                Agent.Cancel();
            }
        }

        /// <summary>As Cancel; ends when nothing runs any more.</summary>
        public Task CancelAsync()
        {
            Cancel();
            if (!IsBusy)
            {
                return Task.FromResult(true);
            }
            if (_cancelling == null)
            {
                _cancelling = new TaskCompletionSource<bool>();
            }
            return _cancelling.Task;
        }

        // ---- changing ----

        /// <summary>
        /// Change a variable that the workflow declares, for the next turns: a text, a number, a flag or a list of texts.
        /// A failure is an OnError.
        /// </summary>
        public void SetVariable(string variable, JToken value)
        {
            if (Agent == null)
            {
                // It is among what the agent is made with.
                _variables[variable] = value;
                return;
            }
            Agent.SetVariable(variable, value, FailIf);
        }

        /// <summary>As SetVariable. Faults with ParleyException.</summary>
        public Task SetVariableAsync(string variable, JToken value)
        {
            return Bind()
                ? Agent.SetVariablesAsync(new JObject { { variable, value } })
                : Faulted<bool>(WhyUnavailable());
        }

        /// <summary>
        /// Change parameters of a node, only those that are named. Needs an agent that is not busy. A failure is an
        /// OnError.
        /// </summary>
        public void ChangeParams(string nodeName, JObject changes)
        {
            if (BindOrFail())
            {
                Agent.ChangeParams(nodeName, changes, FailIf);
            }
        }

        /// <summary>As ChangeParams. Faults with ParleyException.</summary>
        public Task ChangeParamsAsync(string nodeName, JObject changes)
        {
            return Bind() ? Agent.ChangeParamsAsync(nodeName, changes) : Faulted<bool>(WhyUnavailable());
        }

        /// <summary>What the next turn will use in a node. Faults with ParleyException.</summary>
        public Task<Params> GetParamsAsync(string nodeName)
        {
            return Bind() ? Agent.GetParamsAsync(nodeName) : Faulted<Params>(WhyUnavailable());
        }

        // ---- the dialog ----

        /// <summary>The dialog as text for a save game, which `done` gets. A failure is an OnError.</summary>
        public void SaveDialog(Action<string> done)
        {
            if (!BindOrFail())
            {
                return;
            }
            Agent.SaveDialog(delegate(string text, ParleyException fault)
            {
                if (fault == null)
                {
                    done(text);
                }
                else
                {
                    Fail(fault);
                }
            });
        }

        /// <summary>As SaveDialog. Faults with ParleyException.</summary>
        public Task<string> SaveDialogAsync()
        {
            return Bind() ? Agent.SaveDialogAsync() : Faulted<string>(WhyUnavailable());
        }

        /// <summary>
        /// Put a saved dialog, or its short form, in the place of the dialog. Needs an agent that is not busy. A failure is
        /// an OnError.
        /// </summary>
        public void LoadDialog(string dialog)
        {
            if (BindOrFail())
            {
                Agent.LoadDialog(dialog, FailIf);
            }
        }

        /// <summary>As LoadDialog. Faults with ParleyException.</summary>
        public Task LoadDialogAsync(string dialog)
        {
            return Bind() ? Agent.LoadDialogAsync(dialog) : Faulted<bool>(WhyUnavailable());
        }

        /// <summary>Begin anew, with the workflow as it is now and an empty dialog. What runs is cancelled.</summary>
        public void Remake()
        {
            Part();
            Bind();
        }

        // ---- with the hub ----

        /// <summary>Have a conversation. False: there is none, and OnError said why.</summary>
        internal bool Bind()
        {
            if (Agent != null)
            {
                return true;
            }
            _trouble = null;
            ParleyHub hub = ParleyHub.Get();
            if (hub == null || hub.Core == null)
            {
                return false;
            }
            CoreAgent found = boundKey.Length > 0 ? hub.Core.FindAgent(boundKey) : null;
            Agent = found ?? Make(hub.Core);
            if (Agent == null)
            {
                return false;
            }
            boundKey = "";
            ParleyHub.Join(this);
            Agent.Answer += TakeAnswer;
            Agent.SoundStarted += TakeSoundStarted;
            Agent.Sound += TakeSound;
            Agent.TurnCompleted += TakeEnd;
            Agent.ToolCalled += TakeToolCall;
            Agent.NodeEvent += TakeNodeEvent;
            Agent.Failed += Fail;
            return true;
        }

        /// <summary>Why there is no conversation was an OnError already.</summary>
        private bool IsTold
        {
            get { return Agent == null && _trouble != null; }
        }

        private bool BindOrFail()
        {
            bool isBound = Bind();
            if (!isBound && !IsTold)
            {
                Fail(WhyNobody());
            }
            return isBound;
        }

        /// <summary>Find the conversation of before the reload, where there was one.</summary>
        internal void BindAgain()
        {
            if (boundKey.Length > 0)
            {
                Bind();
            }
        }

        /// <summary>Scripts are reloaded: what finds the conversation again has to outlive that.</summary>
        internal void KeepKey()
        {
            boundKey = Agent == null ? boundKey : Agent.Key;
        }

        /// <summary>Tell that something failed.</summary>
        internal void Fail(ParleyException fault)
        {
            Calls.Raise(onError, fault, this);
            Calls.Raise(Failed, fault, this);
        }

        /// <summary>End the conversation.</summary>
        internal void Part()
        {
            CoreAgent agent = Agent;
            if (agent == null)
            {
                return;
            }
            // Whoever listens still hears the end of the turn.
            agent.Destroy();
            Agent = null;
            boundKey = "";
            agent.Answer -= TakeAnswer;
            agent.SoundStarted -= TakeSoundStarted;
            agent.Sound -= TakeSound;
            StopVoices();
            agent.TurnCompleted -= TakeEnd;
            agent.ToolCalled -= TakeToolCall;
            agent.NodeEvent -= TakeNodeEvent;
            agent.Failed -= Fail;
        }

        internal void Join(ParleyVoice voice)
        {
            if (!_voices.Contains(voice))
            {
                _voices.Add(voice);
            }
        }

        internal void Leave(ParleyVoice voice)
        {
            _voices.Remove(voice);
        }

        /// <summary>Whether what a node says may be heard.</summary>
        internal bool MayBeHeard(string nodeName)
        {
            return Agent != null && Agent.MaySpeak(nodeName) && VoiceOf(nodeName) != null;
        }

        /// <summary>How many characters of a step are heard already; -1: it has no sound, or none yet.</summary>
        internal int HeardOf(long turnId, long step, string nodeName)
        {
            ParleyVoice voice = VoiceOf(nodeName);
            return voice == null || Agent == null ? -1 : voice.HeardOf(Agent.AgentId, turnId, step);
        }

        private void OnEnable()
        {
            ParleyHub.Join(this);
        }

        private void Start()
        {
            Bind();
        }

        private void OnDisable()
        {
            ParleyHub.Disabled(this);
        }

        private void OnDestroy()
        {
            Part();
            ParleyHub.Leave(this);
        }

        private CoreAgent Make(ParleyCore core)
        {
            try
            {
                if (workflow == null)
                {
                    throw new ParleyException(
                        ErrorCode.WorkflowInvalid, "WorkflowInvalid", "the Parley Agent on '" + name + "' has no workflow; set one");
                }
                AgentOptions options = new AgentOptions
                {
                    Workflow = workflow.Read(),
                    Variables = _variables,
                    EnableDiagnostics = enableDiagnostics,
                    MaxSteps = maxSteps,
                    WhenBusy = whenBusy,
                };
                if (startDialog != null)
                {
                    options.SeedDialog = JsonText.Parse(startDialog.text);
                }
                return core.CreateAgent(options);
            }
            catch (JsonFormatException fault)
            {
                _trouble = new ParleyException(
                    ErrorCode.WorkflowInvalid, "WorkflowInvalid", "the JSON of '" + name + "' cannot be read: " + fault.Message, fault);
            }
            catch (ParleyException fault)
            {
                _trouble = fault;
            }
            Fail(_trouble);
            return null;
        }

        private ParleyException WhyUnavailable()
        {
            if (!isActiveAndEnabled)
            {
                return new ParleyException(
                    ErrorCode.InvalidAgentId, "AgentDisabled", "the Parley Agent on '" + name + "' is disabled");
            }
            ParleyException trouble = Agent == null ? _trouble : Agent.Trouble;
            if (trouble != null)
            {
                return trouble;
            }
            return WhyNobody();
        }

        private ParleyException WhyNobody()
        {
            ParleyHub hub = ParleyHub.Instance;
            string why = hub == null ? "the game is not playing"
                : hub.Core == null ? "the Parley Hub on '" + hub.name + "' is off; enable it"
                : hub.Trouble;
            return new ParleyException("SidecarFailed", why.Length > 0 ? why : "there is no sidecar; start one with ParleyHub.StartSidecar");
        }

        private void FailIf(ParleyException fault)
        {
            if (fault != null)
            {
                Fail(fault);
            }
        }

        private void TakeAnswer(AnswerText answer)
        {
            Calls.Raise(onAnswer, answer.NodeName, answer.Text, answer.IsFinal, this);
            Calls.Raise(Answered, answer, this);
        }

        private void TakeSoundStarted(AudioFormat format)
        {
            ParleyVoice voice = IsSilent(format.AgentId, format.TurnId) ? null : VoiceOf(format.NodeName);
            if (voice != null)
            {
                voice.Take(format);
            }
        }

        private void TakeSound(SoundChunk sound)
        {
            AudioChunk chunk = sound.Message;
            ParleyVoice voice = IsSilent(chunk.AgentId, chunk.TurnId) ? null : VoiceOf(chunk.NodeName);
            if (voice != null)
            {
                voice.Take(chunk, sound.Samples);
            }
        }

        /// <summary>The turn was cancelled here, and the sidecar has not heard of it yet.</summary>
        private bool IsSilent(string agentId, long turnId)
        {
            return turnId <= _silentTurnId && string.Equals(agentId, _silentAgentId, StringComparison.Ordinal);
        }

        private void StopVoices()
        {
            foreach (ParleyVoice voice in _voices.ToArray())
            {
                voice.Stop();
            }
        }

        private void TakeEnd(TurnComplete complete)
        {
            foreach (ParleyVoice voice in _voices.ToArray())
            {
                if (complete.Status == TurnStatus.Success)
                {
                    voice.ExpectEnd(complete.TurnId);
                }
                else
                {
                    voice.EndTurn(complete.TurnId, complete.Status == TurnStatus.Cancelled);
                }
            }
            // That there is no sidecar any more the hub tells every agent, whether a line of its waited or not.
            bool isTold = ParleyHub.Instance != null && ParleyHub.Instance.State == CoreState.Down;
            if (complete.Error != null && !isTold)
            {
                Fail(new ParleyException((ErrorCode)complete.Error.Code, complete.Error.Name, complete.Error.Message));
            }
            Calls.Raise(onTurnComplete, complete, this);
            Calls.Raise(TurnEnded, complete, this);
            if (_cancelling != null && !IsBusy)
            {
                TaskCompletionSource<bool> cancelling = _cancelling;
                _cancelling = null;
                cancelling.TrySetResult(true);
            }
        }

        private void TakeToolCall(ToolCall call)
        {
            Calls.Raise(onToolCall, call, this);
            Calls.Raise(ToolCalled, call, this);
        }

        private void TakeNodeEvent(NodeEvent happened)
        {
            Calls.Raise(NodeHappened, happened, this);
        }

        private ParleyVoice VoiceOf(string nodeName)
        {
            ParleyVoice anybody = null;
            foreach (ParleyVoice voice in _voices)
            {
                if (string.Equals(voice.Speaker, nodeName, StringComparison.Ordinal))
                {
                    return voice;
                }
                if (anybody == null && voice.Speaker.Length == 0)
                {
                    anybody = voice;
                }
            }
            return anybody;
        }

        private static Task<T> Faulted<T>(ParleyException fault)
        {
            TaskCompletionSource<T> failed = new TaskCompletionSource<T>();
            failed.SetException(fault);
            return failed.Task;
        }
    }
}
