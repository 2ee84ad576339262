// Why an edit was refused.
using System;

namespace Parley
{
    /// <summary>Why an edit is refused.</summary>
    public enum AuthoringReason
    {
        /// <summary>The name is the player's line's.</summary>
        Reserved,

        /// <summary>The text is no name.</summary>
        Grammar,

        /// <summary>The workflow has no such node, or the node writes no slot.</summary>
        UnknownNode,

        /// <summary>The JSON is no list of nodes.</summary>
        NotAWorkflow,
    }

    /// <summary>An edit that is refused; the message says in one sentence what is wrong, where, and what to do.
    /// </summary>
    public sealed class AuthoringException : Exception
    {
        /// <summary>An edit refused for this reason.</summary>
        public AuthoringException(AuthoringReason reason, string message)
            : base(message)
        {
            Reason = reason;
        }

        /// <summary>Why.</summary>
        public AuthoringReason Reason { get; }

        /// <summary>The reason in the words that all languages share, such as unknown_node.</summary>
        public string ReasonName
        {
            get
            {
                switch (Reason)
                {
                    case AuthoringReason.Reserved:
                        return "reserved";
                    case AuthoringReason.Grammar:
                        return "grammar";
                    case AuthoringReason.UnknownNode:
                        return "unknown_node";
                    default:
                        return "not_a_workflow";
                }
            }
        }
    }
}
