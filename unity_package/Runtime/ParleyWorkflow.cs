// A workflow as an asset.
using Newtonsoft.Json.Linq;
using UnityEngine;

namespace Parley
{
    /// <summary>A workflow: the text of a `.workflow.json` file, kept as it is written.</summary>
    /// <remarks>
    /// The text is the truth: what the package does not know of stays in it, and an export writes the bytes that an
    /// import read. A text that is no workflow is kept too; the sidecar's findings say what is wrong with it.
    /// </remarks>
    [CreateAssetMenu(menuName = "Parley/Workflow", fileName = "New Workflow", order = 0)]
    public sealed class ParleyWorkflow : ScriptableObject
    {
        /// <summary>A workflow in which nobody speaks yet.</summary>
        public const string EmptyJson = "{\n  \"version\": 1,\n  \"start_node\": \"\",\n  \"nodes\": []\n}\n";

        [SerializeField]
        [TextArea(8, 40)]
        [Tooltip("The workflow, as its .workflow.json file holds it.")]
        private string json = EmptyJson;

        /// <summary>The text of the file.</summary>
        public string Json
        {
            get { return json; }
            set { json = value ?? ""; }
        }

        /// <summary>An asset in memory, from a text.</summary>
        public static ParleyWorkflow Create(string json)
        {
            ParleyWorkflow made = CreateInstance<ParleyWorkflow>();
            made.Json = json;
            return made;
        }

        /// <summary>The text, ready to be edited. JsonFormatException says what is wrong and where.</summary>
        public WorkflowDocument Open()
        {
            return WorkflowDocument.Parse(json);
        }

        /// <summary>The workflow. JsonFormatException says what is wrong and where.</summary>
        public JObject Read()
        {
            return Open().Root;
        }

        /// <summary>
        /// Take the text of a file. JsonFormatException says what is wrong with it, and the asset stays as it is.
        /// </summary>
        public void Import(string path)
        {
            json = WorkflowDocument.Load(path).ToText();
        }

        /// <summary>Write the text to a file, whole or not at all.</summary>
        public void Export(string path)
        {
            Open().Save(path);
        }
    }
}
