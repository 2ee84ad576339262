// What the session says, and what becomes of the sidecar.
using System;
using System.Collections.Generic;
using System.Threading.Tasks;
using Parley.Messages;

namespace Parley
{
    public sealed partial class ParleyCore
    {
        /// <inheritdoc/>
        void IFrameSink.OnPush(Push push, byte[] payload, ulong seq)
        {
            try
            {
                Dispatch(push, payload);
            }
            catch (Exception fault)
            {
                Say(LogLevel.Error, "a fault inside Parley: " + fault);
            }
        }

        /// <inheritdoc/>
        void IFrameSink.OnReply(ulong requestId, Reply reply)
        {
            Error error = reply as Error;
            if (error != null)
            {
                Say(LogLevel.Warning, "the sidecar says: " + new ParleyException(error));
            }
        }

        /// <inheritdoc/>
        void IFrameSink.OnState(SessionState state, ParleyException reason)
        {
            if (state == SessionState.Lost)
            {
                _onLinkChanged.Raise(false, Log);
            }
            else if (state == SessionState.Back)
            {
                _onLinkChanged.Raise(true, Log);
            }
        }

        private void Dispatch(Push push, byte[] payload)
        {
            string agentId = AgentIdOf(push);
            CoreAgent agent;
            if (agentId.Length > 0 && _byId.TryGetValue(agentId, out agent))
            {
                agent.Take(push, payload);
            }
            Warning warning = push as Warning;
            if (warning != null)
            {
                Say(LogLevel.Warning, (warning.NodeName.Length > 0 ? warning.NodeName + ": " : "") + warning.Message);
            }
            Gap gap = push as Gap;
            if (gap != null && gap.Reason == GapReason.Dropped)
            {
                Say(LogLevel.Warning, "frames " + gap.FromSeq + " to " + gap.ToSeq + " are lost: the sidecar keeps no more");
                LookAround(false);
            }
            _onPushed.Raise(push, Log);
        }

        private static string AgentIdOf(Push push)
        {
            AnswerText text = push as AnswerText;
            if (text != null)
            {
                return text.AgentId;
            }
            TurnComplete complete = push as TurnComplete;
            if (complete != null)
            {
                return complete.AgentId;
            }
            AudioChunk chunk = push as AudioChunk;
            if (chunk != null)
            {
                return chunk.AgentId;
            }
            AudioFormat format = push as AudioFormat;
            if (format != null)
            {
                return format.AgentId;
            }
            Warning warning = push as Warning;
            if (warning != null)
            {
                return warning.AgentId;
            }
            NodeEvent happened = push as NodeEvent;
            return happened != null ? happened.AgentId : "";
        }

        /// <summary>See which agents are busy: the end of a turn may have been among frames that are lost.</summary>
        private void LookAround(bool isAfterReload)
        {
            Send(new Ask
            {
                IsOnce = true,
                Make = () => new ListAgents(),
                Done = (reply, fault) =>
                {
                    Agents found = reply as Agents;
                    if (found == null)
                    {
                        return;
                    }
                    foreach (AgentInfo info in found.Items)
                    {
                        CoreAgent agent;
                        if (!_byId.TryGetValue(info.AgentId, out agent))
                        {
                            if (isAfterReload)
                            {
                                DestroyUnwanted(info.AgentId);
                            }
                        }
                        else if (!info.Busy)
                        {
                            agent.TellIdle();
                        }
                    }
                },
            });
        }

        // ---- what becomes of the sidecar ----

        /// <inheritdoc/>
        void ILifeListener.OnConnected(bool isResumed)
        {
            if (!isResumed)
            {
                MakeNext(-1);
                return;
            }
            _isMade = true;
            int generation = _generation;
            Told[] toTell = _toTell.ToArray();
            _toTell.Clear();
            foreach (Told one in toTell)
            {
                Request(one.Request, (reply, fault) => one.Tell(fault));
            }
            SendWaiting();
            foreach (CoreAgent agent in _agents.ToArray())
            {
                if (agent.State == AgentState.Ready)
                {
                    Know(agent);
                    agent.GoOn();
                }
                if (generation != _generation)
                {
                    // Whoever heard of it ended all this.
                    return;
                }
            }
            LookAround(true);
            MakeAgents();
        }

        private void SendWaiting()
        {
            Ask[] waiting = _waiting.ToArray();
            _waiting.Clear();
            foreach (Ask ask in waiting)
            {
                Send(ask);
            }
        }

        /// <inheritdoc/>
        public void OnDrain()
        {
            ParleySession session = _life.Session;
            if (session != null)
            {
                session.Drain(this, double.PositiveInfinity);
            }
        }

        /// <inheritdoc/>
        void ILifeListener.OnLost(string why)
        {
            Say(LogLevel.Warning, why + "; another one is started");
            List<Ask> asked = ForgetSession();
            if (_wasReady && !_isToldGone)
            {
                _isToldGone = true;
                SetState(CoreState.Gone);
                _onGone.Raise(why, Log);
            }
            LoseAgents(asked, why);
        }

        /// <inheritdoc/>
        void ILifeListener.OnGivenUp(string why)
        {
            Say(LogLevel.Error, why);
            _trouble = why;
            List<Ask> asked = ForgetSession();
            SetState(CoreState.Down);
            if (_wasReady && !_isToldGone)
            {
                _isToldGone = true;
                _onGone.Raise(why, Log);
            }
            LoseAgents(asked, why);
            if (_life.IsOn)
            {
                // Whoever heard of it has begun anew: what waits now waits for the next one.
                return;
            }
            FailAll(Faults.Down(why));
            _onGaveUp.Raise(why, Log);
        }

