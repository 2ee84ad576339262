// Plays what a character says aloud.
using System;
using System.Collections.Generic;
using Parley.Messages;
using UnityEngine;

namespace Parley
{
    /// <summary>The voice of one speaker of an agent: plays the sound that comes with its lines, one line after the other.</summary>
    /// <remarks>
    /// Each line gets a streaming clip over a <see cref="VoiceBuffer"/>. Threading: the game's thread, but for the clip's
    /// reader, which the audio thread calls.
    /// </remarks>
    [AddComponentMenu("Parley/Parley Voice")]
    public sealed class ParleyVoice : MonoBehaviour
    {
        /// <summary>A clip is heard in a circle of so many seconds; a frame of the game must not last longer.</summary>
        private const int ClipSeconds = 20;

        /// <summary>Seconds after which a line whose end is read is over, even where nobody hears it.</summary>
        private const float PatienceSeconds = 5f;

        /// <summary>Seconds after which a source that does not play what it was given was stopped by somebody.</summary>
        private const float StoppedSeconds = 1f;

        /// <summary>So much sound may wait for a chunk that is missing.</summary>
        private const double HeldSeconds = 0.5;

        [Tooltip("Whose voice it is. None: the agent on this GameObject.")]
        [SerializeField]
        private ParleyAgent agent = null;

        [Tooltip("The node that speaks with it. Empty: every node of the agent that has no voice of its own.")]
        [SerializeField]
        private string speaker = "";

        [Tooltip("Where it is heard. None: the cast's voice source for the speaker, or one on this GameObject.")]
        [SerializeField]
        private AudioSource source = null;

        [Tooltip("Who the nodes are; only for their voice sources.")]
        [SerializeField]
        private DialogueCast cast = null;

        [Tooltip("Seconds that must have come before a line is heard. More: fewer holes where a machine is slow.")]
        [Range(0f, 2f)]
        [SerializeField]
        private float leadSeconds = 0.25f;

        [Tooltip("A line begins to be heard: the node that speaks.")]
        [SerializeField]
        private TextEvent onStarted = new TextEvent();

        [Tooltip("A sentence begins to be heard: the node that speaks, the sentence. For subtitles.")]
        [SerializeField]
        private SentenceEvent onSentence = new SentenceEvent();

        [Tooltip("Each frame while a line is heard: the node that speaks, how loud it is, 0 to 1. Moves a mouth.")]
        [SerializeField]
        private LoudnessEvent onLoudness = new LoudnessEvent();

        [Tooltip("The sound came too slowly, so there was a hole: the node that speaks, how many its line has by now.")]
        [SerializeField]
        private UnderrunEvent onUnderrun = new UnderrunEvent();

        [Tooltip("A line is over, or was stopped: the node that spoke.")]
        [SerializeField]
        private TextEvent onFinished = new TextEvent();

        private readonly Queue<Utterance> _waiting = new Queue<Utterance>();
        private readonly List<Utterance> _open = new List<Utterance>();
        private readonly Dictionary<string, AudioSource> _made = new Dictionary<string, AudioSource>(StringComparer.Ordinal);
        [NonSerialized]
        private ParleyAgent _joined;
        [NonSerialized]
        private Utterance _playing;
        [NonSerialized]
        private AudioSource _heard;
        [NonSerialized]
        private AudioClip _clip;
        [NonSerialized]
        private long _heardFrames;
        [NonSerialized]
        private int _lastTime;
        [NonSerialized]
        private float _endingFor;
        [NonSerialized]
        private float _stoppedFor;
        [NonSerialized]
        private bool _wasLooping;
        [NonSerialized]
        private float _loudness;
        [NonSerialized]
        private Line _done;

        /// <summary>A line begins to be heard: the node that speaks.</summary>
        public event Action<string> Started;

        /// <summary>A sentence begins to be heard.</summary>
        public event Action<VoiceSentence> SentenceStarted;

        /// <summary>A line is over, or was stopped: the node that spoke.</summary>
        public event Action<string> Finished;

        /// <summary>A line begins to be heard: the node that speaks.</summary>
        public TextEvent OnStarted
        {
            get { return onStarted; }
        }

