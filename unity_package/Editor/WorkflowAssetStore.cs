// A workflow's asset as the place of its text: every edit is one step of Unity's undo history.
using System;
using System.Collections.Generic;
using UnityEditor;

namespace Parley.Editor
{
    /// <summary>Writes edits into a ParleyWorkflow asset, with undo; casts of the project follow renames in the same step.</summary>
    public sealed class WorkflowAssetStore : IWorkflowStore
    {
        private const double MergeS = 2.0;

        private readonly ParleyWorkflow _asset;
        private readonly Func<double> _now;
        private string _mergeKey = "", _lastText, _label = "";
        private double _lastAt;
        private int _group;

        /// <summary>The text of an asset. `now`: seconds of a clock; null: the editor's.</summary>
        public WorkflowAssetStore(ParleyWorkflow asset, Func<double> now = null)
        {
            _asset = asset;
            _now = now ?? EditorSeconds;
        }

        /// <summary>The asset.</summary>
        public ParleyWorkflow Asset
        {
            get { return _asset; }
        }

        /// <inheritdoc/>
        public string Text
        {
            get { return _asset.Json; }
            set { _asset.Json = value; }
        }

        /// <inheritdoc/>
        public string MergeKey { get; set; }

        /// <inheritdoc/>
        public void Begin(string label)
        {
            var merges = !string.IsNullOrEmpty(MergeKey) && MergeKey == _mergeKey && _asset.Json == _lastText && _now() - _lastAt < MergeS;
            if (!merges)
            {
                Undo.IncrementCurrentGroup();
                _group = Undo.GetCurrentGroup();
            }
            _label = label;
        }

        /// <inheritdoc/>
        public void Keep(object target)
        {
            var cast = target as CastNames;
            var kept = cast == null ? (UnityEngine.Object)_asset : cast.Cast;
            Undo.RegisterCompleteObjectUndo(kept, _label);
            EditorUtility.SetDirty(kept);
        }

        /// <inheritdoc/>
        public void End()
        {
            Undo.SetCurrentGroupName(_label);
            Undo.CollapseUndoOperations(_group);
            _mergeKey = MergeKey;
            _lastText = _asset.Json;
            _lastAt = _now();
        }

        /// <inheritdoc/>
        public IEnumerable<INodeNames> FollowersOf(string nodeName)
        {
            var followers = new List<INodeNames>();
            foreach (var guid in AssetDatabase.FindAssets("t:DialogueCast"))
            {
                var cast = AssetDatabase.LoadAssetAtPath<DialogueCast>(AssetDatabase.GUIDToAssetPath(guid));
                if (cast != null && cast.Knows(nodeName))
                {
                    followers.Add(new CastNames(cast, IsNamedElsewhere(nodeName)));
                }
            }
            return followers;
        }

        private static double EditorSeconds()
        {
            return EditorApplication.timeSinceStartup;
        }

        private bool IsNamedElsewhere(string nodeName)
        {
            foreach (var guid in AssetDatabase.FindAssets("t:ParleyWorkflow"))
            {
                var other = AssetDatabase.LoadAssetAtPath<ParleyWorkflow>(AssetDatabase.GUIDToAssetPath(guid));
                if (other != null && !ReferenceEquals(other, _asset) && HasNode(other, nodeName))
                {
                    return true;
                }
            }
            return false;
        }

        private static bool HasNode(ParleyWorkflow workflow, string nodeName)
        {
            try
            {
                return Choices.IndexOf(workflow.Read(), nodeName) >= 0;
            }
            catch (JsonFormatException)
            {
                return false;
            }
        }

        /// <summary>The node names of a cast.</summary>
        /// <remarks>
        /// A cast names nodes and no workflow, so one may serve several: where another workflow has a node of the old name
        /// too, the cast knows both names afterwards.
        /// </remarks>
        private sealed class CastNames : INodeNames
        {
            private readonly bool _keepsOld;

            public CastNames(DialogueCast cast, bool keepsOld)
            {
                Cast = cast;
                _keepsOld = keepsOld;
            }

            public DialogueCast Cast { get; private set; }

            public IList<string> Names
            {
                get
                {
                    var names = new List<string>();
                    foreach (var speaker in Cast.Speakers)
                    {
                        names.Add(speaker == null ? "" : speaker.NodeName);
                    }
                    return names;
                }
            }

            public void Rename(int index, string name)
            {
                var old = Cast.Speakers[index];
                if (!_keepsOld)
                {
                    old.NodeName = name;
                    return;
                }
                if (Cast.Knows(name))
                {
                    return;
                }
                var copy = new DialogueSpeaker(name, old.DisplayName, old.Colour, old.IsNarrator);
                copy.Portrait = old.Portrait;
                copy.VoiceSource = old.VoiceSource;
                Cast.Speakers.Add(copy);
            }
        }
    }
}
