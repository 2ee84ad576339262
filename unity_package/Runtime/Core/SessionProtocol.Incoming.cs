// What a session makes of what comes: each message is judged, numbered, and handed to whom it is for.
using Newtonsoft.Json.Linq;
using Parley.Messages;

namespace Parley
{
    internal sealed partial class SessionProtocol
    {
        private void Take(double now)
        {
            _lastHeard = now;
            Message message;
            try
            {
                _message.Judge();
                if (_message.Seq != 0 && _delivery.Has(_message.Seq))
                {
                    return;
                }
                message = Interpret(_message.TypeName, _message.ParseJson());
            }
            catch (ParleyException fault)
            {
                End(SessionEnd.Malformed, fault);
                return;
            }
            if (_message.Seq != 0 && !IsNext(message))
            {
                return;
            }
            if (IsAboutThisLink(now, message))
            {
                return;
            }
            Reply reply = message as Reply;
            if (reply != null)
            {
                Settle(reply);
                return;
            }
            Push push = message as Push;
            if (push != null || _message.Seq != 0)
            {
                // What only newer clients understand has come all the same.
                _inbox.Add(Arrived(push));
            }
            Goodbye goodbye = push as Goodbye;
            if (goodbye != null)
            {
                TakeGoodbye(goodbye);
            }
        }

        private static Message Interpret(string typeName, JObject json)
        {
            try
            {
                return MessageReader.Read(typeName, json);
            }
            catch (MalformedMessageException fault)
            {
                throw Frames.Malformed(typeName + ": " + fault.Message, fault);
            }
        }

        /// <summary>Whether a numbered message is the next one; a hole has the session taken up again.</summary>
        private bool IsNext(Message message)
        {
            Gap gap = message as Gap;
            ulong first = gap != null ? gap.FromSeq : _message.Seq;
            ulong due = _delivery.Received + 1;
            switch (_delivery.Take(first, _message.Seq, _message.Bytes))
            {
                case Delivery.Verdict.Hole:
                    _link.Break("frame " + first + " came where " + due + " was due");
                    return false;
                case Delivery.Verdict.Loss:
                    _inbox.Add(
                        new Arrival
                        {
                            Message = new Gap { FromSeq = due, ToSeq = first - 1, Reason = GapReason.Dropped },
                            Seq = first - 1,
                        });
                    break;
            }
            _hasProgressed = true;
            return true;
        }

        /// <summary>Deals with what is not about the session but about who speaks on this connection.</summary>
        private bool IsAboutThisLink(double now, Message message)
        {
            if (_message.Seq != 0)
            {
                return false;
            }
            if (message is Pong)
            {
                _hasProgressed = true;
                return true;
            }
            SessionReady ready = message as SessionReady;
            Error error = message as Error;
            bool isAnswer = _phase == Phase.Greeting && _message.RequestId == _helloId;
            if (ready != null)
            {
                if (isAnswer)
                {
                    Welcome(now, ready);
                }
                return true;
            }
            if (error != null && isAnswer)
            {
                Refuse(error);
                return true;
            }
            if (_wasReady && IsNotKnown(now, message, error))
            {
                _link.Break("the sidecar takes this connection for a stranger's");
                return true;
            }
            return false;
        }

        private void Refuse(Error error)
        {
            ErrorCode code = (ErrorCode)error.Code;
            SessionEnd end = code == ErrorCode.SessionExpired ? SessionEnd.Expired
                : code == ErrorCode.ShuttingDown ? SessionEnd.Shutdown
                : SessionEnd.Refused;
            End(end, new ParleyException(error));
        }

        /// <summary>
        /// Whether the session may be taken up again, though the sidecar does not know this connection (any more): a
        /// Hello of this session itself that came late may have taken it from here.
        /// </summary>
        private bool IsNotKnown(double now, Message message, Error error)
        {
            if (error != null)
            {
                return (ErrorCode)error.Code == ErrorCode.SessionNotReady;
            }
            Goodbye goodbye = message as Goodbye;
            if (goodbye == null || goodbye.Reason != GoodbyeReason.Replaced)
            {
                return false;
            }
            while (_ghosts.Count > 0 && now - _ghosts.Peek() > GhostS)
            {
                _ghosts.Dequeue();
            }
            if (_ghosts.Count == 0)
            {
                return false;
            }
            _ghosts.Dequeue();
            return true;
        }

        private void Settle(Reply reply)
        {
            ulong id = _message.RequestId;
            if (id != 0 && id == _byeId)
            {
                End(SessionEnd.Bye, null);
                return;
            }
            Arrival arrival = Arrived(reply);
            arrival.Answers = _requests.Answer(id);
            Error error = reply as Error;
            if (error != null && arrival.Answers != null)
            {
                arrival.Fault = new ParleyException(error);
            }
            _inbox.Add(arrival);
        }

        private Arrival Arrived(Message message)
        {
            return new Arrival
            {
                Message = message,
                Payload = _message.Payload,
                RequestId = _message.RequestId,
                Seq = _message.Seq,
                Bytes = _message.Bytes,
            };
        }

        private void TakeGoodbye(Goodbye goodbye)
        {
            string said = "the sidecar said Goodbye: " + Words.Of(goodbye.Reason);
            switch (goodbye.Reason)
            {
                case GoodbyeReason.Shutdown:
                    End(SessionEnd.Shutdown, new ParleyException(ErrorCode.ShuttingDown, "ShuttingDown", said));
                    break;
                case GoodbyeReason.Replaced:
                    said += "; another client has taken this session up";
                    End(SessionEnd.Replaced, new ParleyException(ErrorCode.SessionExpired, "SessionExpired", said));
                    break;
                default:
                    End(SessionEnd.Expired, new ParleyException(ErrorCode.SessionExpired, "SessionExpired", said));
                    break;
            }
        }
    }
}