        /// <summary>A sentence begins to be heard: the node that speaks, the sentence.</summary>
        public SentenceEvent OnSentence
        {
            get { return onSentence; }
        }

        /// <summary>Each frame while a line is heard: the node that speaks, how loud it is, 0 to 1.</summary>
        public LoudnessEvent OnLoudness
        {
            get { return onLoudness; }
        }

        /// <summary>The sound came too slowly: the node that speaks, how many holes its line has by now.</summary>
        public UnderrunEvent OnUnderrun
        {
            get { return onUnderrun; }
        }

        /// <summary>A line is over, or was stopped: the node that spoke.</summary>
        public TextEvent OnFinished
        {
            get { return onFinished; }
        }

        /// <summary>The node that speaks with it; empty: every one that has no voice of its own.</summary>
        public string Speaker
        {
            get { return speaker; }
            set { speaker = value ?? ""; }
        }

        /// <summary>Whose voice it is.</summary>
        public ParleyAgent Agent
        {
            get
            {
                return agent;
            }
            set
            {
                agent = value;
                Follow();
            }
        }

        /// <summary>Where it is heard, from the next line on; null: where the cast says, or on this GameObject.</summary>
        public AudioSource Source
        {
            get { return source; }
            set { source = value; }
        }

        /// <summary>Who the nodes are.</summary>
        public DialogueCast Cast
        {
            get { return cast; }
            set { cast = value; }
        }

        /// <summary>Seconds that must have come before a line is heard.</summary>
        public float LeadSeconds
        {
            get { return leadSeconds; }
            set { leadSeconds = Mathf.Clamp(value, 0f, 2f); }
        }

        /// <summary>A line is being heard.</summary>
        public bool IsSpeaking
        {
            get { return _playing != null; }
        }

        /// <summary>How loud what is heard now is, 0 to 1: moves a mouth.</summary>
        public float Loudness
        {
            get { return _loudness; }
        }

        /// <summary>The sentence that is heard now; empty: none.</summary>
        public string Sentence
        {
            get { return _playing == null ? "" : _playing.Sentence; }
        }

        /// <summary>How often the sound came too slowly, over all lines so far.</summary>
        public int Underruns { get; private set; }

        /// <summary>Be silent, and forget what waits. What comes later is heard; for the agent's whole turn cancel it.</summary>
        public void Stop()
        {
            foreach (Utterance utterance in _open)
            {
                utterance.Buffer.Stop();
            }
            _open.Clear();
            Line last = null;
            foreach (Utterance utterance in _waiting)
            {
                last = utterance.Line;
            }
            _waiting.Clear();
            Silence();
            _done = last ?? _done;
        }

        /// <summary>A step begins to speak.</summary>
        public void Take(AudioFormat format)
        {
            if (isActiveAndEnabled && Find(format.AgentId, format.TurnId, format.Step) == null)
            {
                Open(format);
            }
        }

        /// <summary>A part of a voice comes; its samples must stay as they are.</summary>
        public void Take(AudioChunk chunk, byte[] samples)
        {
            Utterance utterance = isActiveAndEnabled ? Find(chunk.AgentId, chunk.TurnId, chunk.Step) : null;
            if (utterance == null)
            {
                return;
            }
            utterance.QuietFor = 0f;
            utterance.Buffer.Push(chunk, samples);
            if (utterance.Buffer.IsComplete)
            {
                _open.Remove(utterance);
            }
        }

        /// <summary>How many characters of a step are heard already; -1: it has no sound, or none yet.</summary>
        internal int HeardOf(string agentId, long turnId, long step)
        {
            if (_playing != null && _playing.Line.Is(agentId, turnId, step))
            {
                return _playing.HeardLength;
            }
            foreach (Utterance utterance in _waiting)
            {
                if (utterance.Line.Is(agentId, turnId, step))
                {
                    return 0;
                }
            }
            // Lines are heard in their order.
            return _done != null && _done.IsAtOrBehind(agentId, turnId, step) ? int.MaxValue : -1;
        }

