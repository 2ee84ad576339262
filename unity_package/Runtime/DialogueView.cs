// Shows a talk: several speakers, line after line, character by character.
using System;
using System.Collections.Generic;
using System.Text;
using Parley.Messages;
using UnityEngine;

namespace Parley
{
    /// <summary>
    /// The lines of one or several agents in the order in which they are to be read. It draws nothing itself: whatever
    /// shows text listens to OnLine, or to the events with the lines themselves.
    /// </summary>
    /// <remarks>Time is unscaled: a talk goes on while the game's time stands. Threading: the game's thread.</remarks>
    [AddComponentMenu("Parley/Dialogue View")]
    public sealed class DialogueView : MonoBehaviour
    {
        [Tooltip("Whose lines are shown. None: those of the agent on this GameObject.")]
        [SerializeField]
        private List<ParleyAgent> agents = new List<ParleyAgent>();

        [Tooltip("Who the nodes are. None: every speaker has its node's name.")]
        [SerializeField]
        private DialogueCast cast = null;

        [Tooltip("Characters a second. 0: all at once.")]
        [Range(0f, 200f)]
        [SerializeField]
        private float charactersPerSecond = 40f;

        [Tooltip("Seconds between two lines.")]
        [Range(0f, 5f)]
        [SerializeField]
        private float gapSeconds = 0.3f;

        [Tooltip("What a voice says appears sentence by sentence, as it is heard.")]
        [SerializeField]
        private bool followVoice = false;

        [Tooltip("So many lines are kept.")]
        [Range(1, 2000)]
        [SerializeField]
        private int maxLines = 200;

        [Tooltip("Show the player's own lines too.")]
        [SerializeField]
        private bool showPlayer = true;

        [Tooltip("What the player is called.")]
        [SerializeField]
        private string playerName = "You";

        [Tooltip("How a speaker's name is written in Heading and Transcript: {0} is the name.")]
        [SerializeField]
        private string nameFormat = "[{0}]";

        [Tooltip("A line begins or goes on: name, text to show now, whether that is all of it.")]
        [SerializeField]
        private LineEvent onLine = new LineEvent();

        private readonly DialogueLines _lines = new DialogueLines();
        private readonly List<Listener> _listeners = new List<Listener>();

        /// <summary>A line begins to appear.</summary>
        public event Action<DialogueLine> LineBegan;

        /// <summary>More of a line is to be shown.</summary>
        public event Action<DialogueLine> LineChanged;

        /// <summary>All of a line is shown.</summary>
        public event Action<DialogueLine> LineDone;

        /// <summary>A line is kept no more.</summary>
        public event Action<DialogueLine> LineDropped;

        /// <summary>A line begins or goes on: name, text to show now, whether that is all of it.</summary>
        public LineEvent OnLine
        {
            get { return onLine; }
        }

        /// <summary>Who the nodes are.</summary>
        public DialogueCast Cast
        {
            get { return cast; }
            set { cast = value; }
        }

        /// <summary>Characters a second; 0: all at once. For lines to come.</summary>
        public float CharactersPerSecond
        {
            get { return charactersPerSecond; }
            set { charactersPerSecond = value; }
        }

        /// <summary>Seconds between two lines.</summary>
        public float GapSeconds
        {
            get { return gapSeconds; }
            set { gapSeconds = value; }
        }

        /// <summary>What a voice says appears sentence by sentence, as it is heard. For lines to come.</summary>
        public bool FollowVoice
        {
            get { return followVoice; }
            set { followVoice = value; }
        }

        /// <summary>Show the player's own lines too.</summary>
        public bool ShowPlayer
        {
            get { return showPlayer; }
            set { showPlayer = value; }
        }

        /// <summary>What the player is called.</summary>
        public string PlayerName
        {
            get { return playerName; }
            set { playerName = value ?? ""; }
        }

        /// <summary>The lines, oldest first.</summary>
        public IList<DialogueLine> Lines
        {
            get { return _lines.Lines; }
        }

