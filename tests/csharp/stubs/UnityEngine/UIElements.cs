// UI Toolkit as far as the sample draws with it: a tree of elements, and the texts in it.
// Checked against Unity-Technologies/UnityCsReference: Modules/UIElements/Core/{VisualElement,VisualElementHierarchy,
// VisualElementStyleAccess,TextElement}.cs, Controls/{Label,Button,ScrollView}.cs, Controls/InputField/TextField.cs,
// Events/{EventBase,EventCallback,EventHandler,KeyboardEvents,EventCallbackRegistry}.cs, Style/{IStyle,StyleColor}.cs,
// StyleSheets/{StyleSheet,ThemeStyleSheet}.cs, GameObjects/{UIDocument,PanelSettings}.cs; all of these are in 2021.3 too
// (docs.unity3d.com/2021.3/Documentation/ScriptReference/UIElements.UIDocument.html and its neighbours).
using System;
using System.Collections.Generic;

namespace UnityEngine.UIElements
{
    public class StyleSheet : ScriptableObject
    {
    }

    public class ThemeStyleSheet : StyleSheet
    {
    }

    public struct StyleColor
    {
        public Color value { get; set; }

        public static implicit operator StyleColor(Color v)
        {
            return new StyleColor { value = v };
        }
    }

    public interface IStyle
    {
        StyleColor color { get; set; }
    }

    public struct VisualElementStyleSheetSet
    {
        public void Add(StyleSheet styleSheet)
        {
            if (styleSheet == null)
            {
                throw new ArgumentNullException("styleSheet");
            }
        }
    }

    public enum TrickleDown
    {
        NoTrickleDown = 0,
        TrickleDown = 1
    }

    public delegate void EventCallback<in TEventType>(TEventType evt);

    public abstract class EventBase
    {
        public void StopPropagation()
        {
        }
    }

    public abstract class EventBase<T> : EventBase where T : EventBase<T>, new()
    {
    }

    public class KeyDownEvent : EventBase<KeyDownEvent>
    {
        public KeyCode keyCode { get; internal set; }

        /// <summary>The engine's side: a key is pressed.</summary>
        public static KeyDownEvent Fake(KeyCode code)
        {
            return new KeyDownEvent { keyCode = code };
        }
    }

    public class VisualElement
    {
        private readonly List<VisualElement> _children = new List<VisualElement>();
        private readonly List<string> _classes = new List<string>();
        private readonly List<Delegate> _callbacks = new List<Delegate>();
        private VisualElement _parent;

        private sealed class Style : IStyle
        {
            public StyleColor color { get; set; }
        }

        public VisualElement()
        {
            style = new Style();
        }

        public IStyle style { get; private set; }

        public VisualElementStyleSheetSet styleSheets
        {
            get { return new VisualElementStyleSheetSet(); }
        }

        public void Add(VisualElement child)
        {
            child._parent = this;
            _children.Add(child);
        }

        public void Clear()
        {
            _children.Clear();
        }

        public void RemoveFromHierarchy()
        {
            if (_parent != null)
            {
                _parent._children.Remove(this);
                _parent = null;
            }
        }

        public void AddToClassList(string className)
        {
            _classes.Add(className);
        }

        public virtual void Focus()
        {
        }

        public void RegisterCallback<TEventType>(
            EventCallback<TEventType> callback, TrickleDown useTrickleDown = TrickleDown.NoTrickleDown)
            where TEventType : EventBase<TEventType>, new()
        {
            _callbacks.Add(callback);
        }

        /// <summary>The engine's side: something happens to it.</summary>
        public void FakeSend<TEventType>(TEventType happened)
        {
            foreach (Delegate one in _callbacks.ToArray())
            {
                EventCallback<TEventType> callback = one as EventCallback<TEventType>;
                if (callback != null)
                {
                    callback(happened);
                }
            }
        }

        /// <summary>All elements of a kind below it that have a class.</summary>
        public List<T> FakeQuery<T>(string className) where T : VisualElement
        {
            List<T> found = new List<T>();
            foreach (VisualElement child in _children)
            {
                T one = child as T;
                if (one != null && child._classes.Contains(className))
                {
                    found.Add(one);
                }
                found.AddRange(child.FakeQuery<T>(className));
            }
            return found;
        }
    }

    public class TextElement : VisualElement
    {
        private string _text = "";

        public virtual string text
        {
            get { return _text; }
            set { _text = value ?? ""; }
        }

        public bool enableRichText { get; set; }
    }

    public class Label : TextElement
    {
    }

    public class Button : TextElement
    {
        private readonly Action _clicked;

        public Button(Action clickEvent)
        {
            _clicked = clickEvent;
        }

        public void FakeClick()
        {
            _clicked();
        }
    }

    public class TextField : VisualElement
    {
        private string _value = "";

        public virtual string value
        {
            get { return _value; }
            set { _value = value ?? ""; }
        }
    }

    public class ScrollView : VisualElement
    {
        public void ScrollTo(VisualElement child)
        {
        }
    }

    public enum PanelScaleMode
    {
        ConstantPixelSize,
        ConstantPhysicalSize,
        ScaleWithScreenSize
    }

    public class PanelSettings : ScriptableObject
    {
        public ThemeStyleSheet themeStyleSheet { get; set; }

        public PanelScaleMode scaleMode { get; set; }

        public Vector2Int referenceResolution { get; set; }
    }

    [DefaultExecutionOrder(-100)]
    public sealed class UIDocument : MonoBehaviour
    {
        private VisualElement _root;

        public PanelSettings panelSettings { get; set; }

        /// <summary>Null while it is disabled.</summary>
        public VisualElement rootVisualElement
        {
            get { return _root; }
        }

        private void OnEnable()
        {
            _root = new VisualElement();
        }

        private void OnDisable()
        {
            _root = null;
        }
    }
}

namespace UnityEngine.SceneManagement
{
    /// <summary>Runtime/Export/SceneManager/Scene.cs</summary>
    public struct Scene
    {
        public string path { get; set; }
    }
}
