// A sentence of what a character says aloud.
using Parley.Messages;

namespace Parley
{
    /// <summary>A sentence of a spoken step: all of a step, joined, are its text. Any thread.</summary>
    public sealed class VoiceSentence
    {
        internal VoiceSentence(AudioChunk chunk, long startsAt)
        {
            AgentId = chunk.AgentId;
            TurnId = chunk.TurnId;
            Step = chunk.Step;
            NodeName = chunk.NodeName;
            Number = chunk.Sentence;
            Text = chunk.Text;
            StartsAt = startsAt;
        }

        /// <summary>The conversation.</summary>
        public string AgentId { get; private set; }

        /// <summary>The turn.</summary>
        public long TurnId { get; private set; }

        /// <summary>The step of the turn.</summary>
        public long Step { get; private set; }

        /// <summary>Who speaks.</summary>
        public string NodeName { get; private set; }

        /// <summary>Counts the sentences of the step from 0.</summary>
        public long Number { get; private set; }

        /// <summary>The sentence, with the spaces and line breaks behind it.</summary>
        public string Text { get; private set; }

        /// <summary>The sample of the step's sound at which it begins.</summary>
        public long StartsAt { get; private set; }
    }
}
