// Where a session stands, and why one is over.
namespace Parley
{
    /// <summary>Where a session with a sidecar stands.</summary>
    public enum SessionState
    {
        /// <summary>Hello is not answered yet.</summary>
        Connecting,

        /// <summary>The sidecar answers.</summary>
        Ready,

        /// <summary>The connection broke or fell silent; the session is being taken up again. Requests wait.</summary>
        Lost,

        /// <summary>As Ready, after having been Lost: nothing is missing and nothing comes twice.</summary>
        Back,

        /// <summary>Over for good; a new session needs a new object.</summary>
        Closed,
    }

    /// <summary>Why a session is over.</summary>
    public enum SessionEnd
    {
        /// <summary>It is not.</summary>
        None,

        /// <summary>Stop was called; the sidecar keeps the session for whoever takes it up again.</summary>
        Stopped,

        /// <summary>Stop said Bye: the sidecar has forgotten the session.</summary>
        Bye,

        /// <summary>The sidecar refused Hello, such as a wrong token or another protocol.</summary>
        Refused,

        /// <summary>Nobody answered Hello in time.</summary>
        NotThere,

        /// <summary>The connection was lost and did not come back in time.</summary>
        Lost,

        /// <summary>Another client took the session up.</summary>
        Replaced,

        /// <summary>The sidecar shuts down.</summary>
        Shutdown,

        /// <summary>The sidecar has no such session any more; agents must be made again.</summary>
        Expired,

        /// <summary>The sidecar sent what cannot be read.</summary>
        Malformed,
    }
}
