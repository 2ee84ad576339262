// Object, GameObject, components and assets as the package uses them. Created, enabled and destroyed in the engine's
// order (docs.unity3d.com/Manual/ExecutionOrder.html); FakePlayerLoop makes the frames.
// Checked against Unity-Technologies/UnityCsReference: Runtime/Export/Scripting/{UnityEngineObject,GameObject,Component,
// Behaviour,MonoBehaviour,ScriptableObject}.bindings.cs, Runtime/Transform/ScriptBindings/Transform.bindings.cs
using System;
using System.Collections.Generic;

namespace UnityEngine
{
    [Flags]
    public enum HideFlags
    {
        None = 0,
        HideInHierarchy = 1,
        HideInInspector = 2,
        DontSaveInEditor = 4,
        NotEditable = 8,
        DontSaveInBuild = 16,
        DontUnloadUnusedAsset = 32,
        DontSave = 52,
        HideAndDontSave = 61
    }

    /// <summary>Runtime/Export/Scripting/StackTrace.cs; what the editor throws where a player throws NullReferenceException.</summary>
    public class MissingReferenceException : SystemException
    {
        public MissingReferenceException(string message)
            : base(message)
        {
        }
    }

    public partial class Object
    {
        internal bool IsDestroyed;
        private string _name = "";
        private HideFlags _hideFlags;

        public string name
        {
            get { Living(); return _name; }
            set { Living(); _name = value; }
        }

        public HideFlags hideFlags
        {
            get { Living(); return _hideFlags; }
            set { Living(); _hideFlags = value; }
        }

        /// <summary>Whatever the engine itself keeps of an object is gone with it; fields of a script are not.</summary>
        internal void Living()
        {
            if (IsDestroyed)
            {
                throw new MissingReferenceException(
                    "The object of type '" + GetType().Name + "' has been destroyed but you are still trying to access it.");
            }
        }

        public static void Destroy(Object obj)
        {
            FakeEngine.MainThreadOnly("Destroy");
            if (!FakeEngine.IsPlaying)
            {
                Debug.LogError("Destroy may not be called from edit mode! Use DestroyImmediate instead.");
                return;
            }
            FakeEngine.DestroyLater(obj);
        }

        public static void DestroyImmediate(Object obj)
        {
            FakeEngine.MainThreadOnly("DestroyImmediate");
            FakeEngine.DestroyNow(obj);
        }

        public static void DontDestroyOnLoad(Object target)
        {
            FakeEngine.MainThreadOnly("DontDestroyOnLoad");
            if (!FakeEngine.IsPlaying)
            {
                throw new InvalidOperationException("DontDestroyOnLoad can only be used in play mode");
            }
            GameObject owner = target as GameObject;
            if (owner == null)
            {
                owner = ((Component)target).gameObject;
            }
            if (owner.transform.parent != null)
            {
                Debug.LogWarning("DontDestroyOnLoad only works for root GameObjects");
                return;
            }
            owner.IsKept = true;
        }

        public static T Instantiate<T>(T original) where T : Object
        {
            return Instantiate(original, null);
        }

        /// <summary>All of its GameObject is copied, whichever part of it is given.</summary>
        public static T Instantiate<T>(T original, Transform parent) where T : Object
        {
            FakeEngine.MainThreadOnly("Instantiate");
            return (T)FakeCopy.Of(original, parent);
        }

        public static implicit operator bool(Object exists)
        {
            return exists != null;
        }

        public static bool operator ==(Object x, Object y)
        {
            bool noX = ReferenceEquals(x, null) || x.IsDestroyed;
            bool noY = ReferenceEquals(y, null) || y.IsDestroyed;
            return noX || noY ? noX && noY : ReferenceEquals(x, y);
        }

        public static bool operator !=(Object x, Object y)
        {
            return !(x == y);
        }

        public override bool Equals(object other)
        {
            return this == other as Object;
        }

        public override int GetHashCode()
        {
            return System.Runtime.CompilerServices.RuntimeHelpers.GetHashCode(this);
        }

        public override string ToString()
        {
            return IsDestroyed ? "null" : name + " (" + GetType().FullName + ")";
        }
    }

