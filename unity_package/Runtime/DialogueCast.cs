// Who the nodes of a workflow are for the player.
using System;
using System.Collections.Generic;
using UnityEngine;

namespace Parley
{
    /// <summary>What the player sees and hears of one node that speaks.</summary>
    [Serializable]
    public sealed class DialogueSpeaker
    {
        [Tooltip("The name of the node in the workflow.")]
        [SerializeField]
        private string nodeName = "";

        [Tooltip("What the player reads. Empty: the node's name.")]
        [SerializeField]
        private string displayName = "";

        [Tooltip("The colour of the name.")]
        [SerializeField]
        private Color colour = Color.white;

        [Tooltip("Shown beside the lines. None: no picture.")]
        [SerializeField]
        private Sprite portrait = null;

        [Tooltip("A prefab whose AudioSource speaks. None: the one on the ParleyVoice.")]
        [SerializeField]
        private AudioSource voiceSource = null;

        [Tooltip("Tells what happens and is nobody: views may leave the name out.")]
        [SerializeField]
        private bool isNarrator = false;

        /// <summary>For the serializer.</summary>
        public DialogueSpeaker()
        {
        }

        /// <summary>A speaker that is made by a script.</summary>
        public DialogueSpeaker(string nodeName, string displayName, Color colour, bool isNarrator)
        {
            this.nodeName = nodeName ?? "";
            this.displayName = displayName ?? "";
            this.colour = colour;
            this.isNarrator = isNarrator;
        }

        /// <summary>The name of the node in the workflow.</summary>
        public string NodeName
        {
            get { return nodeName; }
            set { nodeName = value ?? ""; }
        }

        /// <summary>What the player reads: never empty.</summary>
        public string DisplayName
        {
            get { return string.IsNullOrEmpty(displayName) ? nodeName : displayName; }
            set { displayName = value ?? ""; }
        }

        /// <summary>The colour of the name.</summary>
        public Color Colour
        {
            get { return colour; }
            set { colour = value; }
        }

        /// <summary>Shown beside the lines; null: none.</summary>
        public Sprite Portrait
        {
            get { return portrait; }
            set { portrait = value; }
        }

        /// <summary>A prefab whose AudioSource speaks; null: none.</summary>
        public AudioSource VoiceSource
        {
            get { return voiceSource; }
            set { voiceSource = value; }
        }

        /// <summary>Tells what happens and is nobody.</summary>
        public bool IsNarrator
        {
            get { return isNarrator; }
            set { isNarrator = value; }
        }
    }

    /// <summary>The speakers of a workflow, by the names of their nodes.</summary>
    [CreateAssetMenu(menuName = "Parley/Dialogue Cast", fileName = "New Cast", order = 1)]
    public sealed class DialogueCast : ScriptableObject
    {
        [SerializeField]
        private List<DialogueSpeaker> speakers = new List<DialogueSpeaker>();

        [NonSerialized]
        private readonly Dictionary<string, DialogueSpeaker> _unknown =
            new Dictionary<string, DialogueSpeaker>(StringComparer.Ordinal);

        /// <summary>All of them. The first of two with one node name counts.</summary>
        public List<DialogueSpeaker> Speakers
        {
            get { return speakers; }
        }

        /// <summary>Who a node is. A node that the cast does not know speaks under its own name, in white.</summary>
        public DialogueSpeaker Find(string nodeName)
        {
            nodeName = nodeName ?? "";
            DialogueSpeaker known = Known(nodeName);
            if (known != null)
            {
                return known;
            }
            DialogueSpeaker unknown;
            if (!_unknown.TryGetValue(nodeName, out unknown))
            {
                unknown = new DialogueSpeaker(nodeName, "", Color.white, false);
                _unknown.Add(nodeName, unknown);
            }
            return unknown;
        }

        /// <summary>Whether the cast has a speaker for a node.</summary>
        public bool Knows(string nodeName)
        {
            return Known(nodeName ?? "") != null;
        }

        /// <summary>A node got another name. True: a speaker followed.</summary>
        public bool Rename(string oldName, string newName)
        {
            bool followed = false;
            foreach (DialogueSpeaker speaker in speakers)
            {
                if (speaker != null && string.Equals(speaker.NodeName, oldName, StringComparison.Ordinal))
                {
                    speaker.NodeName = newName;
                    followed = true;
                }
            }
            return followed;
        }

        private DialogueSpeaker Known(string nodeName)
        {
            for (int i = 0; i < speakers.Count; i++)
            {
                if (speakers[i] != null && string.Equals(speakers[i].NodeName, nodeName, StringComparison.Ordinal))
                {
                    return speakers[i];
                }
            }
            return null;
        }
    }
}