        /// <summary>The line that appears now; null: none.</summary>
        public DialogueLine Current
        {
            get { return _lines.Current; }
        }

        /// <summary>Nothing appears and nothing waits to.</summary>
        public bool IsIdle
        {
            get { return _lines.IsIdle; }
        }

        /// <summary>Show the lines of an agent too.</summary>
        public void Listen(ParleyAgent agent)
        {
            if (agent == null)
            {
                return;
            }
            if (!agents.Contains(agent))
            {
                agents.Add(agent);
            }
            if (isActiveAndEnabled)
            {
                Hear(agent);
            }
        }

        /// <summary>Show the lines of an agent no more.</summary>
        public void Ignore(ParleyAgent agent)
        {
            agents.Remove(agent);
            for (int i = _listeners.Count - 1; i >= 0; i--)
            {
                if (ReferenceEquals(_listeners[i].Agent, agent))
                {
                    _listeners[i].Stop();
                    _listeners.RemoveAt(i);
                }
            }
        }

        /// <summary>Who says a line; null: the player.</summary>
        public DialogueSpeaker SpeakerOf(DialogueLine line)
        {
            if (line.Speaker.Length == 0)
            {
                return null;
            }
            return cast != null ? cast.Find(line.Speaker) : new DialogueSpeaker(line.Speaker, "", Color.white, false);
        }

        /// <summary>The name to show with a line.</summary>
        public string NameOf(DialogueLine line)
        {
            if (line.Speaker.Length == 0)
            {
                return playerName;
            }
            return cast != null ? cast.Find(line.Speaker).DisplayName : line.Speaker;
        }

        /// <summary>The name as it stands before a line, such as `[Mira]`.</summary>
        public string HeadingOf(DialogueLine line)
        {
            // Not string.Format: whatever stands in the Inspector is to be shown, not to throw.
            return nameFormat.Replace("{0}", NameOf(line));
        }

        /// <summary>All that is shown, a line each, such as `[Mira] Sit down!`.</summary>
        public string Transcript()
        {
            StringBuilder text = new StringBuilder();
            foreach (DialogueLine line in _lines.Lines)
            {
                if (line.Shown.Length > 0)
                {
                    text.Append(HeadingOf(line)).Append(' ').Append(line.Shown).Append('\n');
                }
            }
            return text.ToString();
        }

        /// <summary>Show the rest of the line that appears; where it is whole already, begin the next one. For a button.</summary>
        public void Skip()
        {
            _lines.Skip();
        }

        /// <summary>Show all that came so far.</summary>
        public void SkipToEnd()
        {
            _lines.SkipToEnd();
        }

        /// <summary>Forget all lines.</summary>
        public void Clear()
        {
            _lines.Clear();
        }

        private void Awake()
        {
            Connect();
        }

        private void OnEnable()
        {
            // Scripts may have been reloaded, without Awake.
            Connect();
            Settle();
            if (agents.Count == 0)
            {
                Listen(GetComponent<ParleyAgent>());
            }
            foreach (ParleyAgent agent in agents.ToArray())
            {
                if (agent != null)
                {
                    Hear(agent);
                }
            }
        }

        private void OnDisable()
        {
            foreach (Listener listener in _listeners)
            {
                listener.Stop();
            }
            _listeners.Clear();
        }

        private void Update()
        {
            Settle();
            if (Current != null && Current.IsHeld)
            {
                Follow(Current);
            }
            _lines.Advance(Time.unscaledDeltaTime);
        }

        private void Follow(DialogueLine line)
        {
            ParleyAgent agent = line.Source as ParleyAgent;
            int heard = HeardOf(line);
            if (heard < 0 && (agent == null || !agent.MayBeHeard(line.Speaker)))
            {
                _lines.Release(line);
                return;
            }
            _lines.Follow(line, heard, Time.unscaledDeltaTime);
        }