    public sealed partial class GameObject : Object
    {
        internal readonly List<Component> Components = new List<Component>();
        internal bool IsKept;
        private bool _activeSelf = true;

        public GameObject()
            : this("New Game Object")
        {
        }

        public GameObject(string name)
        {
            FakeEngine.MainThreadOnly("GameObject..ctor");
            this.name = name;
            FakeEngine.Scene.Add(this);
            transform = (Transform)AddComponent(typeof(Transform));
        }

        public Transform transform { get; private set; }

        public GameObject gameObject
        {
            get { return this; }
        }

        public bool activeSelf
        {
            get { Living(); return _activeSelf; }
        }

        public bool activeInHierarchy
        {
            get { Living(); return _activeSelf && (transform == null || transform.parent == null
                                         || transform.parent.gameObject.activeInHierarchy); }
        }

        public void SetActive(bool value)
        {
            FakeEngine.MainThreadOnly("SetActive");
            Living();
            _activeSelf = value;
            FakeEngine.Follow(this);
        }

        public Component AddComponent(Type componentType)
        {
            FakeEngine.MainThreadOnly("AddComponent");
            Living();
            foreach (RequireComponent needed in componentType.GetCustomAttributes(typeof(RequireComponent), true))
            {
                if (GetComponent(needed.m_Type0) == null)
                {
                    AddComponent(needed.m_Type0);
                }
            }
            Component made = (Component)Activator.CreateInstance(componentType);
            made.name = name;
            made.Owner = this;
            Components.Add(made);
            FakeEngine.Added(made);
            return made;
        }

        public T AddComponent<T>() where T : Component
        {
            return (T)AddComponent(typeof(T));
        }

        public Component GetComponent(Type type)
        {
            Living();
            foreach (Component component in Components)
            {
                if (type.IsInstanceOfType(component) && !component.IsDestroyed)
                {
                    return component;
                }
            }
            return null;
        }

        public T GetComponent<T>()
        {
            return (T)(object)GetComponent(typeof(T));
        }
    }

    public partial class Component : Object
    {
        internal GameObject Owner;

        public GameObject gameObject
        {
            get { Living(); return Owner; }
        }

        public Transform transform
        {
            get { Living(); return Owner.transform; }
        }

        public T GetComponent<T>()
        {
            Living();
            return Owner.GetComponent<T>();
        }
    }

    public partial class Transform : Component
    {
        public Transform parent { get; set; }

        public void SetParent(Transform parent, bool worldPositionStays)
        {
            this.parent = parent;
        }
    }

    public partial class Renderer : Component
    {
    }

    /// <summary>docs.unity3d.com/2023.2/Documentation/ScriptReference/SkinnedMeshRenderer.SetBlendShapeWeight.html</summary>
    public partial class SkinnedMeshRenderer : Renderer
    {
        public void SetBlendShapeWeight(int index, float value)
        {
            Living();
        }
    }

    public partial class Behaviour : Component
    {
        private bool _enabled = true;

        public bool enabled
        {
            get
            {
                Living();
                return _enabled;
            }
            set
            {
                FakeEngine.MainThreadOnly("set_enabled");
                Living();
                _enabled = value;
                FakeEngine.Follow(this);
            }
        }

        public bool isActiveAndEnabled
        {
            get { Living(); return IsOn; }
        }

        internal bool IsOn
        {
            get { return _enabled && Owner != null && Owner.activeInHierarchy && !IsDestroyed; }
        }

        /// <summary>It is on or off now.</summary>
        internal virtual void Switched()
        {
        }
    }

    public partial class MonoBehaviour : Behaviour
    {
        internal FakeMessages Messages;
    }

    public partial class ScriptableObject : Object
    {
        public static T CreateInstance<T>() where T : ScriptableObject
        {
            FakeEngine.MainThreadOnly("CreateInstance");
            T made = Activator.CreateInstance<T>();
            made.name = "";
            FakeMessages.Call(made, "Awake");
            FakeMessages.Call(made, "OnEnable");
            return made;
        }
    }
}
