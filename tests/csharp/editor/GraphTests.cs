// The graph: where boxes are, what the mouse does, and that undo brings it back.
using System.Collections.Generic;
using System.Reflection;
using Newtonsoft.Json.Linq;
using Parley;
using Parley.Editor;
using PlayerTests;
using UnityEditor;
using UnityEngine;
using UnityStubs;

namespace EditorTests
{
    internal static class GraphTests
    {
        private const string Fork =
            "{\"start_node\": \"guard\", \"nodes\": [\n"
            + "  {\"name\": \"guard\", \"type\": \"HumanMessageGuardrail\", \"triggered_exit\": \"no\", \"not_triggered_exit\": \"mira\"},\n"
            + "  {\"name\": \"no\", \"type\": \"CannedResponse\", \"default_exit\": \"\"},\n"
            + "  {\"name\": \"mira\", \"type\": \"Generate\", \"default_exit\": \"guard\"},\n"
            + "  {\"name\": \"alone\", \"type\": \"Generate\", \"default_exit\": \"ghost\"}]}\n";

        private sealed class Kept : IGraphPositions
        {
            public string Text { get; set; }
        }

        private static GraphModel Graph(ParleyWorkflow asset, IGraphPositions kept = null)
        {
            var graph = new GraphModel(new WorkflowInspectorModel(new WorkflowAssetStore(asset)), kept);
            graph.Refresh();
            return graph;
        }

        [Test]
        private static void ExitsAreEdges()
        {
            var graph = Graph(Desk.Workflow(Fork));
            var edges = new List<string>();
            foreach (var edge in graph.Edges)
            {
                edges.Add(edge.From.Node.Name + "." + edge.Port.Exit + ">" + edge.To.Node.Name + (edge.IsBack ? " back" : ""));
            }
            Check.Texts(edges, "the edges", "guard.triggered>no", "guard.not_triggered>mira", "mira.default>guard back");
            Check.That(graph.Boxes[0].IsReachable && graph.Boxes[2].IsReachable && !graph.Boxes[3].IsReachable, "who can be reached");
            Check.That(graph.Boxes[3].Ports[0].IsMissing, "an exit to nobody");
            Check.Equal("", graph.Boxes[1].Ports[0].Target, "END");
            for (var one = 0; one < graph.Boxes.Count; one++)
            {
                for (var other = one + 1; other < graph.Boxes.Count; other++)
                {
                    var a = graph.Boxes[one];
                    var b = graph.Boxes[other];
                    Check.That(a.X + a.Width <= b.X || b.X + b.Width <= a.X || a.Y + a.Height <= b.Y || b.Y + b.Height <= a.Y, "boxes do not overlap");
                }
            }
            Check.That(graph.Boxes[1].X > graph.Boxes[0].X, "what follows stands to the right");
        }

        [Test]
        private static void PullingAnExitConnectsIt()
        {
            var asset = Desk.Workflow(Fork);
            var graph = Graph(asset);
            Pull(graph, graph.Boxes[1].Ports[0], graph.Boxes[3].X + 20f, graph.Boxes[3].Y + 10f);
            Check.Equal("alone", (string)Desk.Node(asset, "no")["default_exit"], "the exit");
            graph.Refresh();
            Check.That(graph.Boxes[3].IsReachable, "it is reached now");
            Pull(graph, graph.Boxes[0].Ports[0], graph.Width + 500f, graph.Height + 500f);
            Check.Equal("", (string)Desk.Node(asset, "guard")["triggered_exit"], "to nowhere is END");
            Check.Texts(Undo.Groups(), "the undo history", "Change default_exit", "Change triggered_exit");
            Undo.PerformUndo();
            Undo.PerformUndo();
            Check.Equal(Fork, asset.Json, "after undo");
            graph.Refresh();
            Check.Equal("no", graph.Boxes[0].Ports[0].Target, "the graph follows undo");
            var port = graph.Boxes[0].Ports[0];
            graph.Press(port.X, port.Y);
            graph.Release(port.X + 1f, port.Y);
            Check.Equal(Fork, asset.Json, "a click on an exit is no edit");
        }

        private static void Pull(GraphModel graph, GraphPort port, float x, float y)
        {
            Check.That(graph.Press(port.X, port.Y), "taken hold of");
            Check.That(graph.Drag(x, y) && graph.Pulled == port, "pulled");
            graph.Release(x, y);
            graph.Refresh();
        }

