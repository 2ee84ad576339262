// Reads jobs from standard input, a line each, and answers each with a line: for tests/test_unity_messages.py.
using System;
using System.Collections.Generic;
using System.Globalization;
using System.IO;
using System.Reflection;
using System.Text;
using Newtonsoft.Json.Linq;
using Parley;
using Parley.Messages;
using Parley.Nodes;

/// <summary>
/// A job is its name and its arguments, an answer is `ok` with a text, or what was thrown with path and reason; all but
/// the names are base64 of UTF-8, and a tab stands between two of them.
/// </summary>
internal static class MessagesProgram
{
    private static readonly UTF8Encoding Utf8 = new UTF8Encoding(false);

    private static int Main(string[] arguments)
    {
        if (arguments.Length > 0)
        {
            CultureInfo culture = new CultureInfo(arguments[0]);
            culture.NumberFormat.NegativeSign = "\u2212"; // as Swedish has it on newer systems
            System.Threading.Thread.CurrentThread.CurrentCulture = culture;
            System.Threading.Thread.CurrentThread.CurrentUICulture = culture;
            CultureInfo.DefaultThreadCurrentCulture = culture;
        }
        TextReader jobs = new StreamReader(Console.OpenStandardInput(), Utf8);
        TextWriter answers = new StreamWriter(Console.OpenStandardOutput(), Utf8) { NewLine = "\n" };
        string line;
        while ((line = jobs.ReadLine()) != null)
        {
            string[] parts = line.Split('\t');
            byte[][] given = new byte[parts.Length - 1][];
            for (int i = 1; i < parts.Length; i++)
            {
                given[i - 1] = Convert.FromBase64String(parts[i]);
            }
            answers.WriteLine(Answer(parts[0], given));
            answers.Flush();
        }
        return 0;
    }

    private static string Answer(string job, byte[][] given)
    {
        try
        {
            return "ok\t" + Convert.ToBase64String(Do(job, given));
        }
        catch (MalformedMessageException fault)
        {
            return "malformed\t" + Coded(fault.Path) + "\t" + Coded(fault.Reason);
        }
        catch (Exception fault)
        {
            return fault.GetType().Name + "\t" + Coded(fault.Message);
        }
    }

    private static byte[] Do(string job, byte[][] given)
    {
        switch (job)
        {
            case "culture":
                return Utf8.GetBytes((-1.5).ToString() + " " + "I".ToLower());
            case "message":
                Message message = Read(given);
                return message == null ? Utf8.GetBytes("null") : Frames.Write(message.ToJson());
            case "class":
                return Utf8.GetBytes(Read(given).GetType().BaseType.Name + " " + Read(given).TypeName);
            case "node":
                Node node = NodeReader.Read((JObject)JsonText.Parse(Text(given[0])));
                return Utf8.GetBytes(node == null ? "null" : JsonText.Write(node.ToJson()));
            case "edited":
                return Utf8.GetBytes(JsonText.Write(Edited(Text(given[0]), Text(given[1]), Text(given[2]))));
            case "values":
                return Utf8.GetBytes(JsonText.Compact(Values(NodeReader.Read((JObject)JsonText.Parse(Text(given[0]))))));
            case "pickers":
                return Utf8.GetBytes(JsonText.Compact(Pickers(Text(given[0]))));
            case "types":
                return Utf8.GetBytes(JsonText.Compact(Types()));
            case "errors":
                return Utf8.GetBytes(JsonText.Compact(Errors()));
            case "protocol":
                return Utf8.GetBytes(JsonText.Compact(Constants()));
            case "nulls":
                return Utf8.GetBytes(JsonText.Compact(Nulls()));
            default:
                throw new ArgumentException("no job " + job);
        }
    }

    private static Message Read(byte[][] given)
    {
        string name = Text(given[0]);
        return MessageReader.Read(name, Frames.Parse(name, given[1], given[1].Length));
    }

    private static string Text(byte[] bytes)
    {
        return Utf8.GetString(bytes);
    }

    private static string Coded(string text)
    {
        return Convert.ToBase64String(Utf8.GetBytes(text));
    }

