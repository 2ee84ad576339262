// What all node types have in common.
using System;
using Newtonsoft.Json.Linq;

namespace Parley.Nodes
{
    /// <summary>
    /// Something in a workflow that is written back as it was read: fields in their order, those that are not known
    /// here too, numbers as they were spelled; only what has changed is changed. Threading: one thread at a time.
    /// </summary>
    public abstract class NodePart
    {
        [NonSerialized]
        private JObject _read;

        /// <summary>
        /// The JSON of the workflow file, which shares nothing with this object. A field that was not there and has
        /// its default is left out.
        /// </summary>
        public abstract JObject ToJson();

        internal virtual void Start(JObject json)
        {
            _read = (JObject)JsonText.Copy(json);
        }

        internal virtual JObject Begin()
        {
            return _read == null ? new JObject() : (JObject)JsonText.Copy(_read);
        }

        /// <summary>
        /// Writes a field, unless it is there with this value, or not there with its default. Without a value it goes.
        /// </summary>
        internal static void Keep(JObject json, string name, JToken value, bool isDefault)
        {
            JToken there;
            if (!json.TryGetValue(name, out there))
            {
                if (!isDefault)
                {
                    json.Add(name, value);
                }
            }
            else if (value == null)
            {
                if (there.Type != JTokenType.Null)
                {
                    json.Remove(name);
                }
            }
            else if (!IsSame(there, value))
            {
                json[name] = value;
            }
        }

        private static bool IsSame(JToken there, JToken value)
        {
            if (value.Type == JTokenType.Float && there.Type == JTokenType.Integer)
            {
                return JsonRead.Number(there).Equals((double)((JValue)value).Value);
            }
            return JToken.DeepEquals(there, value);
        }
    }

    /// <summary>One node of a workflow.</summary>
    public abstract class Node : NodePart
    {
        /// <summary>The node's name; other nodes and the game know it by this.</summary>
        [NodeName, Fixed]
        public string Name = "";

        /// <summary>The <c>type</c> in workflow files.</summary>
        public abstract string TypeName { get; }

        internal override void Start(JObject json)
        {
            base.Start(json);
            var type = JsonRead.Field(json, "type");
            if (!string.Equals(JsonRead.Text(type), TypeName, StringComparison.Ordinal))
            {
                throw JsonRead.UnknownWord(type, "'" + TypeName + "'");
            }
            JToken name;
            if (json.TryGetValue("name", out name))
            {
                Name = JsonRead.Text(name);
            }
        }

        internal override JObject Begin()
        {
            var json = base.Begin();
            Keep(json, "name", JsonWrite.Text(Name), false);
            Keep(json, "type", JsonWrite.Text(TypeName), false);
            return json;
        }
    }
}
