// Plays what a character says aloud.
using System;
using System.Collections.Generic;
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

        /// <summary>A line begins to be heard: the node that speaks.</summary>
        public event Action<string> Began;

        /// <summary>A line is over, or was stopped: the node that spoke.</summary>
        public event Action<string> Ended;

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
            get
            {
                if (_playing == null)
                {
                    return 0f;
                }
                VoiceBuffer buffer = _playing.Buffer;
                long ahead = Math.Max(0, buffer.Position - _heardFrames * buffer.Channels);
                return buffer.LoudnessAt(buffer.SamplesRead - ahead);
            }
        }

        /// <summary>Be silent, and forget what waits.</summary>
        public void Stop()
        {
            foreach (Utterance utterance in _open)
            {
                utterance.Buffer.Stop();
            }
            _open.Clear();
            _waiting.Clear();
            Silence();
        }

        /// <summary>A part of a voice comes. `pcm` must stay as it is.</summary>
        public void Take(VoiceFrame frame, byte[] pcm)
        {
            if (!isActiveAndEnabled)
            {
                return;
            }
            Utterance utterance = Find(frame.TurnId, frame.Step);
            if (frame.IsFormat)
            {
                if (utterance == null && frame.Encoding == VoiceFrame.Encoding16)
                {
                    Open(frame);
                }
                else if (utterance == null)
                {
                    Debug.LogWarning("[Parley] a voice comes as '" + frame.Encoding + "', which is not known here", this);
                }
                return;
            }
            if (utterance != null)
            {
                utterance.QuietFor = 0f;
                utterance.Buffer.Push(frame.Index, pcm, frame.IsFinal);
                if (utterance.Buffer.IsComplete)
                {
                    _open.Remove(utterance);
                }
            }
        }

        /// <summary>A turn ended well: what is missing of its voice is on its way, or was dropped and never comes.</summary>
        internal void ExpectEnd(long turnId)
        {
            foreach (Utterance utterance in _open)
            {
                if (utterance.TurnId == turnId)
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
                if (utterance.TurnId == turnId)
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
                if (utterance.TurnId == turnId)
                {
                    utterance.Buffer.Stop();
                }
            }
            if (_playing != null && _playing.TurnId == turnId)
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

        private void Open(VoiceFrame frame)
        {
            VoiceBuffer buffer;
            try
            {
                buffer = new VoiceBuffer(frame.SampleRate, frame.Channels, leadSeconds, 0.5);
            }
            catch (ArgumentOutOfRangeException fault)
            {
                Debug.LogWarning("[Parley] a voice cannot be played: " + fault.Message, this);
                return;
            }
            Utterance utterance = new Utterance(frame.TurnId, frame.Step, frame.NodeName, buffer);
            _open.Add(utterance);
            _waiting.Enqueue(utterance);
        }

        private Utterance Find(long turnId, int step)
        {
            foreach (Utterance utterance in _open)
            {
                if (utterance.TurnId == turnId && utterance.Step == step)
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
                _waiting.Dequeue();
            }
            if (_waiting.Count == 0 || !_waiting.Peek().Buffer.IsReady)
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
            next.Keep(buffer.SampleRate * ClipSeconds);
            // The clip goes round and round; the buffer knows where in the line it is.
            _clip = AudioClip.Create(
                "Parley " + next.NodeName, buffer.SampleRate * ClipSeconds, buffer.Channels, buffer.SampleRate, true, next.Fill, next.Seek);
            _heard.clip = _clip;
            _heard.loop = true;
            _heard.Play();
            Calls.Raise(Began, next.NodeName, this);
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
            if (end < 0 && !buffer.IsStopped)
            {
                return;
            }
            _endingFor += _heard.isPlaying && !AudioListener.pause ? Time.unscaledDeltaTime : 0f;
            if (buffer.IsStopped || _heardFrames * buffer.Channels >= end || _endingFor > PatienceSeconds)
            {
                Silence();
            }
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
            if (was == null)
            {
                return;
            }
            was.Buffer.Stop();
            _open.Remove(was);
            if (_heard != null && _heard.clip == _clip)
            {
                _heard.Stop();
                _heard.clip = null;
            }
            if (_clip != null)
            {
                Destroy(_clip);
                _clip = null;
            }
            Calls.Raise(Ended, was.NodeName, this);
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

        /// <summary>One line that is spoken.</summary>
        /// <remarks>
        /// A clip may be read ahead when it is made, and be set back to its beginning when it is played. What the buffer
        /// gave away by then would never be heard, so the first second of it is kept.
        /// Threading: Fill is the audio thread's; Seek comes from it or from the game's, and never while Fill runs; all else
        /// is the game's.
        /// </remarks>
        private sealed class Utterance
        {
            internal readonly long TurnId;
            internal readonly int Step;
            internal readonly string NodeName;
            internal readonly VoiceBuffer Buffer;
            internal bool IsTurnOver;
            internal float QuietFor;
            private float[] _kept;
            private int _keptCount;
            private int _next;
            private long _clipFrames;

            internal Utterance(long turnId, int step, string nodeName, VoiceBuffer buffer)
            {
                TurnId = turnId;
                Step = step;
                NodeName = nodeName;
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
                int again = Math.Min(_keptCount - _next, samples.Length);
                if (_next >= 0 && again > 0)
                {
                    Array.Copy(_kept, _next, samples, 0, again);
                    _next += again;
                    if (again == samples.Length)
                    {
                        return;
                    }
                    float[] rest = new float[samples.Length - again];
                    Read(rest);
                    Array.Copy(rest, 0, samples, again, rest.Length);
                    return;
                }
                Read(samples);
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

            private void Read(float[] samples)
            {
                Buffer.Read(samples);
                int count = Math.Min(samples.Length, _kept.Length - _keptCount);
                Array.Copy(samples, 0, _kept, _keptCount, count);
                _keptCount += count;
                _next = _keptCount;
            }
        }
    }
}