    // ---- nodes ---------------------------------------------------------------------------------------------------

    private static JObject Edited(string json, string field, string value)
    {
        Node node = NodeReader.Read((JObject)JsonText.Parse(json));
        object part = node;
        string[] steps = field.Split('.');
        for (int i = 0; i < steps.Length - 1; i++)
        {
            part = part.GetType().GetField(steps[i]).GetValue(part);
        }
        FieldInfo info = part.GetType().GetField(steps[steps.Length - 1]);
        info.SetValue(part, Value(Nullable.GetUnderlyingType(info.FieldType) ?? info.FieldType, JsonText.Parse(value)));
        return node.ToJson();
    }

    private static object Value(Type type, JToken json)
    {
        if (json.Type == JTokenType.Null)
        {
            return null;
        }
        if (type.IsEnum)
        {
            return Enum.Parse(type, (string)json);
        }
        if (type == typeof(List<string>))
        {
            return new List<string>(json.ToObject<string[]>());
        }
        if (typeof(NodePart).IsAssignableFrom(type))
        {
            return type.GetMethod("FromJson").Invoke(null, new object[] { json });
        }
        if (type == typeof(JObject))
        {
            return json;
        }
        return Convert.ChangeType(((JValue)json).Value, type, CultureInfo.InvariantCulture);
    }

    private static JObject Values(object part)
    {
        JObject values = new JObject();
        foreach (FieldInfo field in part.GetType().GetFields(BindingFlags.Public | BindingFlags.Instance))
        {
            values.Add(field.Name, Shown(field.GetValue(part)));
        }
        return values;
    }

    private static JToken Shown(object value)
    {
        if (value == null)
        {
            return JValue.CreateNull();
        }
        if (value is Enum)
        {
            Type words = value.GetType().Namespace == "Parley.Nodes" ? typeof(NodeWords) : typeof(Words);
            return new JValue((string)words.GetMethod("Of", new[] { value.GetType() }).Invoke(null, new[] { value }));
        }
        if (value is NodePart)
        {
            return ((NodePart)value).ToJson();
        }
        if (value is JToken)
        {
            return (JToken)value;
        }
        if (!(value is string) && value is System.Collections.IEnumerable)
        {
            JArray items = new JArray();
            foreach (object item in (System.Collections.IEnumerable)value)
            {
                items.Add(Shown(item));
            }
            return items;
        }
        return new JValue(value);
    }

    private static JObject Pickers(string typeName)
    {
        JObject start = new JObject();
        start.Add("name", new JValue("x"));
        start.Add("type", new JValue(typeName));
        JObject found = new JObject();
        foreach (FieldInfo field in NodeReader.Read(start).GetType().GetFields())
        {
            JObject about = new JObject();
            foreach (object attribute in field.GetCustomAttributes(true))
            {
                ParamAttribute picker = attribute as ParamAttribute;
                MeaningAttribute meaning = attribute as MeaningAttribute;
                BoundsAttribute bounds = attribute as BoundsAttribute;
                if (picker != null)
                {
                    about.Add("kind", new JValue(picker.Kind.ToString()));
                }
                if (meaning != null)
                {
                    about.Add("meaning", new JValue(meaning.Text));
                }
                if (bounds != null)
                {
                    about.Add("bounds", new JArray(bounds.Least, bounds.Most));
                }
                if (attribute is FixedAttribute)
                {
                    about.Add("fixed", new JValue(true));
                }
            }
            found.Add(field.Name, about);
        }
        return found;
    }

    private static JArray Types()
    {
        JArray types = new JArray();
        foreach (NodeType type in NodeTypes.All)
        {
            JObject about = new JObject();
            about.Add("name", new JValue(type.Name));
            about.Add("meaning", new JValue(type.Meaning));
            about.Add("summary", new JValue(type.Summary));
            about.Add("produces", new JValue(type.Produces));
            about.Add("uses_model", new JValue(type.UsesModel));
            about.Add("tag_family", new JValue(type.TagFamily));
            about.Add("tag_name_field", new JValue(type.TagNameField));
            about.Add("offers", Notes(type.Offers));
            about.Add("events", Notes(type.Events));
            about.Add("templates", new JArray(type.FieldsOf(ParamKind.Template).ToArray()));
            JObject exits = new JObject();
            foreach (NodeExit exit in type.Exits)
            {
                exits.Add(exit.Name, new JValue(exit.Field));
            }
            about.Add("exits", exits);
            about.Add("params", Params(type.Params));
            about.Add("found", new JValue(NodeTypes.Find(type.Name) == type && type.Param("name") == type.Params[0]));
            types.Add(about);
        }
        return types;
    }