        private static int HeardOf(DialogueLine line)
        {
            ParleyAgent agent = line.Source as ParleyAgent;
            return agent == null ? -1 : agent.HeardOf(line.TurnId, line.Step, line.Speaker);
        }

        private void Connect()
        {
            _lines.Began -= TellBegan;
            _lines.Changed -= TellChanged;
            _lines.Done -= TellDone;
            _lines.Dropped -= TellDropped;
            _lines.Began += TellBegan;
            _lines.Changed += TellChanged;
            _lines.Done += TellDone;
            _lines.Dropped += TellDropped;
        }

        private void Settle()
        {
            _lines.ElementsPerSecond = charactersPerSecond;
            _lines.GapSeconds = gapSeconds;
            _lines.MaxLines = maxLines;
        }

        private void Hear(ParleyAgent agent)
        {
            for (int i = _listeners.Count - 1; i >= 0; i--)
            {
                if (ReferenceEquals(_listeners[i].Agent, agent))
                {
                    return;
                }
                if (_listeners[i].Agent == null)
                {
                    // It was destroyed, and says nothing more.
                    agents.Remove(_listeners[i].Agent);
                    _listeners.RemoveAt(i);
                }
            }
            _listeners.Add(new Listener(this, agent));
        }

        private void TellBegan(DialogueLine line)
        {
            Calls.Raise(LineBegan, line, this);
            Calls.Raise(onLine, NameOf(line), line.Shown, line.IsDone, this);
        }

        private void TellChanged(DialogueLine line)
        {
            Calls.Raise(LineChanged, line, this);
            Calls.Raise(onLine, NameOf(line), line.Shown, false, this);
        }

        private void TellDone(DialogueLine line)
        {
            Calls.Raise(onLine, NameOf(line), line.Shown, true, this);
            Calls.Raise(LineDone, line, this);
        }

        private void TellDropped(DialogueLine line)
        {
            Calls.Raise(LineDropped, line, this);
        }

        /// <summary>Hears one agent for the view.</summary>
        private sealed class Listener
        {
            internal readonly ParleyAgent Agent;
            private readonly DialogueView _view;

            internal Listener(DialogueView view, ParleyAgent agent)
            {
                _view = view;
                Agent = agent;
                agent.Said += TakeSaid;
                agent.Answered += TakeAnswer;
                agent.TurnEnded += TakeEnd;
            }

            internal void Stop()
            {
                Agent.Said -= TakeSaid;
                Agent.Answered -= TakeAnswer;
                Agent.TurnEnded -= TakeEnd;
                // Nobody hears any more how a line of it goes on, and the next ones wait for its end.
                foreach (DialogueLine line in _view.Lines)
                {
                    if (!line.IsFinal && ReferenceEquals(line.Source, Agent))
                    {
                        _view._lines.EndTurn(Agent, line.TurnId);
                    }
                }
            }

            private void TakeSaid(string line)
            {
                if (_view.showPlayer && line.Length > 0)
                {
                    _view._lines.Add(line);
                }
            }

            private void TakeAnswer(AnswerText answer)
            {
                _view._lines.Take(
                    Agent,
                    answer.TurnId,
                    answer.Step,
                    answer.NodeName,
                    answer.Text,
                    answer.IsDelta,
                    answer.IsFinal,
                    _view.followVoice && Agent.MayBeHeard(answer.NodeName));
            }

            private void TakeEnd(TurnComplete complete)
            {
                // All sound of a turn comes before its end: what has none by now has none at all.
                foreach (DialogueLine line in _view.Lines)
                {
                    bool isHeld = line.IsHeld && ReferenceEquals(line.Source, Agent) && line.TurnId == complete.TurnId;
                    if (isHeld && HeardOf(line) < 0)
                    {
                        _view._lines.Release(line);
                    }
                }
                _view._lines.EndTurn(Agent, complete.TurnId);
            }
        }
    }
}
