// What the game hears of a session while it drains it.
using Parley.Messages;

namespace Parley
{
    /// <summary>
    /// Hears what came, once and in order. Every method is called by <see cref="ParleySession.Drain"/>, on its thread;
    /// what one throws comes out of Drain, and the next Drain goes on behind it.
    /// </summary>
    public interface IFrameSink
    {
        /// <summary>
        /// Something the sidecar sent unasked. A <c>Gap</c> with the reason dropped means that frames are lost, perhaps
        /// the end of a turn: ListAgents tells which agents are still busy.
        /// </summary>
        /// <param name="push">The message.</param>
        /// <param name="payload">The sound of an AudioChunk; null where there is none. The receiver may keep it.</param>
        /// <param name="seq">Its number in the session; 0: it has none.</param>
        void OnPush(Push push, byte[] payload, ulong seq);

        /// <summary>
        /// A reply that no callback waits for: to a request that was given up, or that an earlier object of this session
        /// sent. <paramref name="requestId"/> 0: an Error about something the sidecar could not read.
        /// </summary>
        void OnReply(ulong requestId, Reply reply);

        /// <summary>The session got into another state. <paramref name="reason"/>: why it is Lost or Closed, else null.</summary>
        void OnState(SessionState state, ParleyException reason);
    }
}