        private void LoseAgents(List<Ask> asked, string why)
        {
            List<Ask> ofDestroyed = asked.FindAll(ask => !ask.IsOnce && ask.Agent != null && !_agents.Contains(ask.Agent));
            foreach (CoreAgent agent in _agents.ToArray())
            {
                agent.PutBack(asked.FindAll(ask => ask.Agent == agent && !ask.IsOnce));
            }
            _waiting.InsertRange(0, asked.FindAll(ask => ask.Agent == null && !ask.IsOnce));
            foreach (CoreAgent agent in _agents.ToArray())
            {
                agent.Lose(why);
            }
            ParleyException fault = Faults.Lost(why);
            foreach (Ask ask in asked)
            {
                if (ask.IsOnce)
                {
                    ask.Done(null, fault);
                }
            }
            foreach (Ask ask in ofDestroyed)
            {
                ask.Done(null, Faults.Destroyed());
            }
            if (!_life.IsOn)
            {
                // Whoever heard of the loss ended all this: what was put back now waits for nobody.
                FailAll(Faults.Down(_trouble.Length > 0 ? _trouble : "the sidecar was stopped"));
            }
        }

        private void FailAll(ParleyException fault)
        {
            foreach (CoreAgent agent in _agents.ToArray())
            {
                agent.FailWaiting(fault);
            }
            FailWaiting(fault);
        }

        /// <summary>What the old session still says is nobody's any more. Returns what it was asked and has not answered.</summary>
        private List<Ask> ForgetSession()
        {
            _generation++;
            _isMade = false;
            _agentsToMake = 0;
            _byId.Clear();
            List<Ask> asked = new List<Ask>(_asked);
            _asked.Clear();
            return asked;
        }

        /// <summary>Make what every sidecar should have, one after the other, and the agents last.</summary>
        private void MakeNext(int index)
        {
            if (index == _made.Count)
            {
                _isMade = true;
                // What is left was to be taken back from a session that did not go on: this one never had it.
                Tell(null, null);
                SendWaiting();
                MakeAgents();
                return;
            }
            Request request = index < 0 ? _configured : _made[index];
            if (request == null)
            {
                MakeNext(index + 1);
                return;
            }
            Send(new Ask
            {
                IsOnce = true,
                Make = () => request,
                Done = (reply, fault) =>
                {
                    if (fault != null && Faults.MeansGone(fault))
                    {
                        return;
                    }
                    string name = NameOf(request);
                    if (fault != null && !_toTell.Exists(one => NameOf(one.Request) == name))
                    {
                        Refused(name, fault);
                    }
                    Tell(name, fault);
                    // What was refused or dropped is not there any more, and the next one has moved up.
                    int at = _made.IndexOf(request);
                    MakeNext(index < 0 ? 0 : at >= 0 ? at + 1 : Math.Min(index, _made.Count));
                },
            });
        }

        private void MakeAgents()
        {
            int generation = _generation;
            List<CoreAgent> agents = _agents.FindAll(agent => agent.ShouldBeMade && agent.State != AgentState.Ready);
            _agentsToMake = agents.Count;
            if (agents.Count == 0)
            {
                AllMade();
                return;
            }
            foreach (CoreAgent agent in agents)
            {
                agent.Make(() =>
                {
                    if (generation == _generation && --_agentsToMake == 0)
                    {
                        AllMade();
                    }
                });
            }
        }

        private void AllMade()
        {
            if (!IsConnected || _state == CoreState.Ready)
            {
                return;
            }
            _life.MarkUp();
            _wasReady = true;
            SetState(CoreState.Ready);
            if (_isToldGone)
            {
                _isToldGone = false;
                Say(LogLevel.Warning, "the sidecar is back, with " + _agents.Count + " agents");
                _onBack.Raise(this, Log);
            }
        }

        private void LookAtEnd()
        {
            if (_undertakers.Count == 0)
            {
                return;
            }
            foreach (Undertaker undertaker in _undertakers)
            {
                if (!undertaker.IsDone)
                {
                    return;
                }
            }
            _undertakers.Clear();
            if (_state == CoreState.Stopping)
            {
                SetState(CoreState.Stopped);
            }
        }

        private void SetState(CoreState state)
        {
            if (_state == state)
            {
                return;
            }
            _state = state;
            // Whoever waits as a handler begins or ends it anew does not wait for this.
            bool isEnd = state == CoreState.Down || state == CoreState.Stopping || state == CoreState.Stopped;
            List<TaskCompletionSource<bool>> started = TakeAll(_starting, isEnd || state == CoreState.Ready);
            List<TaskCompletionSource<bool>> ended = TakeAll(_ending, state != CoreState.Stopping);
            string why = state == CoreState.Down ? _trouble : "the sidecar was stopped";
            _onStateChanged.Raise(state, Log);
            bool isReady = state == CoreState.Ready && _state == CoreState.Ready;
            EndAll(started, isReady ? null : Faults.Down(why));
            EndAll(ended, null);
        }

        private static List<TaskCompletionSource<bool>> TakeAll(List<TaskCompletionSource<bool>> waiting, bool areTaken)
        {
            List<TaskCompletionSource<bool>> all = new List<TaskCompletionSource<bool>>();
            if (areTaken)
            {
                all.AddRange(waiting);
                waiting.Clear();
            }
            return all;
        }

        private static void EndAll(List<TaskCompletionSource<bool>> all, ParleyException fault)
        {
            foreach (TaskCompletionSource<bool> one in all)
            {
                if (fault == null)
                {
                    one.TrySetResult(true);
                }
                else
                {
                    one.TrySetException(fault);
                }
            }
        }
    }
}
