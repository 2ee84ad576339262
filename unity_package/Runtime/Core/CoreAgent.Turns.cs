// The turns of a character: said, seen, cut, ended.
using System.Collections.Generic;
using Newtonsoft.Json.Linq;
using Parley.Messages;

namespace Parley
{
    public sealed partial class CoreAgent
    {
        /// <summary>Its sidecar, or its session, is lost.</summary>
        internal void Lose(string why)
        {
            _making++;
            AgentId = "";
            if (State == AgentState.Ready)
            {
                State = AgentState.Making;
            }
            Settle(TurnStatus.Error, ErrorCode.ShuttingDown, "ShuttingDown", "the sidecar was lost during this turn: " + why);
        }

        /// <summary>The game ends the sidecar itself: what runs is cancelled.</summary>
        internal void StopTurns()
        {
            _making++;
            AgentId = "";
            if (State == AgentState.Ready)
            {
                State = AgentState.Making;
            }
            Settle(TurnStatus.Cancelled, ErrorCode.ShuttingDown, "ShuttingDown", "the sidecar was stopped");
            DropQueued();
        }

        /// <summary>No sidecar will come: what waits fails.</summary>
        internal void FailWaiting(ParleyException fault)
        {
            Turn queued = _queued;
            _queued = null;
            if (queued != null)
            {
                Complete(queued, queued.End("", _workflow, TurnStatus.Error, fault.Code, fault.CodeName, fault.Message));
            }
            Ask[] later = _later.ToArray();
            _later.Clear();
            foreach (Ask ask in later)
            {
                ask.Done(null, fault);
            }
            if (Creating != null)
            {
                Creating.TrySetException(fault);
            }
        }

        /// <summary>A request that this sidecar cannot do any more; those before it are there already.</summary>
        internal void DoLater(Ask ask)
        {
            if (State == AgentState.Destroyed || State == AgentState.Failed)
            {
                // No sidecar will have it that could do it.
                ask.Done(null, WhyUnavailable());
                return;
            }
            _later.Add(ask);
        }

        /// <summary>Requests that went with a sidecar, for the next one.</summary>
        internal void PutBack(List<Ask> asks)
        {
            _later.InsertRange(0, asks);
        }

        internal void Take(Push push, byte[] payload)
        {
            if (State == AgentState.Destroyed)
            {
                return;
            }
            AnswerText text = push as AnswerText;
            if (text != null)
            {
                if (IsOfTurn(text.TurnId))
                {
                    _turn.Take(text);
                    _onAnswer.Raise(text, _core.Log);
                }
                return;
            }
            AudioChunk chunk = push as AudioChunk;
            if (chunk != null)
            {
                if (_silent.Count > 0 && payload != null && payload.Length > 0)
                {
                    _silent.Remove(VoiceOf(chunk.NodeName));
                }
                if (IsOfTurn(chunk.TurnId))
                {
                    _onSound.Raise(new SoundChunk(chunk, payload), _core.Log);
                }
                return;
            }
            AudioFormat format = push as AudioFormat;
            if (format != null)
            {
                if (IsOfTurn(format.TurnId))
                {
                    _onSoundStarted.Raise(format, _core.Log);
                }
                return;
            }
            TurnComplete complete = push as TurnComplete;
            if (complete != null)
            {
                TakeEnd(complete);
                return;
            }
            Warning warning = push as Warning;
            if (warning != null)
            {
                if ((ErrorCode)warning.Code == ErrorCode.SpeechFailed)
                {
                    _silent.Add(VoiceOf(warning.NodeName));
                }
                return;
            }
            NodeEvent happened = push as NodeEvent;
            if (happened != null)
            {
                TakeEvent(happened);
            }
        }

        private string VoiceOf(string nodeName)
        {
            return Turn.TextOf(Turn.NodeOf(_workflow, nodeName), "voice");
        }

        /// <summary>The turn of that number is the one that runs, not one whose line has found its end already.</summary>
        private bool IsOfTurn(long turnId)
        {
            // TurnStarted comes before all else of a turn, unless an object of before had it.
            return _turn != null && (_turn.TurnId == turnId || (_turn.TurnId == 0 && _turn.IsTakenOver));
        }

        /// <summary>The sidecar says that it is idle: the end of its turn is lost.</summary>
        internal void TellIdle()
        {
            if (_turn != null && _turn.TurnId == 0 && _turn.IsTakenOver)
            {
                // The line never came there: the connection was broken when the object of before had it said.
                Turn turn = _turn;
                turn.IsTakenOver = false;
                Send(turn);
                if (turn.IsToBeCancelled)
                {
                    CancelTurn(turn);
                }
            }
            else if (_turn != null && _turn.TurnId > 0)
            {
                Settle(TurnStatus.Error, ErrorCode.SessionExpired, "SessionExpired", "the turn's end was lost");
                SayQueued();
            }
        }

        private SayOutcome Say(Turn turn)
        {
            if (State == AgentState.Destroyed || State == AgentState.Failed || !_core.WillBeThere)
            {
                return SayOutcome.Unavailable;
            }
            if (_queued != null || (_turn != null && WhenBusy == WhenBusy.Refuse))
            {
                return SayOutcome.Busy;
            }
            if (_turn != null || State != AgentState.Ready || !_core.IsConnected || _loading.Length > 0)
            {
                _queued = turn;
                return SayOutcome.Queued;
            }
            Send(turn);
            return SayOutcome.Sent;
        }

