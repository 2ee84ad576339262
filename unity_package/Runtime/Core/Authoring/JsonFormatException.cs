// Where and why a text is no JSON.
using System;
using System.Globalization;

namespace Parley
{
    /// <summary>A text that is no JSON as workflows need it; the message says where and what.</summary>
    public sealed class JsonFormatException : Exception
    {
        /// <summary>A fault in the text as a whole.</summary>
        public JsonFormatException(string message)
            : base(message)
        {
        }

        /// <summary>A fault at a place, both counted from 1.</summary>
        public JsonFormatException(string message, int line, int column)
            : base("line " + line.ToString(CultureInfo.InvariantCulture) + ", column "
                + column.ToString(CultureInfo.InvariantCulture) + ": " + message)
        {
            Line = line;
            Column = column;
        }

        private JsonFormatException(string message, JsonFormatException inner)
            : base(message, inner)
        {
            Line = inner.Line;
            Column = inner.Column;
        }

        /// <summary>The same fault, saying which file it is in.</summary>
        public JsonFormatException In(string file)
        {
            return new JsonFormatException(file + ": " + Message, this);
        }

        /// <summary>The line, from 1; 0 where the fault has no place.</summary>
        public int Line { get; }

        /// <summary>The column in UTF-16 units, from 1; 0 where the fault has no place.</summary>
        public int Column { get; }
    }
}
