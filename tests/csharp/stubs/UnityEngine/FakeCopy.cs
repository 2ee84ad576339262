// What Instantiate makes: a copy of a GameObject with its scripts' serialized fields. No part of Unity's API.
using System;
using System.Collections;
using System.Collections.Generic;
using System.Reflection;

namespace UnityEngine
{
    /// <summary>Copies as the serializer does: fields that it keeps, and nothing else; references within stay within.</summary>
    internal static class FakeCopy
    {
        internal static Object Of(Object original, Transform parent)
        {
            Component part = original as Component;
            GameObject from = part == null ? (GameObject)original : part.gameObject;
            GameObject copy = new GameObject(from.name + "(Clone)");
            // Nothing is awake before all of it is there.
            copy.SetActive(false);
            copy.transform.parent = parent;
            Dictionary<Object, Object> made = new Dictionary<Object, Object>();
            made[from] = copy;
            foreach (Component component in from.Components)
            {
                Transform place = component as Transform;
                made[component] = place != null ? copy.transform : copy.AddComponent(component.GetType());
                Behaviour behaviour = component as Behaviour;
                if (behaviour != null)
                {
                    ((Behaviour)made[component]).enabled = behaviour.enabled;
                }
            }
            foreach (KeyValuePair<Object, Object> pair in made)
            {
                if (pair.Key is MonoBehaviour)
                {
                    Fields(pair.Key, pair.Value, made);
                }
            }
            copy.SetActive(from.activeSelf);
            return made[original];
        }

        private static void Fields(object from, object into, Dictionary<Object, Object> made)
        {
            for (Type type = from.GetType(); type != typeof(MonoBehaviour) && type != typeof(object); type = type.BaseType)
            {
                foreach (FieldInfo field in type.GetFields(
                    BindingFlags.Instance | BindingFlags.Public | BindingFlags.NonPublic | BindingFlags.DeclaredOnly))
                {
                    bool isKept = field.IsPublic
                        ? !field.IsInitOnly && !field.IsDefined(typeof(NonSerializedAttribute), false)
                        : field.IsDefined(typeof(SerializeField), false);
                    if (isKept && !typeof(Events.UnityEventBase).IsAssignableFrom(field.FieldType))
                    {
                        field.SetValue(into, Value(field.GetValue(from), made));
                    }
                }
            }
        }

        private static object Value(object value, Dictionary<Object, Object> made)
        {
            Object one = value as Object;
            if (!ReferenceEquals(one, null))
            {
                Object copy;
                return made.TryGetValue(one, out copy) ? copy : one;
            }
            if (value == null || value is string || value.GetType().IsValueType)
            {
                return value;
            }
            IList list = value as IList;
            if (list != null && !value.GetType().IsArray)
            {
                IList items = (IList)Activator.CreateInstance(value.GetType());
                foreach (object item in list)
                {
                    items.Add(Value(item, made));
                }
                return items;
            }
            object plain = Activator.CreateInstance(value.GetType());
            Fields(value, plain, made);
            return plain;
        }
    }
}
