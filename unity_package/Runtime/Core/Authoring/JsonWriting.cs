// The writer behind JsonText.
using System.Text;
using Newtonsoft.Json.Linq;

namespace Parley
{
    /// <summary>One writing of a JSON value, laid out as it was read; what is new is laid out like its neighbours.
    /// </summary>
    internal sealed class JsonWriting
    {
        private readonly StringBuilder _out = new StringBuilder();
        private readonly bool _compact;
        private readonly string _newLine;
        private readonly string _step;
        private readonly string _colon;
        private string _indent = "";
        private int _depth;

        /// <summary>Compact: on one line, without any white space. Else new containers go over several lines, each step
        /// of indentation being `step`.</summary>
        public JsonWriting(bool compact, string newLine, string step, string colon)
        {
            _compact = compact;
            _newLine = newLine;
            _step = step;
            _colon = colon;
        }

        public string Text
        {
            get { return _out.ToString(); }
        }

        /// <summary>Appends a value. Flat: on the line that it begins on, unless it was read from several.</summary>
        public void Value(JToken token, bool flat)
        {
            var members = token as JObject;
            var items = token as JArray;
            var value = token as JValue;
            if (members != null)
            {
                var laid = token as LaidObject;
                Container(members, laid == null ? null : laid.Gaps, '{', '}', flat);
            }
            else if (items != null)
            {
                var laid = token as LaidArray;
                Container(items, laid == null ? null : laid.Gaps, '[', ']', flat);
            }
            else if (value != null)
            {
                var spelled = token as SpelledValue;
                bool keeps = spelled != null && spelled.Spelling != null && spelled.IsUnchanged;
                _out.Append(keeps ? spelled.Spelling : JsonText.Spell(value));
            }
            else
            {
                throw new JsonFormatException("a " + token.Type + " cannot stand in JSON");
            }
        }

        private void Container(JContainer container, JsonGaps gaps, char opening, char closing, bool flat)
        {
            if (++_depth > JsonText.MaxDepth)
            {
                throw JsonText.TooDeep();
            }
            bool keeps = gaps != null && gaps.Open != null && !_compact;
            string outer = _indent;
            string line = flat || _compact ? "" : _newLine + outer;
            string open = keeps ? gaps.Open : flat || _compact ? "" : line + _step;
            string between = keeps ? gaps.Between : _compact ? "" : flat ? " " : open;
            bool flatInside = keeps ? open.IndexOf('\n') < 0 && between.IndexOf('\n') < 0 : flat;
            _out.Append(opening);
            bool first = true;
            foreach (JToken child in container.Children())
            {
                if (!first)
                {
                    _out.Append(',');
                }
                Gap(first ? open : (_compact ? null : BeforeOf(child)) ?? between);
                var property = child as JProperty;
                if (property != null)
                {
                    var laid = child as LaidProperty;
                    _out.Append(laid == null ? JsonText.Quoted(property.Name) : laid.Spelling);
                    _out.Append(_compact ? ":" : laid == null ? _colon : laid.Colon);
                    Value(property.Value, flatInside);
                }
                else
                {
                    Value(child, flatInside);
                }
                first = false;
            }
            if (!first)
            {
                Gap(keeps ? gaps.Close : line);
            }
            else if (gaps != null && !_compact)
            {
                Gap(gaps.Open == null ? gaps.Close : "");
            }
            _out.Append(closing);
            _indent = outer;
            _depth--;
        }

        private void Gap(string white)
        {
            _out.Append(white);
            int line = white.LastIndexOf('\n');
            if (line >= 0)
            {
                _indent = white.Substring(line + 1);
            }
        }

        private static string BeforeOf(JToken child)
        {
            var property = child as LaidProperty;
            var value = child as SpelledValue;
            var members = child as LaidObject;
            var items = child as LaidArray;
            return property != null ? property.Before
                : value != null ? value.Before
                : members != null ? members.Before
                : items != null ? items.Before : null;
        }
    }
}