        private ParleyException WhyUnavailable()
        {
            if (State == AgentState.Destroyed)
            {
                return Faults.Destroyed();
            }
            return State == AgentState.Failed ? Trouble : Faults.Down(_core.Trouble);
        }

        private void Send(Turn turn)
        {
            _turn = turn;
            Ask ask = new Ask
            {
                Agent = this,
                IsOnce = true,
                // A line that is given up here may still be answered there. It waits as long as the session lasts.
                Timeout = System.Threading.Timeout.InfiniteTimeSpan,
                Make = () => new SendMessage { AgentId = AgentId, Text = turn.Text },
            };
            ask.Done = (reply, fault) =>
            {
                TurnStarted started = reply as TurnStarted;
                if (started != null)
                {
                    turn.TurnId = started.TurnId;
                }
                else if (_turn == turn && (fault == null || !Faults.MeansGone(fault)))
                {
                    // Where the sidecar is gone, Lose says so, to all of its turns alike.
                    Refused(turn, fault);
                }
            };
            _core.Send(ask);
        }

        private void Refused(Turn turn, ParleyException fault)
        {
            _turn = null;
            TurnComplete complete = turn.End(
                AgentId,
                _workflow,
                TurnStatus.Error,
                fault == null ? 0 : fault.Code,
                fault == null ? LocalFaults.InternalFault : fault.CodeName,
                fault == null ? "the sidecar answered with something else" : fault.Message);
            if (complete.Interaction != null)
            {
                _mirror.Add(complete.Interaction);
            }
            SayQueued();
            Complete(turn, complete);
        }

        private void SayQueued()
        {
            if (_queued == null || _turn != null || State != AgentState.Ready || !_core.IsConnected || _loading.Length > 0)
            {
                return;
            }
            Turn turn = _queued;
            _queued = null;
            Send(turn);
        }

        private void CancelTurn(Turn turn)
        {
            if (turn == null)
            {
                return;
            }
            if (turn == _queued)
            {
                DropQueued();
            }
            else if (turn == _turn && !_core.IsConnected)
            {
                turn.IsToBeCancelled = true;
            }
            else if (turn == _turn && State == AgentState.Ready)
            {
                long? turnId = turn.TurnId > 0 ? turn.TurnId : (long?)null;
                _core.Send(new Ask
                {
                    Agent = this,
                    IsOnce = true,
                    Make = () => new CancelTurn { AgentId = AgentId, TurnId = turnId },
                    // A turn that cannot be found any more is over.
                    Done = (reply, fault) => { },
                });
            }
        }

        private void DropQueued()
        {
            Turn queued = _queued;
            _queued = null;
            if (queued != null)
            {
                Complete(queued, queued.End(AgentId, _workflow, TurnStatus.Cancelled, 0, "", ""));
            }
        }

        private void TakeEnd(TurnComplete complete)
        {
            if (complete.Interaction != null)
            {
                _mirror.Add(complete.Interaction);
            }
            if (!IsOfTurn(complete.TurnId))
            {
                // Its line has found its end already, and there is but one for each.
                return;
            }
            Turn turn = _turn;
            _turn = null;
            // The line that waited was said first: what a handler says now comes behind it.
            SayQueued();
            Complete(turn, complete);
        }

        private void Settle(TurnStatus status, ErrorCode code, string name, string why)
        {
            Turn turn = _turn;
            _turn = null;
            if (turn == null)
            {
                return;
            }
            TurnComplete complete = turn.End(AgentId, _workflow, status, code, name, why);
            if (complete.Interaction != null)
            {
                _mirror.Add(complete.Interaction);
            }
            Complete(turn, complete);
        }

        private void Complete(Turn turn, TurnComplete complete)
        {
            _onTurnCompleted.Raise(complete, _core.Log);
            if (turn != null && turn.Waiting != null)
            {
                turn.Waiting.TrySetResult(complete);
            }
        }

        private void TakeEvent(NodeEvent happened)
        {
            if (IsOfTurn(happened.TurnId))
            {
                _turn.TurnId = happened.TurnId;
            }
            if (happened.Event == "summary_written")
            {
                TakeSummary(happened);
            }
            string agentId = AgentId;
            _onNodeEvent.Raise(happened, _core.Log);
            // Unless a handler has ended it.
            if (happened.Event == "tool_call" && AgentId == agentId)
            {
                ToolCall call = new ToolCall(
                    this, happened, (answered, result, error) => _core.OnGameThread(() => Bring(agentId, answered, result, error)));
                _onToolCalled.Raise(call, _core.Log);
            }
        }

        private void TakeSummary(NodeEvent happened)
        {
            try
            {
                _mirror.SetSummary(new Summary
                {
                    Text = JsonRead.Text(JsonRead.Field(happened.Data, "text")),
                    Covers = JsonRead.Int64(JsonRead.Field(happened.Data, "covers")),
                });
            }
            catch (MalformedMessageException fault)
            {
                _core.Say(LogLevel.Warning, "a summary that cannot be read is left out: " + fault.Message);
            }
        }

        private void Bring(string agentId, ToolCall call, string result, string error)
        {
            if (agentId != AgentId || State != AgentState.Ready || !_core.IsConnected)
            {
                return;
            }
            _core.Send(new Ask
            {
                Agent = this,
                IsOnce = true,
                Make = () => new ToolResult { AgentId = agentId, CallId = call.CallId, Result = result, Error = error },
                Done = (reply, fault) =>
                {
                    if (fault != null)
                    {
                        _core.Say(LogLevel.Debug, "the result of " + call.Tool + " came too late: " + fault.Message);
                    }
                },
            });
        }
    }
}
