// Requests that outlive a sidecar, and the faults that say that there is none.
using System;
using Parley.Messages;

namespace Parley
{
    /// <summary>A request, and who waits for its reply.</summary>
    internal sealed class Ask
    {
        /// <summary>Makes the request anew: the agent has another name in the next sidecar.</summary>
        internal Func<Request> Make;

        /// <summary>Called once, on the game's thread, with a reply or a fault. Never null.</summary>
        internal Action<Reply, ParleyException> Done;

        /// <summary>The agent it is about; null: none.</summary>
        internal CoreAgent Agent;

        /// <summary>Not to be done again by the next sidecar.</summary>
        internal bool IsOnce;

        /// <summary>What Make makes is nobody else's, and long: it is written on another thread.</summary>
        internal bool IsLong;

        /// <summary>How long to wait for the reply; zero: as is usual for its kind.</summary>
        internal TimeSpan Timeout;
    }

    /// <summary>Words that say that the sidecar is not there.</summary>
    internal static class Faults
    {
        internal const string SidecarFailed = "SidecarFailed";

        internal static ParleyException Down(string why)
        {
            return new ParleyException(SidecarFailed, why.Length > 0 ? why : "there is no sidecar; call Start");
        }

        internal static ParleyException Lost(string why)
        {
            return new ParleyException(ErrorCode.ShuttingDown, "ShuttingDown", why);
        }

        internal static ParleyException Destroyed()
        {
            return new ParleyException(
                ErrorCode.AgentDestroyed, "AgentDestroyed", "this agent was destroyed; make another one");
        }

        /// <summary>A fault that says nothing of the request, only that nobody is there to do it.</summary>
        internal static bool MeansGone(ParleyException fault)
        {
            switch (fault.Code)
            {
                case ErrorCode.ShuttingDown:
                case ErrorCode.SessionExpired:
                case ErrorCode.SessionNotReady:
                    return true;
            }
            return fault.CodeName == LocalFaults.ConnectionLost
                || fault.CodeName == LocalFaults.SessionClosed
                || fault.CodeName == LocalFaults.NotThere;
        }
    }
}
