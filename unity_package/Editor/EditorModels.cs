// The names of the models that the editor's sidecar has, for dropdowns.
using System;
using System.Collections.Generic;
using Parley.Messages;
using UnityEditor;

namespace Parley.Editor
{
    /// <summary>Remembers which models there are; until a sidecar said so, none.</summary>
    public static class EditorModels
    {
        private const string StateKey = "Parley.Models";

        private static List<KnownModel> _known;

        /// <summary>The models as far as they are known.</summary>
        public static IList<KnownModel> Known
        {
            get
            {
                if (_known == null)
                {
                    _known = new List<KnownModel>();
                    foreach (var line in UnityEditor.SessionState.GetString(StateKey, "").Split('\n'))
                    {
                        var at = line.IndexOf('|');
                        if (at > 0)
                        {
                            _known.Add(new KnownModel { Type = line.Substring(0, at), Name = line.Substring(at + 1) });
                        }
                    }
                }
                return _known;
            }
        }

        /// <summary>Takes a list that a sidecar sent.</summary>
        public static void Take(IEnumerable<KnownModel> models)
        {
            _known = new List<KnownModel>(models);
            var lines = new List<string>();
            foreach (var model in _known)
            {
                lines.Add(model.Type + "|" + model.Name);
            }
            UnityEditor.SessionState.SetString(StateKey, string.Join("\n", lines.ToArray()));
        }

        /// <summary>Asks the sidecar that runs; without one nothing happens.</summary>
        public static void Ask()
        {
            if (EditorSidecar.Running == null)
            {
                return;
            }
            EditorSidecar.Running.Request(new ListModels(), delegate(Reply reply, ParleyException fault)
            {
                var models = reply as Messages.Models;
                if (models == null)
                {
                    return;
                }
                var known = new List<KnownModel>();
                foreach (var info in models.Items)
                {
                    known.Add(new KnownModel { Name = info.Name, Type = ModelManagerModel.Word(info.Type) });
                }
                Take(known);
            });
        }
    }
}
