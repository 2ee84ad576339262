// The dialog of one character as the game has it: with it the next sidecar is seeded.
using System.Collections.Generic;
using System.Collections.ObjectModel;
using System.Text;
using Newtonsoft.Json.Linq;
using Parley.Messages;

namespace Parley
{
    /// <summary>
    /// Every turn that was completed, and the summary of the oldest ones. Its records are not changed once they are in it.
    /// Threading: the game's thread only.
    /// </summary>
    public sealed class DialogMirror
    {
        /// <summary>Bytes of a dialog that go in one message.</summary>
        public const int PieceBytes = 4 * 1024 * 1024;

        private const int Version = 1;

        private readonly List<Interaction> _interactions = new List<Interaction>();
        private readonly ReadOnlyCollection<Interaction> _readOnly;

        /// <summary>An empty dialog.</summary>
        public DialogMirror()
        {
            _readOnly = _interactions.AsReadOnly();
        }

        /// <summary>The turns, oldest first.</summary>
        public IList<Interaction> Interactions
        {
            get { return _readOnly; }
        }

        /// <summary>What stands in for the oldest turns in prompts; null: nothing.</summary>
        public Summary Summary { get; private set; }

        /// <summary>The same turns in a document of its own.</summary>
        public DialogDocument ToDocument()
        {
            return new DialogDocument
            {
                Version = Version,
                Interactions = new List<Interaction>(_interactions),
                Summary = Summary,
            };
        }

        internal void Add(Interaction interaction)
        {
            _interactions.Add(interaction);
        }

        internal void SetSummary(Summary summary)
        {
            Summary = summary;
        }

        internal void Replace(DialogDocument document)
        {
            _interactions.Clear();
            _interactions.AddRange(document.Interactions);
            Summary = document.Summary;
        }

        /// <summary>A document as a save game holds it: null stands where there is no summary.</summary>
        public static JObject JsonOf(DialogDocument document)
        {
            JObject json = document.ToJson();
            if (document.Summary == null)
            {
                json["summary"] = JValue.CreateNull();
            }
            return json;
        }

        /// <summary>
        /// A document, or its short form, in pieces that can be sent one after the other; at least one. Pure; a long one
        /// takes its time.
        /// </summary>
        public static List<JToken> Split(JToken dialog)
        {
            List<JToken> pieces = new List<JToken>();
            JObject document = dialog as JObject;
            JArray turns = (document != null ? document["interactions"] : dialog) as JArray;
            if (turns == null)
            {
                pieces.Add(dialog);
                return pieces;
            }
            JArray piece = new JArray();
            int used = 0;
            foreach (JToken turn in turns)
            {
                int size = Encoding.UTF8.GetByteCount(turn.ToString(Newtonsoft.Json.Formatting.None)) + 1;
                if (used + size > PieceBytes && piece.Count > 0)
                {
                    pieces.Add(Piece(document, piece, false));
                    piece = new JArray();
                    used = 0;
                }
                piece.Add(turn.DeepClone());
                used += size;
            }
            pieces.Add(Piece(document, piece, true));
            return pieces;
        }

        private static JToken Piece(JObject document, JArray turns, bool isLast)
        {
            if (document == null)
            {
                return turns;
            }
            JObject piece = new JObject();
            foreach (JProperty property in document.Properties())
            {
                if (property.Name != "interactions" && (isLast || property.Name != "summary"))
                {
                    piece.Add(property.Name, property.Value.DeepClone());
                }
            }
            piece.Add("interactions", turns);
            if (!isLast)
            {
                piece.Add("summary", JValue.CreateNull());
            }
            return piece;
        }
    }
}
