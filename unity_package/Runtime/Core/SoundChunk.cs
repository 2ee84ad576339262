// A piece of what a character says aloud: its message and its samples.
using Parley.Messages;

namespace Parley
{
    /// <summary>Sound of one spoken step. Any thread.</summary>
    public sealed class SoundChunk
    {
        internal SoundChunk(AudioChunk message, byte[] samples)
        {
            Message = message;
            Samples = samples;
        }

        /// <summary>Where it belongs, and what is said with it.</summary>
        public AudioChunk Message { get; private set; }

        /// <summary>Samples as the AudioFormat of the step says; null: none. The receiver may keep it.</summary>
        public byte[] Samples { get; private set; }
    }
}
