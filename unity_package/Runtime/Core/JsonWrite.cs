// How generated messages and nodes become JSON.
using System;
using System.Collections.Generic;
using System.Globalization;
using Newtonsoft.Json.Linq;

namespace Parley
{
    /// <summary>Typed values into JSON. What is null where there must be something is written as empty.</summary>
    public static class JsonWrite
    {
        /// <summary>A text; null is the empty one.</summary>
        public static JValue Text(string text)
        {
            return new JValue(text ?? "");
        }

        /// <summary>True or false.</summary>
        public static JValue Boolean(bool value)
        {
            return new JValue(value);
        }

        /// <summary>A whole number.</summary>
        public static JValue Integer(long number)
        {
            return new JValue(number);
        }

        /// <summary>A whole number.</summary>
        public static JValue Integer(ulong number)
        {
            if (number <= long.MaxValue)
            {
                return new JValue((long)number);
            }
            // Older Newtonsofts cannot write a ulong beyond long. What they parse they can write.
            return (JValue)JToken.Parse(number.ToString(CultureInfo.InvariantCulture));
        }

        /// <summary>Throws ArgumentException for what JSON has no form for.</summary>
        public static JValue Number(double number)
        {
            if (double.IsNaN(number) || double.IsInfinity(number))
            {
                throw new ArgumentException("JSON has no form for a number that is not finite");
            }
            return new JValue(number);
        }

        /// <summary>A copy: a token belongs to one tree.</summary>
        public static JToken Copy(JToken json)
        {
            return json == null ? JValue.CreateNull() : json.DeepClone();
        }

        /// <summary>A copy; null is the empty object.</summary>
        public static JObject Object(JObject json)
        {
            return json == null ? new JObject() : (JObject)json.DeepClone();
        }

        /// <summary>A list; null is the empty one.</summary>
        public static JArray List<T>(List<T> list, Func<T, JToken> write)
        {
            var array = new JArray();
            if (list != null)
            {
                foreach (var item in list)
                {
                    array.Add(write(item));
                }
            }
            return array;
        }

        /// <summary>An object; null is the empty one.</summary>
        public static JObject Map<T>(Dictionary<string, T> map, Func<T, JToken> write)
        {
            var json = new JObject();
            if (map != null)
            {
                foreach (var pair in map)
                {
                    json.Add(pair.Key, write(pair.Value));
                }
            }
            return json;
        }
    }
}
