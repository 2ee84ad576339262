// How a character is made in one sidecar after another, and kept across a reload.
using System;
using System.Collections.Generic;
using System.Threading.Tasks;
using Newtonsoft.Json.Linq;
using Parley.Messages;

namespace Parley
{
    public sealed partial class CoreAgent
    {
        /// <summary>Make the agent in the sidecar that is there now; `done` is called where the sidecar does not go over it.</summary>
        internal void Make(Action done)
        {
            int making = ++_making;
            State = AgentState.Making;
            AgentId = "";
            if (_seed == null && _mirror.Interactions.Count == 0 && _mirror.Summary == null)
            {
                Create(new List<JToken> { null }, making, done);
                return;
            }
            JToken seed = _seed;
            DialogDocument document = _mirror.ToDocument();
            _core.Background(
                () => DialogMirror.Split(seed ?? DialogMirror.JsonOf(document)),
                (pieces, fault) =>
                {
                    if (making != _making)
                    {
                        done();
                    }
                    else if (fault != null)
                    {
                        Fail(new ParleyException(LocalFaults.InternalFault, fault.Message, fault), done);
                    }
                    else
                    {
                        Create(pieces, making, done);
                    }
                });
        }

        /// <summary>Ends when it is made for the first time; null: nobody waits.</summary>
        internal TaskCompletionSource<CoreAgent> Creating { get; set; }

        internal bool ShouldBeMade
        {
            get { return State != AgentState.Destroyed && (State != AgentState.Failed || _wasMade); }
        }

        private void Create(List<JToken> pieces, int making, Action done)
        {
            _core.Send(new Ask
            {
                Agent = this,
                IsOnce = true,
                IsLong = true,
                Make = () => new CreateAgent
                {
                    Workflow = _workflow,
                    Variables = (JObject)_variables.DeepClone(),
                    EnableDiagnostics = EnableDiagnostics,
                    MaxSteps = MaxSteps,
                    SeedDialog = pieces[0],
                },
                Done = (reply, fault) =>
                {
                    AgentCreated created = reply as AgentCreated;
                    if (making != _making)
                    {
                        if (created != null)
                        {
                            _core.DestroyUnwanted(created.AgentId);
                        }
                        done();
                    }
                    else if (created == null)
                    {
                        Fail(fault, done);
                    }
                    else
                    {
                        AgentId = created.AgentId;
                        Warnings = created.Warnings;
                        _core.Know(this);
                        FollowUp(Remaining(pieces), 0, making, done);
                    }
                },
            });
        }

        /// <summary>What has to follow CreateAgent: the rest of the dialog, and what was changed since.</summary>
        private List<Func<Request>> Remaining(List<JToken> pieces)
        {
            List<Func<Request>> rest = new List<Func<Request>>();
            for (int index = 1; index < pieces.Count; index++)
            {
                JToken piece = pieces[index];
                rest.Add(() => new SeedDialog { AgentId = AgentId, Dialog = piece, Append = true });
            }
            foreach (JProperty node in _params.Properties())
            {
                string name = node.Name;
                JObject changes = (JObject)node.Value;
                rest.Add(() => new ChangeParams { AgentId = AgentId, NodeName = name, Params = (JObject)changes.DeepClone() });
            }
            return rest;
        }

        private void FollowUp(List<Func<Request>> rest, int next, int making, Action done)
        {
            if (next == rest.Count)
            {
                Settled(done);
                return;
            }
            _core.Send(new Ask
            {
                Agent = this,
                IsOnce = true,
                IsLong = true,
                Make = rest[next],
                Done = (reply, fault) =>
                {
                    if (making != _making)
                    {
                        done();
                    }
                    else if (fault != null)
                    {
                        _core.DestroyUnwanted(AgentId);
                        Fail(fault, done);
                    }
                    else
                    {
                        FollowUp(rest, next + 1, making, done);
                    }
                },
            });
        }

        private void Settled(Action done)
        {
            if (_seed == null)
            {
                GetReady(done);
                return;
            }
            int making = _making;
            Export(new DialogDocument(), AskOnce, (document, fault) =>
            {
                if (making != _making)
                {
                    done();
                }
                else if (fault != null)
                {
                    Fail(fault, done);
                }
                else
                {
                    _mirror.Replace(document);
                    GetReady(done);
                }
            });
        }

        private void GetReady(Action done)
        {
            _wasMade = true;
            _seed = null;
            Trouble = null;
            State = AgentState.Ready;
            Begin(done);
        }

        private void Begin(Action done)
        {
            if (_turn != null && _turn.IsToBeCancelled)
            {
                CancelTurn(_turn);
            }
            Ask[] later = _later.ToArray();
            _later.Clear();
            foreach (Ask ask in later)
            {
                _core.Send(ask);
            }
            SayQueued();
            _onMade.Raise(this, _core.Log);
            if (Creating != null)
            {
                Creating.TrySetResult(this);
            }
            done();
        }

        private void Fail(ParleyException fault, Action done)
        {
            if (fault != null && Faults.MeansGone(fault))
            {
                // The next sidecar is asked again; with this one nothing will be done any more.
                return;
            }
            Trouble = fault ?? new ParleyException(LocalFaults.InternalFault, "the sidecar answered with something else");
            State = AgentState.Failed;
            AgentId = "";
            FailWaiting(Trouble);
            _core.Say(LogLevel.Error, "an agent could not be made: " + Trouble);
            _onFailed.Raise(Trouble, _core.Log);
            done();
        }

        // ---- before and after a reload ----