        /// <summary>A turn ended well: what is missing of its voice is on its way, or was dropped and never comes.</summary>
        internal void ExpectEnd(long turnId)
        {
            foreach (Utterance utterance in _open)
            {
                if (utterance.Line.TurnId == turnId)
                {
                    utterance.IsTurnOver = true;
                }
            }
        }

        /// <summary>A turn is over before its voice was: it was cancelled, and is silent, or it failed, and ends here.</summary>
        internal void EndTurn(long turnId, bool isCancelled)
        {
            foreach (Utterance utterance in _open.ToArray())
            {
                if (utterance.Line.TurnId == turnId)
                {
                    utterance.Buffer.Complete();
                    _open.Remove(utterance);
                }
            }
            if (!isCancelled)
            {
                return;
            }
            foreach (Utterance utterance in _waiting)
            {
                if (utterance.Line.TurnId == turnId)
                {
                    utterance.Buffer.Stop();
                }
            }
            if (_playing != null && _playing.Line.TurnId == turnId)
            {
                Silence();
            }
        }

        private void OnEnable()
        {
            Follow();
        }

        private void OnDisable()
        {
            Stop();
            if (_joined != null)
            {
                _joined.Leave(this);
                _joined = null;
            }
        }

        private void Update()
        {
            if (_open.Count > 0)
            {
                GiveUpWaiting(Time.unscaledDeltaTime);
            }
            if (_playing != null)
            {
                Hear();
            }
            if (_playing == null)
            {
                Begin();
            }
        }

        /// <summary>The sidecar drops sound first where too much waits: the last chunk of a line may be among it.</summary>
        private void GiveUpWaiting(float seconds)
        {
            for (int i = _open.Count - 1; i >= 0; i--)
            {
                Utterance utterance = _open[i];
                if (!utterance.IsTurnOver)
                {
                    continue;
                }
                utterance.QuietFor += seconds;
                if (utterance.QuietFor > PatienceSeconds)
                {
                    utterance.Buffer.Complete();
                    _open.RemoveAt(i);
                }
            }
        }

        private void Follow()
        {
            ParleyAgent wanted = agent != null ? agent : GetComponent<ParleyAgent>();
            if (wanted == _joined || !isActiveAndEnabled)
            {
                return;
            }
            if (_joined != null)
            {
                _joined.Leave(this);
            }
            _joined = wanted;
            if (_joined != null)
            {
                _joined.Join(this);
            }
        }

        private void Open(AudioFormat format)
        {
            VoiceBuffer buffer;
            try
            {
                buffer = new VoiceBuffer(format.SampleRate, format.Channels, leadSeconds, HeldSeconds);
            }
            catch (ArgumentOutOfRangeException fault)
            {
                Debug.LogWarning("[Parley] a voice cannot be played: " + fault.Message, this);
                return;
            }
            Utterance utterance = new Utterance(format, buffer);
            _open.Add(utterance);
            _waiting.Enqueue(utterance);
        }

        private Utterance Find(string agentId, long turnId, long step)
        {
            foreach (Utterance utterance in _open)
            {
                if (utterance.Line.Is(agentId, turnId, step))
                {
                    return utterance;
                }
            }
            return null;
        }

        private void Begin()
        {
            while (_waiting.Count > 0 && _waiting.Peek().Buffer.IsFinished)
            {
                TellSoundless(_waiting.Dequeue());
            }
            // Whoever heard of a line may have had it said to another voice, or stopped.
            if (_waiting.Count == 0 || _playing != null || !_waiting.Peek().Buffer.IsReady)
            {
                return;
            }
            Utterance next = _waiting.Dequeue();
            _heard = SourceOf(next.NodeName);
            VoiceBuffer buffer = next.Buffer;
            _playing = next;
            _heardFrames = 0;
            _lastTime = 0;
            _endingFor = 0f;
            _stoppedFor = 0f;
            _wasLooping = _heard.loop;
            next.Keep(buffer.SampleRate * ClipSeconds);
            // The clip goes round and round; the buffer knows where in the line it is.
            _clip = AudioClip.Create(
                "Parley " + next.NodeName, buffer.SampleRate * ClipSeconds, buffer.Channels, buffer.SampleRate, true, next.Fill, next.Seek);
            _heard.clip = _clip;
            _heard.loop = true;
            _heard.Play();
            TellStarted(next);
        }

