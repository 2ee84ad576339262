// Does the edits of a file of cases and writes what came of them, for tests that compare it with the sidecar's own rules.
// Arguments: the file of cases (a JSON array), the file for the results, and a culture to do it in.
using System;
using System.Collections.Generic;
using System.Globalization;
using System.IO;
using System.Linq;
using System.Text;
using System.Threading;
using Newtonsoft.Json.Linq;
using Parley;
using Parley.Messages;

internal static class AuthoringProgram
{
    private static readonly UTF8Encoding Utf8 = new UTF8Encoding(false);

    private static int Main(string[] arguments)
    {
        Thread.CurrentThread.CurrentCulture = CultureInfo.GetCultureInfo(arguments[2]);
        Thread.CurrentThread.CurrentUICulture = CultureInfo.GetCultureInfo(arguments[2]);
        var file = (JObject)JsonText.Parse(File.ReadAllText(arguments[0], Utf8));
        var kinds = new Dictionary<string, IDictionary<string, NodeKind>>();
        foreach (JProperty set in ((JObject)file["kinds"]).Properties())
        {
            kinds[set.Name] = KindsOf((JObject)set.Value);
        }
        var results = new JArray();
        foreach (JToken item in (JArray)file["cases"])
        {
            results.Add(Result((JObject)item, kinds));
        }
        File.WriteAllText(arguments[1], JsonText.Compact(results), Utf8);
        return 0;
    }

    private static IDictionary<string, NodeKind> KindsOf(JObject set)
    {
        var kinds = new Dictionary<string, NodeKind>();
        foreach (JProperty kind in set.Properties())
        {
            kinds[kind.Name] = new NodeKind(
                (bool)kind.Value["produces"],
                kind.Value["template_fields"].Select(field => (string)field),
                kind.Value["input_fields"].Select(field => (string)field),
                (string)kind.Value["tag_family"],
                (string)kind.Value["tag_name_field"]);
        }
        return kinds;
    }

    private static JToken Result(JObject given, Dictionary<string, IDictionary<string, NodeKind>> sets)
    {
        JToken workflow = given["workflow"];
        string before = workflow == null ? "" : JsonText.Compact(workflow);
        JToken result;
        try
        {
            result = Edited(given, workflow, given["kinds"] == null ? null : sets[(string)given["kinds"]]);
        }
        catch (AuthoringException fault)
        {
            result = new JObject { { "error", fault.ReasonName }, { "message", fault.Message } };
        }
        catch (JsonFormatException fault)
        {
            result = new JObject { { "fault", fault.Message }, { "line", fault.Line }, { "column", fault.Column } };
        }
        if (workflow != null && JsonText.Compact(workflow) != before)
        {
            return "the workflow that was edited is another now";
        }
        return result;
    }

    private static JToken Edited(JObject given, JToken workflow, IDictionary<string, NodeKind> kinds)
    {
        var node = (string)given["node"];
        var to = (string)given["to"];
        switch ((string)given["op"])
        {
            case "check_name":
                return Authoring.CheckName(to);
            case "unique":
                return Names.Unique(to, new HashSet<string>(given["taken"].Select(name => (string)name)));
            case "slot":
                return Authoring.SlotOf((JObject)workflow, kinds);
            case "inputs":
                return List(Authoring.InputChoices(workflow, node, kinds));
            case "rename_node":
                return Told(Authoring.RenameNode(workflow, node, to, kinds), given);
            case "rename_slot":
                return Told(Authoring.RenameSlot(workflow, node, to, kinds), given);
            case "delete_node":
                return Told(Authoring.DeleteNode(workflow, node, kinds), given);
            case "input_choices":
                return Told(Choices.Inputs(workflow, node, kinds));
            case "exit_choices":
                return Told(Choices.Exits(workflow, given["stored"], given["end"] == null));
            case "validate":
                return Told(QuickValidation.Check(workflow));
            case "group":
                return Grouped(Findings.Of(Validation.FromJson((JObject)given["reply"])));
            case "packaged":
                return Described(NodeKinds.Packaged);
            case "variable_choices":
                return Told(Choices.Variables(workflow, given["stored"]));
            case "editing":
                return EditingCase.Run(given, kinds);
            case "layout":
                return Laid(workflow, (JObject)given["kept"]);
            case "trip":
                return WorkflowDocument.Parse((string)given["text"]).ToText();
            case "edit_text":
                return Text((string)given["text"], node, to, kinds);
            case "parse":
                return JsonText.Compact(JsonText.Parse((string)given["text"]));
            case "read":
                WorkflowDocument read = WorkflowDocument.Read(Convert.FromBase64String((string)given["data"]));
                return Convert.ToBase64String(read.ToBytes());
            case "newtonsoft":
                return ((JObject)JsonText.Parse((string)given["text"])).ToString(Newtonsoft.Json.Formatting.None);
            case "change":
                return Changed((string)given["text"]);
            case "files":
                return Files((string)given["folder"]);
            default:
                throw new InvalidOperationException((string)given["op"]);
        }
    }

    private static string Text(string text, string node, string to, IDictionary<string, NodeKind> kinds)
    {
        WorkflowDocument document = WorkflowDocument.Parse(text);
        document.Root = (to == null ? Authoring.DeleteNode(document.Root, node, kinds)
            : Authoring.RenameNode(document.Root, node, to, kinds)).Workflow;
        return document.ToText();
    }