        [Test]
        private static void BoxesStayWhereTheyWerePut()
        {
            var asset = Desk.Workflow(Fork);
            var kept = new Kept();
            var graph = Graph(asset, kept);
            graph.Press(graph.Boxes[2].X + 5f, graph.Boxes[2].Y + 5f);
            graph.Drag(705f, 405f);
            graph.Release(705f, 405f);
            Check.Equal(Fork, asset.Json, "moving a box is no edit of the workflow");
            Check.Equal(700f, Graph(asset, kept).Boxes[2].X, "it is there again");
            Check.That(graph.Rename(2, "innkeeper"), "renamed");
            graph.Refresh();
            Check.Equal(700f, graph.Boxes[2].X, "under its new name too");
            graph.Arrange();
            Check.That(graph.Boxes[2].X < 700f && kept.Text == "", "arranged");
            kept.Text = "{\"innkeeper\": [1, \"x\"], \"no\": 3";
            Graph(asset, kept);
        }

        [Test]
        private static void AnAssetThatIsDeletedLeavesAnEmptyWindow()
        {
            var asset = Desk.Workflow(Fork);
            var window = WorkflowGraphWindow.Open(asset);
            GuiScript.Frame(window.OnGUI);
            var chat = TestChatWindow.Open(asset);
            GuiScript.Frame(chat.OnGUI);
            AssetDatabase.Assets.Clear();
            Object.DestroyImmediate(asset);
            Check.That(GuiScript.Shown(GuiScript.Frame(window.OnGUI)).Contains("Choose a workflow"), "the graph");
            Check.Equal(null, window.Graph, "and nothing of it is kept");
            typeof(WorkflowGraphWindow).GetMethod("Tick", BindingFlags.Instance | BindingFlags.NonPublic).Invoke(window, null);
            Check.That(!GuiScript.Find(GuiScript.Frame(chat.OnGUI), "Begin").Enabled, "the chat has nothing to begin");
            var other = Desk.Workflow(Fork, "other");
            GuiScript.Do("Workflow", other);
            GuiScript.Frame(window.OnGUI);
            Check.Equal(4, window.Graph.Boxes.Count, "another one is shown");
        }

        [Test]
        private static void TheWindowHandsTheMouseOn()
        {
            var asset = Desk.Workflow(Fork);
            var window = WorkflowGraphWindow.Open(asset);
            var drawn = GuiScript.Frame(window.OnGUI);
            Check.Equal(3, drawn.FindAll(control => control.Kind == "curve").Count, "edges that are drawn");
            var box = window.Graph.Boxes[3];
            var port = window.Graph.Boxes[1].Ports[0];
            GuiScript.Frame(window.OnGUI, new Event { type = EventType.MouseDown, mousePosition = new Vector2(port.X, port.Y) });
            GuiScript.Frame(window.OnGUI, new Event { type = EventType.MouseDrag, mousePosition = new Vector2(box.X + 9f, box.Y + 9f) });
            GuiScript.Frame(window.OnGUI, new Event { type = EventType.MouseUp, mousePosition = new Vector2(box.X + 9f, box.Y + 9f) });
            Check.Equal("alone", (string)Desk.Node(asset, "no")["default_exit"], "the exit");
            Check.Equal(1, Undo.Groups().Length, "undo groups");

            box = window.Graph.Boxes[3];
            GuiScript.Frame(window.OnGUI, new Event { type = EventType.MouseDown, mousePosition = new Vector2(box.X + 60f, box.Y + 9f) });
            drawn = GuiScript.Frame(window.OnGUI, new Event { type = EventType.MouseUp, mousePosition = new Vector2(box.X + 60f, box.Y + 9f) });
            GuiScript.Do("$.nodes[3].name", "crowd");
            GuiScript.Frame(window.OnGUI);
            Check.Equal("crowd", (string)Desk.Node(asset, "no")["default_exit"], "the exit follows a rename beside the graph");
            GuiScript.Press("Start Here");
            GuiScript.Frame(window.OnGUI);
            Check.Equal("crowd", (string)asset.Read()["start_node"], "the start");
            GuiScript.Press("Delete");
            GuiScript.Frame(window.OnGUI);
            Check.Equal("", (string)asset.Read()["start_node"], "the start went with its node");
            GuiScript.Do("add node", "Transform");
            GuiScript.Frame(window.OnGUI);
            Check.Equal("transform", (string)asset.Read()["nodes"][3]["name"], "a new node");
            while (Undo.Groups().Length > 0)
            {
                Undo.PerformUndo();
            }
            Check.Equal(Fork, asset.Json, "all undone");
        }

        [Test]
        private static void ManyNodesAreLaidOutAtOnce()
        {
            var nodes = new JArray();
            for (var at = 0; at < 512; at++)
            {
                nodes.Add(new JObject { { "name", "n" + at }, { "type", "Generate" }, { "default_exit", at == 511 ? "n0" : "n" + (at * 7 + 1) % 512 } });
            }
            var graph = Graph(Desk.Workflow(new JObject { { "start_node", "n0" }, { "nodes", nodes } }.ToString()));
            Check.Equal(512, graph.Boxes.Count, "boxes");
            Check.Equal(512, graph.Edges.Count, "edges");
        }
    }
}
