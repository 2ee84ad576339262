// A workflow's file, whose bytes stay where nobody edits.
using System;
using System.Globalization;
using System.IO;
using System.Text;
using Newtonsoft.Json.Linq;

namespace Parley
{
    /// <summary>A .workflow.json file: what is not edited comes back to the byte, and an edit leaves its neighbours as
    /// they stood.</summary>
    /// <remarks>Byte order mark, line ends, indentation, the order of fields, unknown fields and the spelling of numbers
    /// and texts are the file's own; what is new is laid out like what is beside it. See JsonText for how.</remarks>
    public sealed class WorkflowDocument
    {
        /// <summary>The largest file, in bytes: what a sidecar takes in one message unless it is told otherwise.</summary>
        public const int MaxBytes = Protocol.MaxJsonBytes;

        private static readonly UTF8Encoding Utf8 = new UTF8Encoding(false, true);

        private string _prefix = "";
        private string _suffix = "\n";
        private string _newLine = "\n";
        private string _step = "  ";
        private string _colon = ": ";
        private bool _hasMark;
        private string _original;
        private string _written;

        private WorkflowDocument(JObject root)
        {
            Root = root;
        }

        /// <summary>The workflow. Replace it by what an edit returned, or change it in place.</summary>
        public JObject Root { get; set; }

        /// <summary>A document for a workflow that was in no file yet; it will be indented by two blanks.</summary>
        public static WorkflowDocument Create(JObject root)
        {
            return new WorkflowDocument(root);
        }

        /// <summary>Reads a file's text. JsonFormatException says what is wrong and where.</summary>
        public static WorkflowDocument Parse(string text)
        {
            bool hasMark = text.Length > 0 && text[0] == '\ufeff';
            string json = hasMark ? text.Substring(1) : text;
            var reading = new JsonReading(json);
            JToken value = reading.Read();
            var root = value as JObject;
            if (root == null)
            {
                throw new JsonFormatException(
                    "a workflow is a JSON object, in { }; this is " + (value is JArray ? "a list" : JsonText.Shown(value)));
            }
            var document = new WorkflowDocument(root)
            {
                _hasMark = hasMark,
                _prefix = reading.Prefix,
                _suffix = reading.Suffix,
                _newLine = NewLineOf(json),
            };
            document.TakeStyle((LaidObject)root);
            string written = document.Written();
            if (written != text)
            {
                document._original = text;
                document._written = written;
            }
            return document;
        }

        /// <summary>Reads a file's bytes. JsonFormatException says what is wrong and where.</summary>
        public static WorkflowDocument Read(byte[] data)
        {
            if (data.Length > MaxBytes)
            {
                throw new JsonFormatException(
                    "it has " + data.Length.ToString(CultureInfo.InvariantCulture) + " bytes; a workflow has at most "
                    + MaxBytes.ToString(CultureInfo.InvariantCulture) + ", is this the right file?");
            }
            if (data.Length >= 2 && ((data[0] == 0xff && data[1] == 0xfe) || (data[0] == 0xfe && data[1] == 0xff)))
            {
                throw new JsonFormatException("it is UTF-16; save it as UTF-8");
            }
            try
            {
                return Parse(Utf8.GetString(data));
            }
            catch (ArgumentException)
            {
                throw new JsonFormatException(
                    "the bytes of this line are not UTF-8; save the file as UTF-8", FaultyLine(data), 1);
            }
        }

        /// <summary>Reads a file. JsonFormatException names it; what the file system refuses is an IOException or
        /// UnauthorizedAccessException.</summary>
        public static WorkflowDocument Load(string path)
        {
            try
            {
                long length = new FileInfo(path).Length;
                if (length > MaxBytes)
                {
                    throw new JsonFormatException(
                        "it has " + length.ToString(CultureInfo.InvariantCulture) + " bytes; a workflow has at most "
                        + MaxBytes.ToString(CultureInfo.InvariantCulture) + ", is this the right file?");
                }
                return Read(File.ReadAllBytes(path));
            }
            catch (JsonFormatException fault)
            {
                throw fault.In(Path.GetFileName(path));
            }
        }

        /// <summary>The file's text, byte order mark included.</summary>
        public string ToText()
        {
            string written = Written();
            return _original != null && written == _written ? _original : written;
        }

        /// <summary>The file's bytes.</summary>
        public byte[] ToBytes()
        {
            return Utf8.GetBytes(ToText());
        }

        /// <summary>Writes the file, whole or not at all; a file that has these bytes already is not touched.</summary>
        /// <remarks>Returns whether it was written. What the file system refuses is an IOException or
        /// UnauthorizedAccessException, and the file is as it was.</remarks>
        public bool Save(string path)
        {
            byte[] data = ToBytes();
            bool exists = File.Exists(path);
            if (exists && Same(File.ReadAllBytes(path), data))
            {
                return false;
            }
            if (exists && (File.GetAttributes(path) & FileAttributes.ReadOnly) != 0)
            {
                throw new UnauthorizedAccessException(path + " is read-only; check it out or allow writing to it");
            }
            string beside = path + "." + Guid.NewGuid().ToString("N").Substring(0, 8) + ".tmp";
            try
            {
                File.WriteAllBytes(beside, data);
                if (exists)
                {
                    File.Replace(beside, path, null);
                }
                else
                {
                    File.Move(beside, path);
                }
            }
            finally
            {
                File.Delete(beside);
            }
            return true;
        }

        private string Written()
        {
            return (_hasMark ? "\ufeff" : "") + _prefix + JsonText.Write(Root, _newLine, _step, _colon) + _suffix;
        }

        private void TakeStyle(LaidObject root)
        {
            string open = root.Gaps.Open ?? "";
            int line = open.LastIndexOf('\n');
            if (line >= 0 && line + 1 < open.Length)
            {
                _step = open.Substring(line + 1);
            }
            var first = root.First as LaidProperty;
            if (first != null)
            {
                _colon = first.Colon;
            }
        }

        private static string NewLineOf(string text)
        {
            int line = text.IndexOf('\n');
            return line > 0 && text[line - 1] == '\r' ? "\r\n" : "\n";
        }

        private static int FaultyLine(byte[] data)
        {
            int line = 1, begin = 0;
            for (int at = 0; at <= data.Length; at++)
            {
                if (at < data.Length && data[at] != '\n')
                {
                    continue;
                }
                try
                {
                    Utf8.GetCharCount(data, begin, at - begin);
                }
                catch (ArgumentException)
                {
                    return line;
                }
                begin = at + 1;
                line++;
            }
            return line;
        }

        private static bool Same(byte[] one, byte[] other)
        {
            if (one.Length != other.Length)
            {
                return false;
            }
            for (int at = 0; at < one.Length; at++)
            {
                if (one[at] != other[at])
                {
                    return false;
                }
            }
            return true;
        }
    }
}