    /// <summary>Changes the first node in place, as an inspector does.</summary>
    private static string Changed(string text)
    {
        WorkflowDocument document = WorkflowDocument.Parse(text);
        var node = (JObject)document.Root["nodes"][0];
        node["max_tokens"] = 12;
        node["stop"] = new JArray("a", "b");
        node["sampling"] = new JObject { { "temperature", 0.5 }, { "top_p", 1.0 } };
        ((JArray)document.Root["nodes"]).Add(new JObject { { "name", "new" }, { "type", "Generate" } });
        return document.ToText();
    }

    private static JToken Files(string folder)
    {
        string path = Path.Combine(folder, "a.workflow.json");
        WorkflowDocument document = WorkflowDocument.Create(new JObject { { "version", 1 }, { "nodes", new JArray() } });
        var told = new JArray { document.Save(path), document.Save(path), File.ReadAllText(path) };
        document.Root["start_node"] = "é";
        told.Add(document.Save(path));
        told.Add(WorkflowDocument.Load(path).ToText());
        told.Add(Directory.GetFiles(folder).Length);
        File.SetAttributes(path, FileAttributes.ReadOnly);
        document.Root["start_node"] = "b";
        try
        {
            document.Save(path);
        }
        catch (UnauthorizedAccessException fault)
        {
            told.Add(fault.Message.Substring(path.Length));
        }
        File.SetAttributes(path, FileAttributes.Normal);
        File.WriteAllText(path, "{");
        try
        {
            WorkflowDocument.Load(path);
        }
        catch (JsonFormatException fault)
        {
            told.Add(fault.Message);
        }
        return told;
    }

    private static JToken Told(AuthoringEdit edit, JObject given)
    {
        var told = new JObject
        {
            { "workflow", JsonText.Copy(edit.Workflow) },
            { "to", edit.To },
            { "flagged", List(edit.Flagged) },
        };
        if (given["cast"] != null)
        {
            told["cast"] = List(edit.Follow(given["cast"].Select(name => (string)name)));
        }
        return told;
    }

    private static JToken Told(ChoiceList list)
    {
        var told = new JArray();
        foreach (Choice choice in list.Items)
        {
            told.Add(new JArray(choice.Value, choice.Label, choice.IsMissing));
        }
        return new JObject { { "items", told }, { "selected", list.Selected } };
    }

    private static JToken Told(Findings findings)
    {
        var told = new JArray();
        foreach (Finding finding in findings.All)
        {
            told.Add(new JObject
            {
                { "severity", Words.Of(finding.Severity) },
                { "code", (int)finding.Code },
                { "node_name", finding.NodeName },
                { "field", finding.Field },
                { "path", finding.Path },
                { "message", finding.Message },
            });
        }
        return told;
    }

    private static JToken Grouped(Findings findings)
    {
        var told = new JArray();
        foreach (NodeFindings node in findings.Nodes)
        {
            var fields = new JObject();
            foreach (FieldFindings field in node.Fields)
            {
                fields[field.Field] = List(field.Items.Select(finding => finding.Message));
            }
            told.Add(new JArray(node.NodeIndex, node.NodeName, node.HasError, fields));
        }
        return new JObject
        {
            { "nodes", told },
            { "order", List(findings.All.Select(finding => finding.Message)) },
            { "counts", new JArray(findings.ErrorCount, findings.WarningCount) },
            { "field", List(findings.OfField(1, "b").Select(finding => finding.Message)) },
            { "nothing", List(findings.OfField(9, "b").Select(finding => finding.Message)) },
        };
    }

    private static JToken Laid(JToken workflow, JObject kept)
    {
        GraphLayout layout = GraphLayout.Of(workflow);
        var places = new Dictionary<string, GraphPoint>();
        foreach (JProperty place in kept.Properties())
        {
            places[place.Name] = new GraphPoint((double)place.Value[0], (double)place.Value[1]);
        }
        var told = new JArray();
        IList<GraphPoint> points = layout.Arrange(places, 100, 10);
        for (int index = 0; index < layout.Count; index++)
        {
            told.Add(layout.IsNode(index)
                ? (JToken)new JArray(layout.Column(index), layout.Row(index), points[index].X, points[index].Y) : null);
        }
        var edges = new JArray();
        foreach (GraphEdge edge in layout.Edges)
        {
            edges.Add(new JArray(edge.From, edge.Field, edge.To, edge.Target));
        }
        return new JObject { { "nodes", told }, { "edges", edges } };
    }

    private static JToken Described(IDictionary<string, NodeKind> kinds)
    {
        var told = new JObject();
        foreach (KeyValuePair<string, NodeKind> kind in kinds)
        {
            told[kind.Key] = new JObject
            {
                { "produces", kind.Value.Produces },
                { "template_fields", List(kind.Value.TemplateFields.OrderBy(field => field, StringComparer.Ordinal)) },
                { "input_fields", List(kind.Value.InputFields.OrderBy(field => field, StringComparer.Ordinal)) },
                { "tag_family", kind.Value.TagFamily },
                { "tag_name_field", kind.Value.TagNameField },
            };
        }
        return told;
    }

    private static JArray List(IEnumerable<string> texts)
    {
        return new JArray(texts.ToArray());
    }
}
