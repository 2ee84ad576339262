// What is wrong with a message or a node.
using System;

namespace Parley
{
    /// <summary>JSON that does not say what it should: where, and what would be right.</summary>
    public sealed class MalformedMessageException : Exception
    {
        /// <summary>Where in the JSON, such as <c>$.interaction.outputs[0].text</c>; <c>$</c>: all of it.</summary>
        public readonly string Path;

        /// <summary>What is wrong there.</summary>
        public readonly string Reason;

        /// <summary>The message is the path, then the reason.</summary>
        public MalformedMessageException(string path, string reason, Exception cause = null)
            : base(path + ": " + reason, cause)
        {
            Path = path;
            Reason = reason;
        }
    }
}