        internal JObject ToState(List<Ask> asked)
        {
            // What was asked and not answered will have been done, where it came to the sidecar at all.
            List<Request> toAskAgain = new List<Request>(_toAskAgain);
            foreach (Ask ask in asked)
            {
                Request request = ask.Make();
                KeepAsked(request);
                toAskAgain.Add(request);
            }
            foreach (Ask ask in _later)
            {
                toAskAgain.Add(ask.Make());
            }
            JObject state = new JObject
            {
                { "key", Key },
                { "agent_id", State == AgentState.Ready ? AgentId : "" },
                // As texts: what is nested as deeply as may be must not be nested deeper here.
                { "workflow", JsonText.Compact(_workflow) },
                { "variables", JsonText.Compact(_variables) },
                { "params", JsonText.Compact(_params) },
                { "enable_diagnostics", EnableDiagnostics },
                { "max_steps", MaxSteps },
                { "queue_one", WhenBusy == WhenBusy.QueueOne },
                { "was_made", _wasMade },
                { "ask_again", ParleyCore.ToState(toAskAgain.FindAll(ChangesSomething)) },
                { "loading", _loading },
                { "is_mirror_stale", _isMirrorStale },
                { "dialog", JsonText.Compact(DialogMirror.JsonOf(_mirror.ToDocument())) },
            };
            if (State == AgentState.Failed)
            {
                state["trouble"] = Trouble.ToError().ToJson();
            }
            if (_seed != null)
            {
                state["seed"] = JsonText.Compact(_seed);
            }
            if (_turn != null)
            {
                state["turn"] = _turn.ToState();
            }
            if (_queued != null)
            {
                state["queued"] = _queued.ToState();
            }
            return state;
        }

        internal static CoreAgent FromState(ParleyCore core, JObject state)
        {
            JToken field;
            CoreAgent agent = new CoreAgent(core, new AgentOptions
            {
                Key = JsonRead.Text(JsonRead.Field(state, "key")),
                Workflow = Parsed(state, "workflow"),
                Variables = Parsed(state, "variables"),
                EnableDiagnostics = JsonRead.Boolean(JsonRead.Field(state, "enable_diagnostics")),
                MaxSteps = JsonRead.Int32(JsonRead.Field(state, "max_steps")),
                WhenBusy = JsonRead.Boolean(JsonRead.Field(state, "queue_one")) ? WhenBusy.QueueOne : WhenBusy.Refuse,
                SeedDialog = JsonRead.TryField(state, "seed", out field) ? JsonText.Parse(JsonRead.Text(field)) : null,
            });
            agent._wasMade = JsonRead.Boolean(JsonRead.Field(state, "was_made"));
            Merge(agent._params, Parsed(state, "params"));
            agent._mirror.Replace(DialogDocument.FromJson(Parsed(state, "dialog")));
            if (JsonRead.TryField(state, "turn", out field))
            {
                agent._turn = Turn.FromState(JsonRead.Object(field));
            }
            if (JsonRead.TryField(state, "queued", out field))
            {
                agent._queued = Turn.FromState(JsonRead.Object(field));
            }
            agent.AgentId = JsonRead.Text(JsonRead.Field(state, "agent_id"));
            agent.State = agent.AgentId.Length > 0 ? AgentState.Ready : AgentState.Making;
            if (JsonRead.TryField(state, "trouble", out field))
            {
                agent.State = AgentState.Failed;
                agent.Trouble = new ParleyException(Error.FromJson(JsonRead.Object(field)));
            }
            agent._toAskAgain = ParleyCore.FromState(JsonRead.Field(state, "ask_again"));
            agent._isMirrorStale = JsonRead.Boolean(JsonRead.Field(state, "is_mirror_stale"));
            agent._loading = JsonRead.Text(JsonRead.Field(state, "loading"));
            return agent;
        }

        /// <summary>
        /// What the object before asked and had no answer to; most of it can be done twice, and the dialog is looked at
        /// afterwards where it cannot.
        /// </summary>
        internal void AskAgain()
        {
            List<Request> requests = _toAskAgain;
            _toAskAgain = new List<Request>();
            foreach (Request request in requests)
            {
                SetVariables variables = request as SetVariables;
                ChangeParams changes = request as ChangeParams;
                EditDialog edit = request as EditDialog;
                TruncateDialog truncate = request as TruncateDialog;
                if (variables != null)
                {
                    SetVariables(variables.Values);
                }
                else if (changes != null)
                {
                    ChangeParams(changes.NodeName, changes.Params);
                }
                else if (edit != null)
                {
                    EditDialog((int)edit.Index, edit.User, edit.Replies, fault => MirrorAnyway(fault));
                }
                else if (truncate != null)
                {
                    TruncateDialog((int)truncate.Keep, fault => MirrorAnyway(fault));
                }
            }
            if (_loading.Length > 0)
            {
                LoadDialog(_loading, fault => MirrorAnyway(fault));
            }
            else if (_isMirrorStale)
            {
                Mirror(null);
            }
        }

        private void MirrorAnyway(ParleyException fault)
        {
            if (fault != null && State == AgentState.Ready)
            {
                Mirror(null);
            }
        }

        private static bool ChangesSomething(Request request)
        {
            return request is SetVariables || request is ChangeParams || request is EditDialog || request is TruncateDialog;
        }

        private static JObject Parsed(JObject state, string name)
        {
            return JsonRead.Object(JsonText.Parse(JsonRead.Text(JsonRead.Field(state, name))));
        }

        /// <summary>The session goes on: what waited for the reload can be done.</summary>
        internal void GoOn()
        {
            if (State == AgentState.Ready)
            {
                Begin(() => { });
            }
        }

        private void KeepAsked(Request request)
        {
            SetVariables variables = request as SetVariables;
            if (variables != null)
            {
                Merge(_variables, variables.Values);
            }
            ChangeParams changes = request as ChangeParams;
            if (changes != null)
            {
                KeepParams(changes.NodeName, changes.Params);
            }
        }
    }
}