        /// <summary>A line in which there was nothing for a voice to say, or that was stopped before it was heard.</summary>
        private void TellSoundless(Utterance utterance)
        {
            _done = utterance.Line;
            VoiceSentence sentence;
            if (utterance.Buffer.IsStopped || !utterance.Buffer.TryTakeSentence(0, true, out sentence))
            {
                return;
            }
            TellStarted(utterance);
            do
            {
                TellSentence(utterance, sentence);
            }
            while (utterance.Buffer.TryTakeSentence(0, true, out sentence));
            TellFinished(utterance);
        }

        /// <summary>Follow what is heard, and see to the end of it.</summary>
        private void Hear()
        {
            VoiceBuffer buffer = _playing.Buffer;
            if (_heard == null || !_heard.isActiveAndEnabled || _heard.clip != _clip || IsStoppedByOthers())
            {
                // The game took the source away, or stopped it: it does not go on by itself, and the next line waits.
                Silence();
                return;
            }
            int time = _heard.timeSamples;
            int step = time - _lastTime;
            _heardFrames += step >= 0 ? step : step + _clip.samples;
            _lastTime = time;
            long end = buffer.EndsAt;
            if (end >= 0)
            {
                _endingFor += _heard.isPlaying && !AudioListener.pause ? Time.unscaledDeltaTime : 0f;
            }
            bool isEnd = end >= 0 && (_heardFrames * buffer.Channels >= end || _endingFor > PatienceSeconds);
            Utterance heard = _playing;
            Tell(heard, isEnd);
            // Whoever heard of it may have stopped it.
            if (_playing == heard && isEnd)
            {
                Silence();
            }
        }

        /// <summary>What is heard now: sentences, how loud it is, and holes.</summary>
        private void Tell(Utterance heard, bool isEnd)
        {
            VoiceBuffer buffer = heard.Buffer;
            bool isSilent;
            long samples = buffer.SamplesAt(_heardFrames * buffer.Channels, out isSilent);
            _loudness = isSilent || isEnd || !_heard.isPlaying ? 0f : buffer.LoudnessAt(samples);
            VoiceSentence sentence;
            while (_playing == heard && buffer.TryTakeSentence(samples, isEnd, out sentence))
            {
                TellSentence(heard, sentence);
            }
            int holes = buffer.Underruns - heard.Underruns;
            if (_playing == heard && holes > 0)
            {
                heard.Underruns += holes;
                Underruns += holes;
                Calls.Raise(onUnderrun, heard.NodeName, heard.Underruns, this);
            }
            if (_playing == heard && (!isEnd || heard.IsLoud))
            {
                heard.IsLoud = _loudness > 0f;
                Calls.Raise(onLoudness, heard.NodeName, _loudness, this);
            }
        }

        private void TellStarted(Utterance utterance)
        {
            Calls.Raise(onStarted, utterance.NodeName, this);
            Calls.Raise(Started, utterance.NodeName, this);
        }

        private void TellSentence(Utterance utterance, VoiceSentence sentence)
        {
            utterance.Sentence = sentence.Text;
            utterance.HeardLength += sentence.Text.Length;
            Calls.Raise(onSentence, utterance.NodeName, sentence.Text, this);
            Calls.Raise(SentenceStarted, sentence, this);
        }

        private void TellFinished(Utterance utterance)
        {
            Calls.Raise(onFinished, utterance.NodeName, this);
            Calls.Raise(Finished, utterance.NodeName, this);
        }

        /// <summary>Stopped, not paused: what is paused keeps its place, but for its very beginning.</summary>
        private bool IsStoppedByOthers()
        {
            bool isStopped = !_heard.isPlaying && _heard.timeSamples == 0 && !AudioListener.pause;
            _stoppedFor = isStopped ? _stoppedFor + Time.unscaledDeltaTime : 0f;
            return _stoppedFor > StoppedSeconds;
        }

