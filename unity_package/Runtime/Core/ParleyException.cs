// What went wrong, as the sidecar says it or as this side found out.
using System;
using System.Collections.Generic;
using System.Globalization;
using Parley.Messages;

namespace Parley
{
    /// <summary>The names of what only this side can find out. They stand in CodeName; their Code is 0.</summary>
    public static class LocalFaults
    {
        /// <summary>No reply came within the request's time.</summary>
        public const string TimedOut = "TimedOut";

        /// <summary>Nobody answered Hello.</summary>
        public const string NotThere = "NotThere";

        /// <summary>The connection was lost and did not come back in time.</summary>
        public const string ConnectionLost = "ConnectionLost";

        /// <summary>The session was ended on this side.</summary>
        public const string SessionClosed = "SessionClosed";

        /// <summary>ZeroMQ's library is not there, or not for this machine.</summary>
        public const string LibraryMissing = "LibraryMissing";

        /// <summary>ZeroMQ's library refused something.</summary>
        public const string LibraryFault = "LibraryFault";

        /// <summary>A fault of this package itself.</summary>
        public const string InternalFault = "InternalFault";
    }

    /// <summary>
    /// Something that a developer is told about. The message says what was wrong, where, and what to do; Code and
    /// CodeName are those of the wire, or of <see cref="LocalFaults"/>.
    /// </summary>
    public sealed class ParleyException : Exception
    {
        private static readonly IList<Problem> NoProblems = new Problem[0];

        /// <summary>The error code; 0: found on this side, or a fault inside the sidecar.</summary>
        public readonly ErrorCode Code;

        /// <summary>The error's name, such as AgentBusy.</summary>
        public readonly string CodeName;

        /// <summary>The conversation it is about; empty: none.</summary>
        public readonly string AgentId;

        /// <summary>The node it is about; empty: none.</summary>
        public readonly string NodeName;

        /// <summary>Where in the JSON, such as $.nodes[2].template; empty: nowhere.</summary>
        public readonly string Path;

        /// <summary>Every finding, where it is about a workflow.</summary>
        public readonly IList<Problem> Problems;

        /// <summary>An error with a name of <see cref="LocalFaults"/>.</summary>
        public ParleyException(string codeName, string message, Exception cause = null)
            : this((ErrorCode)0, codeName, message, cause)
        {
        }

        /// <summary>An error of the wire that this side found.</summary>
        public ParleyException(ErrorCode code, string codeName, string message, Exception cause = null)
            : base(message, cause)
        {
            Code = code;
            CodeName = codeName;
            AgentId = "";
            NodeName = "";
            Path = "";
            Problems = NoProblems;
        }

        /// <summary>The error that an Error tells of.</summary>
        public ParleyException(Error error)
            : base(error.Message)
        {
            Code = (ErrorCode)error.Code;
            CodeName = error.Name;
            AgentId = error.AgentId ?? "";
            NodeName = error.NodeName ?? "";
            Path = error.Path ?? "";
            Problems = error.Problems ?? NoProblems;
        }

        /// <summary>The Error that tells of it, without what caused it.</summary>
        internal Error ToError()
        {
            return new Error
            {
                Code = (long)Code,
                Name = CodeName,
                Message = Message,
                AgentId = AgentId,
                NodeName = NodeName,
                Path = Path,
                Problems = new List<Problem>(Problems),
            };
        }

        /// <summary>Name and code, then the message.</summary>
        public override string ToString()
        {
            string code = Code == 0 ? "" : " (" + ((int)Code).ToString(CultureInfo.InvariantCulture) + ")";
            return CodeName + code + ": " + Message;
        }
    }
}
