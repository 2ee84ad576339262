// The authoring rules, as Unity itself compiles and runs them.
using System;
using System.Collections.Generic;
using Newtonsoft.Json.Linq;
using NUnit.Framework;

namespace Parley.Editor.Tests
{
    /// <summary>The authoring rules under Unity's own compiler and Newtonsoft.Json, in a few samples.</summary>
    public sealed class AuthoringTests
    {
        private const string Inn = "{\n  \"start_node\": \"mira\",\n  \"x_mood\": 1.50,\n  \"nodes\": [\n"
            + "    {\"name\": \"mira\", \"type\": \"Generate\", \"default_exit\": \"bram\"},\n"
            + "    {\"name\": \"bram\", \"type\": \"Transform\", \"input\": \"mira\", \"template\": \"{{slot.mira}}, {{ slot.miranda }}\"}\n"
            + "  ]\n}\n";

        private static Dictionary<string, NodeKind> Kinds()
        {
            Dictionary<string, NodeKind> kinds = new Dictionary<string, NodeKind>(StringComparer.Ordinal);
            kinds["Generate"] = new NodeKind(true);
            kinds["Transform"] = new NodeKind(true);
            return kinds;
        }

        [Test]
        public void AWorkflowThatNobodyEditsKeepsItsText()
        {
            Assert.AreEqual(Inn, WorkflowDocument.Parse(Inn).ToText());
        }

        [Test]
        public void ARenameFollowsToEveryReference()
        {
            WorkflowDocument document = WorkflowDocument.Parse(Inn);
            document.Root = Authoring.RenameNode(document.Root, "mira", " mia ", Kinds()).Workflow;
            string text = document.ToText();
            StringAssert.Contains("\"start_node\": \"mia\"", text);
            StringAssert.Contains("\"input\": \"mia\"", text);
            StringAssert.Contains("{{slot.mia}}, {{ slot.miranda }}", text);
            StringAssert.Contains("\"x_mood\": 1.50", text);
            Assert.IsFalse(text.Contains("\"mira\""));
        }

        [Test]
        public void ANameThatIsTakenGetsANumber()
        {
            AuthoringEdit edit = Authoring.RenameNode(JObject.Parse(Inn), "mira", "bram", Kinds());
            Assert.AreEqual("bram_2", edit.To);
        }

        [Test]
        public void TheReservedNameIsRefused()
        {
            Assert.Throws<AuthoringException>(
                () => Authoring.RenameNode(JObject.Parse(Inn), "mira", "user_message", Kinds()));
        }
    }
}
