// JSON besides workflows, for which JsonText is: catalogs, markers, what was staged, a copied turn.
using System;
using System.Collections.Generic;
using System.Globalization;
using System.IO;
using Newtonsoft.Json;
using Newtonsoft.Json.Linq;

namespace Parley.Editor
{
    /// <summary>Reads and shows JSON without reflection, dates left as texts.</summary>
    public static class EditorJson
    {
        private const int MaxDepth = Protocol.MaxJsonDepth;

        /// <summary>The object in a text; null, with the reason, where there is none.</summary>
        public static JObject ParseObject(string text, out string fault)
        {
            fault = null;
            try
            {
                using (var reader = new JsonTextReader(new StringReader(text ?? "")))
                {
                    reader.MaxDepth = MaxDepth;
                    reader.DateParseHandling = DateParseHandling.None;
                    reader.FloatParseHandling = FloatParseHandling.Double;
                    var found = JToken.ReadFrom(reader) as JObject;
                    if (found == null)
                    {
                        fault = "it is no JSON object";
                    }
                    return found;
                }
            }
            catch (Exception error)
            {
                // Besides JsonException the reader lets out what it stumbles over itself, such as OverflowException.
                fault = "it is no JSON: " + error.Message;
                return null;
            }
        }

        /// <summary>The object in a file; null, with the reason, where there is none.</summary>
        public static JObject ReadObject(string path, out string fault)
        {
            string text;
            try
            {
                text = File.ReadAllText(path);
            }
            catch (Exception error)
            {
                if (error is IOException || error is UnauthorizedAccessException || error is ArgumentException || error is NotSupportedException)
                {
                    fault = error.Message;
                    return null;
                }
                throw;
            }
            return ParseObject(text, out fault);
        }

        /// <summary>A field's text; empty where it is missing or something else.</summary>
        public static string Text(JObject json, string field)
        {
            JToken value;
            return json != null && json.TryGetValue(field, out value) && value.Type == JTokenType.String ? (string)value : "";
        }

        /// <summary>A field's object; null where it is missing or something else.</summary>
        public static JObject Object(JObject json, string field)
        {
            JToken value;
            return json != null && json.TryGetValue(field, out value) ? value as JObject : null;
        }

        /// <summary>The items of a field that is a list; none where it is missing or something else.</summary>
        public static IEnumerable<JToken> Items(JObject json, string field)
        {
            JToken value;
            var list = json != null && json.TryGetValue(field, out value) ? value as JArray : null;
            return list == null ? new List<JToken>() : (IEnumerable<JToken>)list;
        }

        /// <summary>The texts of a field that is a list of them; what is no text is left out.</summary>
        public static IEnumerable<string> Texts(JObject json, string field)
        {
            foreach (var item in Items(json, field))
            {
                if (item.Type == JTokenType.String)
                {
                    yield return (string)item;
                }
            }
        }

        /// <summary>A field's number; 0 where it is missing or something else.</summary>
        public static double Number(JObject json, string field)
        {
            JToken value;
            if (json == null || !json.TryGetValue(field, out value))
            {
                return 0;
            }
            return value.Type == JTokenType.Integer || value.Type == JTokenType.Float
                ? Convert.ToDouble(((JValue)value).Value, CultureInfo.InvariantCulture)
                : 0;
        }

        /// <summary>Bytes as people read them.</summary>
        public static string Bytes(long bytes)
        {
            if (bytes < 1024)
            {
                return bytes.ToString(CultureInfo.InvariantCulture) + " B";
            }
            string[] units = { "KiB", "MiB", "GiB", "TiB" };
            double size = bytes;
            var unit = -1;
            while (size >= 1024 && unit < units.Length - 1)
            {
                size /= 1024;
                unit++;
            }
            return size.ToString("0.0", CultureInfo.InvariantCulture) + " " + units[unit];
        }
    }
}
