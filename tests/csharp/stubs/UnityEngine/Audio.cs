// AudioClip and AudioSource as the package uses them: a streamed clip asks its reader for samples, ahead of what is
// heard, from another thread; FakeSpeaker in the tests is that thread.
// Checked against Unity-Technologies/UnityCsReference: Modules/Audio/Public/ScriptBindings/Audio.bindings.cs
// When the reader is called, that it must fill with zeros what it has not, and that positions are frames and are told when a
// clip restarts: docs.unity3d.com/6000.1/Documentation/ScriptReference/AudioClip.{Create,PCMReaderCallback,
// PCMSetPositionCallback}.html. A looping source over a streamed clip of some seconds is how others play what is
// still coming, such as github.com/Kojima648/Unity-AudioStream, Assets/Scripts/PCMAudioStreamPlayer.cs
using System;

namespace UnityEngine
{
    public abstract partial class AudioResource : Object
    {
    }

    public sealed partial class AudioClip : AudioResource
    {
        private PCMReaderCallback _reader;
        private PCMSetPositionCallback _positioner;

        public delegate void PCMReaderCallback(float[] data);

        public delegate void PCMSetPositionCallback(int position);

        public int samples { get; private set; }

        public int channels { get; private set; }

        public int frequency { get; private set; }

        public static AudioClip Create(
            string name, int lengthSamples, int channels, int frequency, bool stream,
            PCMReaderCallback pcmreadercallback)
        {
            return Create(name, lengthSamples, channels, frequency, stream, pcmreadercallback, null);
        }

        public static AudioClip Create(
            string name, int lengthSamples, int channels, int frequency, bool stream,
            PCMReaderCallback pcmreadercallback, PCMSetPositionCallback pcmsetpositioncallback)
        {
            FakeEngine.MainThreadOnly("Create");
            if (name == null || lengthSamples <= 0 || channels <= 0 || frequency <= 0)
            {
                throw new ArgumentException("a clip needs a name, a length, channels and a frequency");
            }
            AudioClip clip = new AudioClip { name = name };
            clip.samples = lengthSamples;
            clip.channels = channels;
            clip.frequency = frequency;
            clip._reader = pcmreadercallback;
            clip._positioner = pcmsetpositioncallback;
            return clip;
        }

        /// <summary>The engine's side: fill `data` with what comes next.</summary>
        public void FakeRead(float[] data)
        {
            _reader(data);
        }

        /// <summary>The engine's side: the clip begins again.</summary>
        public void FakeSeek(int position)
        {
            if (_positioner != null)
            {
                _positioner(position);
            }
        }
    }

    public partial class AudioBehaviour : Behaviour
    {
    }

    public sealed partial class AudioListener : AudioBehaviour
    {
        /// <summary>All sources stand still, and say that they do not play.</summary>
        public static bool pause { get; set; }
    }

    public sealed partial class AudioSource : AudioBehaviour
    {
        private AudioClip _clip;
        private bool _isPlaying;
        private bool _isPaused;

        public AudioClip clip
        {
            get
            {
                return _clip;
            }
            set
            {
                FakeEngine.MainThreadOnly("set_clip");
                Living();
                if (!ReferenceEquals(_clip, value))
                {
                    Halt();
                }
                _clip = value;
            }
        }

        public bool loop { get; set; }

        public float volume { get; set; }

        public float pitch { get; set; }

        public float spatialBlend { get; set; }

        public bool playOnAwake { get; set; }

        /// <summary>What is heard now, within the clip.</summary>
        public int timeSamples { get; set; }

        public bool isPlaying
        {
            get { Living(); return _isPlaying && !_isPaused && !AudioListener.pause; }
        }

        public void Play()
        {
            FakeEngine.MainThreadOnly("Play");
            Living();
            if (!IsOn)
            {
                Debug.LogWarning("Can not play a disabled audio source", this);
                return;
            }
            _isPlaying = _clip != null;
            _isPaused = false;
            timeSamples = 0;
        }

        public void Pause()
        {
            Living();
            _isPaused = true;
        }

        public void UnPause()
        {
            Living();
            _isPaused = false;
        }

        public void Stop()
        {
            FakeEngine.MainThreadOnly("Stop");
            Living();
            Halt();
        }

        /// <summary>A source that is switched off stops, and does not go on by itself.</summary>
        internal override void Switched()
        {
            if (!IsOn)
            {
                Halt();
            }
        }

        private void Halt()
        {
            _isPlaying = false;
            _isPaused = false;
            timeSamples = 0;
        }
    }
}
