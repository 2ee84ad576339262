// Tokens of JSON that remember how they were written.
using Newtonsoft.Json;
using Newtonsoft.Json.Linq;

namespace Parley
{
    /// <summary>How a value or container stood in its file; all of it is white space but where said otherwise.</summary>
    internal sealed class JsonGaps
    {
        /// <summary>Behind the opening bracket; null in a container that had nothing in it.</summary>
        public string Open;

        /// <summary>Behind the comma, for what has no gap of its own.</summary>
        public string Between;

        /// <summary>Before the closing bracket.</summary>
        public string Close = "";
    }

    /// <summary>A number or text that keeps its spelling for as long as its value is not changed.</summary>
    internal sealed class SpelledValue : JValue
    {
        private readonly object _spelled;

        public SpelledValue(JValue value, string spelling, string before)
            : base(value)
        {
            Spelling = spelling;
            Before = before;
            _spelled = value.Value;
        }

        /// <summary>The JSON text; null: that of the value.</summary>
        public string Spelling { get; }

        /// <summary>White space before it; null: as its container has it.</summary>
        public string Before { get; }

        public bool IsUnchanged
        {
            get { return Equals(Value, _spelled); }
        }

        public override void WriteTo(JsonWriter writer, params JsonConverter[] converters)
        {
            if (Spelling != null && IsUnchanged && writer is JsonTextWriter)
            {
                writer.WriteRawValue(Spelling);
            }
            else
            {
                base.WriteTo(writer, converters);
            }
        }
    }

    /// <summary>A field with the white space around its name.</summary>
    internal sealed class LaidProperty : JProperty
    {
        public LaidProperty(string name, JToken value, string spelling, string before, string colon)
            : base(name, value)
        {
            Spelling = spelling;
            Before = before;
            Colon = colon;
        }

        /// <summary>The name as JSON.</summary>
        public string Spelling { get; }

        /// <summary>White space before it; null: as its object has it.</summary>
        public string Before { get; }

        /// <summary>The colon with the white space around it.</summary>
        public string Colon { get; }
    }

    /// <summary>An object that knows how it stood in its file.</summary>
    internal sealed class LaidObject : JObject
    {
        public readonly JsonGaps Gaps = new JsonGaps();

        /// <summary>White space before it, in an array; null: as the array has it.</summary>
        public string Before;
    }

    /// <summary>An array that knows how it stood in its file.</summary>
    internal sealed class LaidArray : JArray
    {
        public readonly JsonGaps Gaps = new JsonGaps();

        /// <summary>White space before it, in an array; null: as the outer one has it.</summary>
        public string Before;
    }
}
