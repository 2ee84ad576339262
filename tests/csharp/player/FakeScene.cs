// What the engine keeps of a scene when scripts are reloaded in the middle of a play: serialized fields, nothing else.
using System;
using System.Collections;
using System.Collections.Generic;
using System.Reflection;
using Newtonsoft.Json.Linq;
using UnityEngine;
using Object = UnityEngine.Object;

namespace PlayerTests
{
    /// <summary>
    /// Which fields the engine keeps when scripts are reloaded: private ones too, unless they are readonly or say that
    /// they are not to be serialized (docs.unity3d.com/2021.3/Documentation/ScriptReference/NonSerialized.html).
    /// </summary>
    internal static class Kept
    {
        internal static IEnumerable<FieldInfo> FieldsOf(Type type)
        {
            for (; type != null && type != typeof(MonoBehaviour) && type != typeof(ScriptableObject) && type != typeof(object); type = type.BaseType)
            {
                foreach (FieldInfo field in type.GetFields(
                    BindingFlags.Instance | BindingFlags.Public | BindingFlags.NonPublic | BindingFlags.DeclaredOnly))
                {
                    if (!field.IsInitOnly && !field.IsNotSerialized)
                    {
                        yield return field;
                    }
                }
            }
        }
    }

    internal sealed class SceneWriter
    {
        private readonly List<Object> _known = new List<Object>();
        private readonly JArray _assets = new JArray();

        internal string Write()
        {
            JArray objects = new JArray();
            foreach (GameObject one in FakeEngine.Scene)
            {
                foreach (Component component in FakeEngine.ComponentsOf(one))
                {
                    _known.Add(component);
                }
            }
            foreach (GameObject one in FakeEngine.Scene)
            {
                JArray components = new JArray();
                foreach (Component component in FakeEngine.ComponentsOf(one))
                {
                    MonoBehaviour script = component as MonoBehaviour;
                    components.Add(new JObject
                    {
                        { "type", component.GetType().AssemblyQualifiedName },
                        { "id", _known.IndexOf(component) },
                        { "enabled", script == null || script.enabled },
                        { "fields", script == null ? new JObject() : Fields(component) },
                    });
                }
                objects.Add(new JObject
                {
                    { "name", one.name },
                    { "active", one.activeSelf },
                    { "kept", FakeEngine.IsKept(one) },
                    { "components", components },
                });
            }
            return new JObject { { "objects", objects }, { "assets", _assets } }.ToString();
        }

        private JObject Fields(object owner)
        {
            JObject fields = new JObject();
            foreach (FieldInfo field in Kept.FieldsOf(owner.GetType()))
            {
                JToken value = Value(field.GetValue(owner));
                if (value != null)
                {
                    fields[field.Name] = value;
                }
            }
            return fields;
        }

        private JToken Value(object value)
        {
            Object one = value as Object;
            if (value is Object)
            {
                return one == null ? null : new JObject { { "ref", Reference(one) } };
            }
            if (value is string || value is bool || value is int || value is long || value is float || value is double)
            {
                return new JValue(value);
            }
            if (value is Enum)
            {
                return new JValue(Convert.ToInt64(value));
            }
            Type type = value == null ? typeof(object) : value.GetType();
            bool isList = type.IsArray || (type.IsGenericType && type.GetGenericTypeDefinition() == typeof(List<>));
            IList list = isList ? (IList)value : null;
            if (list != null)
            {
                JArray items = new JArray();
                foreach (object item in list)
                {
                    items.Add(Value(item) ?? JValue.CreateNull());
                }
                return items;
            }
            bool isPlain = type != typeof(object) && type.IsDefined(typeof(SerializableAttribute), false) && !type.IsGenericType
                && !typeof(Delegate).IsAssignableFrom(type) && !typeof(Exception).IsAssignableFrom(type)
                && !(value is UnityEngine.Events.UnityEventBase);
            return isPlain ? Fields(value) : null;
        }

        private int Reference(Object one)
        {
            int at = _known.IndexOf(one);
            if (at >= 0)
            {
                return at;
            }
            _known.Add(one);
            at = _known.Count - 1;
            _assets.Add(new JObject
            {
                { "type", one.GetType().AssemblyQualifiedName }, { "id", at }, { "name", one.name }, { "fields", Fields(one) },
            });
            return at;
        }
    }

    internal sealed class SceneReader
    {
        private readonly JObject _scene;
        private readonly Dictionary<int, Object> _known = new Dictionary<int, Object>();

        internal SceneReader(JObject scene)
        {
            _scene = scene;
        }

        internal void Read()
        {
            List<KeyValuePair<object, JObject>> later = new List<KeyValuePair<object, JObject>>();
            foreach (JToken item in (JArray)_scene["assets"])
            {
                Object asset = (Object)Activator.CreateInstance(Type.GetType((string)item["type"], true));
                asset.name = (string)item["name"];
                _known[(int)item["id"]] = asset;
                later.Add(new KeyValuePair<object, JObject>(asset, (JObject)item["fields"]));
            }
            foreach (JToken item in (JArray)_scene["objects"])
            {
                GameObject one = new GameObject((string)item["name"]);
                one.SetActive((bool)item["active"]);
                if ((bool)item["kept"])
                {
                    FakeEngine.Keep(one);
                }
                foreach (JToken part in (JArray)item["components"])
                {
                    Type type = Type.GetType((string)part["type"], true);
                    Component component = type == typeof(Transform) ? one.transform : one.AddComponent(type);
                    _known[(int)part["id"]] = component;
                    MonoBehaviour script = component as MonoBehaviour;
                    if (script != null)
                    {
                        script.enabled = (bool)part["enabled"];
                        later.Add(new KeyValuePair<object, JObject>(script, (JObject)part["fields"]));
                    }
                }
            }
            foreach (KeyValuePair<object, JObject> one in later)
            {
                Fill(one.Key, one.Value);
            }
        }

        private void Fill(object owner, JObject fields)
        {
            foreach (FieldInfo field in Kept.FieldsOf(owner.GetType()))
            {
                JToken value = fields[field.Name];
                if (value != null)
                {
                    field.SetValue(owner, Value(value, field.FieldType));
                }
            }
        }

        private object Value(JToken value, Type type)
        {
            if (value.Type == JTokenType.Null)
            {
                return null;
            }
            if (typeof(Object).IsAssignableFrom(type))
            {
                return _known[(int)value["ref"]];
            }
            if (type.IsEnum)
            {
                return Enum.ToObject(type, (long)value);
            }
            if (type == typeof(string) || type.IsPrimitive)
            {
                return value.ToObject(type);
            }
            if (type.IsGenericType && type.GetGenericTypeDefinition() == typeof(List<>))
            {
                IList list = (IList)Activator.CreateInstance(type);
                foreach (JToken item in (JArray)value)
                {
                    list.Add(Value(item, type.GetGenericArguments()[0]));
                }
                return list;
            }
            object made = Activator.CreateInstance(type);
            Fill(made, (JObject)value);
            return made;
        }
    }
}
