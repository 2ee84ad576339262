// Places inside a workflow's JSON, as field names and indexes from its root.
using System;
using Newtonsoft.Json.Linq;

namespace Parley.Editor
{
    /// <summary>Finds and fills places.</summary>
    internal static class JsonPlaces
    {
        public static JToken Child(JToken parent, object step)
        {
            var members = parent as JObject;
            var items = parent as JArray;
            if (members != null && step is string)
            {
                return members[(string)step];
            }
            return items != null && step is int && (int)step >= 0 && (int)step < items.Count ? items[(int)step] : null;
        }

        public static void Put(JToken parent, object step, JToken value)
        {
            var members = parent as JObject;
            var items = parent as JArray;
            if (members != null && step is string)
            {
                var field = (string)step;
                var property = members.Property(field);
                if (property != null)
                {
                    property.Value = value;
                    return;
                }
                var exit = IsExit(field) || members["type"] == null ? null : FirstExit(members);
                if (exit == null)
                {
                    members.Add(field, value);
                }
                else
                {
                    exit.AddBeforeSelf(new JProperty(field, value)); // exits stay last, where people look for them
                }
            }
            else if (items != null && step is int && (int)step >= 0 && (int)step <= items.Count)
            {
                if ((int)step == items.Count)
                {
                    items.Add(value);
                }
                else
                {
                    items[(int)step] = value;
                }
            }
            else
            {
                throw new AuthoringException(
                    AuthoringReason.NotAWorkflow, "There is no place for '" + step + "' in what is stored there; correct that first.");
            }
        }

        private static JProperty FirstExit(JObject node)
        {
            foreach (var property in node.Properties())
            {
                if (IsExit(property.Name))
                {
                    return property;
                }
            }
            return null;
        }

        public static JToken At(JToken root, object[] steps)
        {
            foreach (var step in steps)
            {
                root = Child(root, step);
            }
            return root;
        }

        private static bool IsExit(string field)
        {
            return field.EndsWith("_exit", StringComparison.Ordinal);
        }
    }
}
