// What the player sees of the tavern: who says what, a line to type, and how it stands with the sidecar.
using System;
using System.Collections.Generic;
using UnityEngine;
using UnityEngine.UIElements;

namespace Parley.Samples.Tavern
{
    /// <summary>Draws a DialogueView with UI Toolkit, which every Unity from 2021.3 on has built in.</summary>
    [AddComponentMenu("Parley/Samples/Tavern Screen")]
    [RequireComponent(typeof(UIDocument))]
    public sealed class TavernScreen : MonoBehaviour
    {
        [SerializeField]
        private ParleyAgent agent = null;

        [SerializeField]
        private DialogueView view = null;

        [SerializeField]
        private StyleSheet style = null;

        private readonly Dictionary<int, Label> _texts = new Dictionary<int, Label>();
        private readonly Dictionary<int, VisualElement> _rows = new Dictionary<int, VisualElement>();
        [NonSerialized]
        private ScrollView _lines;
        [NonSerialized]
        private TextField _input;
        [NonSerialized]
        private Label _status;
        [NonSerialized]
        private ParleyHub _hub;

        /// <summary>Sets what it shows; for scripts that build scenes.</summary>
        public void Show(ParleyAgent whose, DialogueView lines, StyleSheet look)
        {
            agent = whose;
            view = lines;
            style = look;
        }

        private void OnEnable()
        {
            if (agent == null || view == null)
            {
                Debug.LogError("The Tavern Screen on '" + name + "' needs an agent and a dialogue view; set both.", this);
                enabled = false;
                return;
            }
            Build(GetComponent<UIDocument>().rootVisualElement);
            view.LineBegan += Begin;
            view.LineChanged += Change;
            view.LineDone += Change;
            view.LineDropped += Drop;
            agent.Failed += Fail;
            foreach (DialogueLine line in view.Lines)
            {
                if (line.Shown.Length > 0)
                {
                    Begin(line);
                }
            }
            Watch();
        }

        private void OnDisable()
        {
            if (_lines == null)
            {
                return;
            }
            _lines = null;
            view.LineBegan -= Begin;
            view.LineChanged -= Change;
            view.LineDone -= Change;
            view.LineDropped -= Drop;
            agent.Failed -= Fail;
            if (_hub != null)
            {
                _hub.OnReady.RemoveListener(Ready);
                _hub.OnLost.RemoveListener(Lost);
                _hub = null;
            }
        }

        /// <summary>Here rather than in Start, which does not come again after a reload of the scripts.</summary>
        private void Watch()
        {
            _hub = ParleyHub.Get();
            if (_hub == null)
            {
                return;
            }
            _hub.OnReady.AddListener(Ready);
            _hub.OnLost.AddListener(Lost);
            _status.text = _hub.State == CoreState.Ready ? "" : "The sidecar is starting…";
        }

        private void Build(VisualElement root)
        {
            root.Clear();
            if (style != null)
            {
                root.styleSheets.Add(style);
            }
            root.AddToClassList("tavern");
            _texts.Clear();
            _rows.Clear();
            _lines = new ScrollView();
            _lines.AddToClassList("tavern__lines");
            root.Add(_lines);
            _status = NewLabel("tavern__status");
            root.Add(_status);
            VisualElement row = new VisualElement();
            row.AddToClassList("tavern__row");
            _input = new TextField();
            _input.AddToClassList("tavern__input");
            _input.RegisterCallback<KeyDownEvent>(TakeKey, TrickleDown.TrickleDown);
            row.Add(_input);
            row.Add(NewButton("Say", Say));
            row.Add(NewButton("Skip", view.Skip));
            row.Add(NewButton("Cancel", agent.Cancel));
            root.Add(row);
        }

        private static Label NewLabel(string look)
        {
            Label label = new Label();
            // What a model writes is text, whatever it looks like.
            label.enableRichText = false;
            label.AddToClassList(look);
            return label;
        }

        private static Button NewButton(string text, System.Action pressed)
        {
            Button button = new Button(pressed);
            button.text = text;
            button.AddToClassList("tavern__button");
            return button;
        }

        private void TakeKey(KeyDownEvent pressed)
        {
            if (pressed.keyCode == KeyCode.Return || pressed.keyCode == KeyCode.KeypadEnter)
            {
                pressed.StopPropagation();
                Say();
            }
        }

        private void Say()
        {
            string line = _input.value.Trim();
            if (line.Length == 0)
            {
                view.Skip();
                return;
            }
            view.SkipToEnd();
            _status.text = "";
            SayOutcome outcome = agent.TrySay(line);
            if (outcome == SayOutcome.Sent || outcome == SayOutcome.Queued)
            {
                _input.value = "";
            }
            else if (outcome == SayOutcome.Busy)
            {
                _status.text = "One after the other, please.";
            }
            _input.Focus();
        }

        private void Begin(DialogueLine line)
        {
            VisualElement row = new VisualElement();
            row.AddToClassList("tavern__line");
            DialogueSpeaker speaker = view.SpeakerOf(line);
            Label heading = NewLabel("tavern__name");
            heading.text = view.NameOf(line);
            if (speaker != null)
            {
                heading.style.color = speaker.Colour;
                if (speaker.IsNarrator)
                {
                    row.AddToClassList("tavern__line--narrator");
                    heading.text = "";
                }
            }
            Label text = NewLabel("tavern__text");
            text.text = line.Shown;
            row.Add(heading);
            row.Add(text);
            _lines.Add(row);
            _texts[line.Number] = text;
            _rows[line.Number] = row;
            _lines.ScrollTo(row);
        }

        private void Change(DialogueLine line)
        {
            Label text;
            if (_texts.TryGetValue(line.Number, out text))
            {
                text.text = line.Shown;
                _lines.ScrollTo(_rows[line.Number]);
            }
        }

        private void Drop(DialogueLine line)
        {
            VisualElement row;
            if (_rows.TryGetValue(line.Number, out row))
            {
                row.RemoveFromHierarchy();
                _rows.Remove(line.Number);
                _texts.Remove(line.Number);
            }
        }

        private void Ready()
        {
            _status.text = "";
        }

        private void Lost(string why)
        {
            _status.text = "One moment: the sidecar is being started again.";
        }

        private void Fail(ParleyException fault)
        {
            _status.text = fault.Message;
        }
    }
}