    private static JObject Notes(IEnumerable<NodeNote> notes)
    {
        JObject json = new JObject();
        foreach (NodeNote note in notes)
        {
            json.Add(note.Name, new JValue(note.Meaning));
        }
        return json;
    }

    private static JObject Params(IEnumerable<NodeParam> parameters)
    {
        JObject json = new JObject();
        foreach (NodeParam param in parameters)
        {
            json.Add(param.Name, About(param));
        }
        return json;
    }

    private static JObject About(NodeParam param)
    {
        JObject about = new JObject();
        about.Add("type", new JValue(param.Type.ToString()));
        about.Add("kind", new JValue(param.Kind.ToString()));
        about.Add("meaning", new JValue(param.Meaning));
        about.Add("mutable", new JValue(param.IsMutable));
        about.Add("required", new JValue(param.IsRequired));
        about.Add("optional", new JValue(param.IsOptional));
        about.Add("default", param.Default());
        about.Add("least", param.Least == null ? JValue.CreateNull() : new JValue(param.Least.Value));
        about.Add("most", param.Most == null ? JValue.CreateNull() : new JValue(param.Most.Value));
        about.Add("least_excluded", new JValue(param.LeastIsExcluded));
        about.Add("most_excluded", new JValue(param.MostIsExcluded));
        about.Add("least_length", param.LeastLength == null ? JValue.CreateNull() : new JValue(param.LeastLength.Value));
        about.Add("most_length", param.MostLength == null ? JValue.CreateNull() : new JValue(param.MostLength.Value));
        JArray choices = new JArray();
        foreach (string choice in param.Choices)
        {
            choices.Add(new JValue(choice));
        }
        about.Add("choices", choices);
        about.Add("item", param.Item == null ? JValue.CreateNull() : (JToken)About(param.Item));
        about.Add("fields", Params(param.Fields));
        return about;
    }

    // ---- constants -----------------------------------------------------------------------------------------------

    private static JObject Errors()
    {
        JObject json = new JObject();
        foreach (ErrorCode code in Enum.GetValues(typeof(ErrorCode)))
        {
            JArray words = new JArray(code.ToString(), ErrorCodes.NameOf(code), ErrorCodes.TextOf(code), ErrorCodes.RemedyOf(code));
            json.Add(((int)code).ToString(CultureInfo.InvariantCulture), words);
        }
        json.Add("9999", new JArray("", ErrorCodes.NameOf((ErrorCode)9999), ErrorCodes.TextOf((ErrorCode)9999), ErrorCodes.RemedyOf((ErrorCode)9999)));
        return json;
    }

    private static JObject Constants()
    {
        JObject json = new JObject();
        foreach (FieldInfo field in typeof(Protocol).GetFields())
        {
            json.Add(field.Name, new JValue(field.GetRawConstantValue()));
        }
        return json;
    }

    /// <summary>Every message and record as `new` makes it, with null in each field that can hold it.</summary>
    private static JObject Nulls()
    {
        JObject json = new JObject();
        foreach (Type type in typeof(Message).Assembly.GetTypes())
        {
            if (type.IsAbstract || !(typeof(Message).IsAssignableFrom(type) || typeof(Record).IsAssignableFrom(type)))
            {
                continue;
            }
            object made = Activator.CreateInstance(type);
            foreach (FieldInfo field in type.GetFields())
            {
                if (!field.FieldType.IsValueType && !typeof(Record).IsAssignableFrom(field.FieldType))
                {
                    field.SetValue(made, null);
                }
            }
            json.Add(type.Name, (JObject)type.GetMethod("ToJson").Invoke(made, null));
        }
        return json;
    }
}