        private void Silence()
        {
            Utterance was = _playing;
            _playing = null;
            _loudness = 0f;
            if (was == null)
            {
                return;
            }
            _done = was.Line;
            was.Buffer.Stop();
            _open.Remove(was);
            if (_heard != null && _heard.clip == _clip)
            {
                _heard.Stop();
                _heard.clip = null;
                _heard.loop = _wasLooping;
            }
            if (_clip != null)
            {
                Destroy(_clip);
                _clip = null;
            }
            if (was.IsLoud)
            {
                Calls.Raise(onLoudness, was.NodeName, 0f, this);
            }
            TellFinished(was);
        }

        private AudioSource SourceOf(string nodeName)
        {
            if (source != null)
            {
                return source;
            }
            AudioSource pattern = cast == null ? null : cast.Find(nodeName).VoiceSource;
            if (pattern != null)
            {
                AudioSource made;
                if (!_made.TryGetValue(nodeName, out made) || made == null)
                {
                    made = Instantiate(pattern, transform);
                    _made[nodeName] = made;
                }
                return made;
            }
            AudioSource here = GetComponent<AudioSource>();
            return here != null ? here : gameObject.AddComponent<AudioSource>();
        }

        /// <summary>What one step of a turn says.</summary>
        private sealed class Line
        {
            internal readonly long TurnId;
            private readonly string _agentId;
            private readonly long _step;

            internal Line(AudioFormat format)
            {
                _agentId = format.AgentId;
                TurnId = format.TurnId;
                _step = format.Step;
            }

            /// <summary>A new sidecar counts turns from 1 again, but gives the agent another name.</summary>
            internal bool Is(string agentId, long turnId, long step)
            {
                return TurnId == turnId && _step == step && string.Equals(_agentId, agentId, StringComparison.Ordinal);
            }

            internal bool IsAtOrBehind(string agentId, long turnId, long step)
            {
                bool isBehind = TurnId > turnId || (TurnId == turnId && _step >= step);
                return isBehind && string.Equals(_agentId, agentId, StringComparison.Ordinal);
            }
        }

        /// <summary>One line that is spoken.</summary>
        /// <remarks>
        /// A clip may be read ahead when it is made, and be set back to its beginning when it is played. What the buffer
        /// gave away by then would never be heard, so the first second of it is kept.
        /// Threading: Fill is the audio thread's; Seek comes from it or from the game's, and never while Fill runs; all else
        /// is the game's.
        /// </remarks>
        private sealed class Utterance
        {
            internal readonly Line Line;
            internal readonly string NodeName;
            internal readonly VoiceBuffer Buffer;
            internal bool IsTurnOver;
            internal float QuietFor;
            internal string Sentence = "";
            internal int HeardLength;
            internal int Underruns;
            internal bool IsLoud;
            private float[] _kept;
            private int _keptCount;
            private int _next;
            private long _clipFrames;

            internal Utterance(AudioFormat format, VoiceBuffer buffer)
            {
                Line = new Line(format);
                NodeName = format.NodeName;
                Buffer = buffer;
            }

            /// <summary>Before it is played. `clipFrames`: after so many the clip begins anew.</summary>
            internal void Keep(long clipFrames)
            {
                _clipFrames = clipFrames;
                _kept = new float[Buffer.SampleRate * Buffer.Channels];
            }

            internal void Fill(float[] samples)
            {
                int again = Math.Max(0, Math.Min(_keptCount - _next, samples.Length));
                Array.Copy(_kept, _next, samples, 0, again);
                _next += again;
                if (again == samples.Length)
                {
                    return;
                }
                Buffer.Read(samples, again);
                int count = Math.Min(samples.Length - again, _kept.Length - _keptCount);
                Array.Copy(samples, again, _kept, _keptCount, count);
                _keptCount += count;
                _next = _keptCount;
            }

            /// <summary>The clip goes on from another place: from its beginning, unless it only went round.</summary>
            internal void Seek(int frame)
            {
                bool isKept = Buffer.Position == _keptCount;
                bool isThere = Buffer.Position / Buffer.Channels % _clipFrames == frame;
                if (isKept && !isThere && (long)frame * Buffer.Channels < _keptCount)
                {
                    _next = frame * Buffer.Channels;
                }
            }
        }
    }
}
