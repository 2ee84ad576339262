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
                        var words = line.Split('\t');
                        if (words.Length > 1)
                        {
                            var speakers = new string[words.Length - 2];
                            Array.Copy(words, 2, speakers, 0, speakers.Length);
                            _known.Add(new KnownModel { Type = words[0], Name = words[1], Speakers = speakers });
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
                var words = new List<string> { model.Type, model.Name };
                words.AddRange(model.Speakers);
                lines.Add(string.Join("\t", words.ToArray()));
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
                    known.Add(KnownModel.Of(info));
                }
                Take(known);
            });
        }
    }
}
