// Has a sidecar look at a workflow while it is edited.
using System;
using Newtonsoft.Json.Linq;
using Parley.Messages;

namespace Parley.Editor
{
    /// <summary>Asks for the compiler's findings once a workflow has not changed for a moment.</summary>
    /// <remarks>Threading: the editor's main thread; whoever has the core calls its Update.</remarks>
    public sealed class LiveValidation
    {
        /// <summary>Seconds without an edit until the sidecar is asked.</summary>
        public const double PauseS = 0.4;

        private readonly WorkflowInspectorModel _workflow;
        private readonly Func<ParleyCore> _core;
        private string _seen, _asked;
        private double _since;

        /// <summary>`core` tells the sidecar's core, or null while there is none: then nothing is asked.</summary>
        public LiveValidation(WorkflowInspectorModel workflow, Func<ParleyCore> core)
        {
            _workflow = workflow;
            _core = core;
            Fault = "";
        }

        /// <summary>Findings came, or could not be had.</summary>
        public event Action Changed;

        /// <summary>Why there are no findings of the sidecar; empty: there are, or they are on their way.</summary>
        public string Fault { get; private set; }

        /// <summary>The sidecar is asked and has not answered.</summary>
        public bool IsAsking { get; private set; }

        /// <summary>Looks whether it is time to ask. `now`: seconds of any clock that only goes forward.</summary>
        public void Tick(double now)
        {
            var text = _workflow.Text;
            if (text != _seen)
            {
                _seen = text;
                _since = now;
            }
            if (text == _asked || IsAsking || now - _since < PauseS)
            {
                return;
            }
            Ask(text);
        }

        /// <summary>Asks now, whatever was asked before.</summary>
        public void AskNow()
        {
            _asked = null;
            if (!IsAsking)
            {
                Ask(_workflow.Text);
            }
        }

        private void Ask(string text)
        {
            var core = _core();
            var json = _workflow.Json;
            if (core == null || json == null)
            {
                return;
            }
            _asked = text;
            IsAsking = true;
            Fault = "";
            var request = new ValidateWorkflow { Workflow = (JObject)JsonText.Parse(JsonText.Compact(json)) };
            core.Request(request, delegate(Reply reply, ParleyException fault)
            {
                IsAsking = false;
                var validation = reply as Validation;
                if (validation != null)
                {
                    _workflow.TakeFindings(text, Findings.Of(validation));
                }
                else
                {
                    Fault = fault == null ? "the sidecar sent no findings" : fault.Message;
                }
                if (Changed != null)
                {
                    Changed();
                }
            });
        }
    }
}
