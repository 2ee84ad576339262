// How a game goes on with its sidecar after all managed state was thrown away.
using System.Collections.Generic;
using Newtonsoft.Json.Linq;
using Parley.Messages;

namespace Parley
{
    public sealed partial class ParleyCore
    {
        private const int StateVersion = 1;

        private bool _isDetached;

        /// <summary>
        /// Leave sidecar and session as they are and put all that is known of them in a text, for Attach after a reload
        /// of the scripting domain. It holds the token: keep it in memory only. This object is of no use afterwards.
        /// Blocks for a moment.
        /// </summary>
        public string Detach()
        {
            JObject state = new JObject { { "version", StateVersion }, { "is_on", _life.IsOn } };
            ParleySession session = _life.Session;
            SidecarProcess process = _life.Process;
            _isDetached = true;
            if (session != null)
            {
                session.Stop();
                // Pushes that nobody took would come again, but the replies to requests of this object answer nobody there.
                OnDrain();
            }
            if (session != null && (_life.IsConnected || _life.IsResuming) && session.SessionKey.Length > 0)
            {
                state["endpoint"] = _life.Where.Endpoint;
                state["token"] = _life.Where.Token;
                state["server_public_key"] = _life.Where.ServerPublicKey;
                state["session_key"] = session.SessionKey;
                state["last_seq"] = session.LastSeq;
                state["last_request_id"] = session.LastRequestId;
                state["restarts"] = _life.Restarts;
                state["pid"] = process == null ? 0 : process.Pid;
                state["started"] = process == null ? 0 : process.StartedTicks;
                if (process != null)
                {
                    process.Abandon();
                }
            }
            else if (process != null)
            {
                // Nobody could say later where it is.
                process.Stop(0);
            }
            if (_configured != null)
            {
                state["configured"] = _configured.ToJson();
            }
            state["made"] = ToState(_made);
            state["to_tell"] = ToState(_toTell.ConvertAll(one => one.Request));
            state["agents"] = new JArray();
            foreach (CoreAgent agent in _agents)
            {
                try
                {
                    ((JArray)state["agents"]).Add(agent.ToState(_asked.FindAll(ask => ask.Agent == agent && !ask.IsOnce)));
                }
                catch (JsonFormatException fault)
                {
                    Say(LogLevel.Error, "an agent cannot be kept over the reload, as no sidecar takes it: " + fault.Message);
                }
            }
            _life.LetGo();
            ForgetSession();
            _queue.Close();
            _state = CoreState.Stopped;
            _logLines.Run(_options.Log);
            return JsonText.Compact(state);
        }

        /// <summary>
        /// Go on where Detach left off, on the thread that calls Update from now on. Where the sidecar has died, or the
        /// session has expired, it is as after any other loss. Throws MalformedMessageException for a text that is not of
        /// Detach.
        /// </summary>
        public static ParleyCore Attach(CoreOptions options, string state)
        {
            ParleyCore core = new ParleyCore(options);
            try
            {
                JObject found = JsonRead.Object(JsonText.Parse(state));
                JsonRead.Int32(JsonRead.Field(found, "version"), StateVersion, StateVersion);
                core.Restore(found);
            }
            catch (JsonFormatException fault)
            {
                throw new MalformedMessageException("$", "is no state of Detach: " + fault.Message, fault);
            }
            return core;
        }

        private void Restore(JObject found)
        {
            JToken field;
            if (JsonRead.TryField(found, "configured", out field))
            {
                _configured = ConfigureSession.FromJson(JsonRead.Object(field));
            }
            _made.AddRange(FromState(JsonRead.Field(found, "made")));
            foreach (JObject agent in JsonRead.List(JsonRead.Field(found, "agents"), JsonRead.Object))
            {
                _agents.Add(CoreAgent.FromState(this, agent));
            }
            Know(found);
        }

        private void Know(JObject found)
        {
            JToken field;
            if (!JsonRead.Boolean(JsonRead.Field(found, "is_on")))
            {
                Post(LeaveTurns);
                AskAgain();
                return;
            }
            if (!JsonRead.TryField(found, "session_key", out field))
            {
                Post(LeaveTurns);
                Start();
                AskAgain();
                return;
            }
            string sessionKey = JsonRead.Text(field);
            int pid = JsonRead.Int32(JsonRead.Field(found, "pid"));
            SidecarProcess process =
                pid == 0 ? null : SidecarProcess.Adopt(pid, JsonRead.Int64(JsonRead.Field(found, "started")), Log);
            SetState(CoreState.Starting);
            AskAgain();
            _wasReady = true;
            if (pid != 0 && process == null)
            {
                // Not within this call: nobody has subscribed to anything yet.
                _life.StartAgain("the sidecar ended during the reload");
                return;
            }
            foreach (CoreAgent agent in _agents)
            {
                if (agent.AgentId.Length > 0)
                {
                    // What is sent again may come before anything says that the session goes on.
                    Know(agent);
                }
            }
            foreach (Request request in FromState(JsonRead.Field(found, "to_tell")))
            {
                string name = NameOf(request);
                _toTell.Add(new Told(request, fault =>
                {
                    if (fault != null)
                    {
                        Refused(name, fault);
                    }
                }));
            }
            _life.Resume(
                new SidecarLife.Place(
                    JsonRead.Text(JsonRead.Field(found, "endpoint")),
                    JsonRead.Text(JsonRead.Field(found, "token")),
                    JsonRead.Text(JsonRead.Field(found, "server_public_key"))),
                process,
                sessionKey,
                JsonRead.UInt64(JsonRead.Field(found, "last_seq")),
                JsonRead.UInt64(JsonRead.Field(found, "last_request_id")),
                JsonRead.Int32(JsonRead.Field(found, "restarts")));
        }

        private void AskAgain()
        {
            foreach (CoreAgent agent in _agents)
            {
                agent.AskAgain();
            }
        }

        /// <summary>Requests as a state holds them: what is nested as deeply as may be must not be nested deeper there.</summary>
        internal static JArray ToState(List<Request> requests)
        {
            JArray all = new JArray();
            foreach (Request request in requests)
            {
                string body;
                try
                {
                    body = JsonText.Compact(request.ToJson());
                }
                catch (JsonFormatException)
                {
                    // The sidecar does not take it either.
                    continue;
                }
                all.Add(new JObject { { "type", request.TypeName }, { "body", body } });
            }
            return all;
        }

        internal static List<Request> FromState(JToken state)
        {
            List<Request> all = new List<Request>();
            foreach (JObject one in JsonRead.List(state, JsonRead.Object))
            {
                JObject body = JsonRead.Object(JsonText.Parse(JsonRead.Text(JsonRead.Field(one, "body"))));
                Request request = MessageReader.Read(JsonRead.Text(JsonRead.Field(one, "type")), body) as Request;
                if (request != null)
                {
                    all.Add(request);
                }
            }
            return all;
        }

        /// <summary>No sidecar knows of the turns that ran; what the player had seen of them stays.</summary>
        private void LeaveTurns()
        {
            foreach (CoreAgent agent in _agents.ToArray())
            {
                agent.Lose("its session could not be taken up again");
            }
        }
    }
}
