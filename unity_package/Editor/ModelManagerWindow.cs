// The models of the catalog: get them, try them, remove them.
using System;
using System.Collections.Generic;
using System.Globalization;
using UnityEditor;
using UnityEngine;

namespace Parley.Editor
{
    /// <summary>Draws ModelManagerModel.</summary>
    public sealed class ModelManagerWindow : EditorWindow
    {
        private readonly List<Action> _later = new List<Action>();
        private ModelManagerModel _models;
        private ParleyCore _core;
        [NonSerialized]
        private string _fault = "";
        private Vector2 _scroll;

        /// <summary>The models; null: no sidecar was asked.</summary>
        public ModelManagerModel Models
        {
            get { return _models; }
        }

        [MenuItem("Window/Parley/Models", false, 4)]
        private static void OpenWindow()
        {
            Open();
        }

        /// <summary>Opens the window.</summary>
        public static ModelManagerWindow Open()
        {
            var window = GetWindow<ModelManagerWindow>("Parley Models");
            window.Show();
            return window;
        }

        private void OnDisable()
        {
            LetGo();
        }

        /// <summary>Asks for the list; starts the sidecar where there is none.</summary>
        public void Ask()
        {
            try
            {
                var core = EditorSidecar.Start();
                if (!ReferenceEquals(core, _core))
                {
                    LetGo();
                    _core = core;
                    _models = new ModelManagerModel(core, EditorSidecar.Launch);
                    _models.Changed += OnChanged;
                }
                _fault = "";
                _models.Refresh();
            }
            catch (ParleyException fault)
            {
                _fault = fault.Message;
            }
        }

        private void LetGo()
        {
            if (_models != null)
            {
                _models.Dispose();
                _models = null;
                _core = null;
            }
        }

        private void OnChanged()
        {
            if (_models.Fault.Length == 0 && _models.Rows.Count > 0)
            {
                EditorModels.Take(_models.Known());
            }
            Repaint();
        }

        /// <summary>Draws the window.</summary>
        public void OnGUI()
        {
            if (GUILayout.Button(_models == null ? "Show Models" : "Refresh", GUILayout.Width(120f)))
            {
                _later.Add(Ask);
            }
            var fault = _models == null ? _fault : _models.Fault;
            if (fault.Length > 0)
            {
                EditorGUILayout.HelpBox(fault, MessageType.Error);
            }
            if (_models != null)
            {
                _scroll = EditorGUILayout.BeginScrollView(_scroll);
                foreach (var row in _models.Rows)
                {
                    DrawRow(row);
                }
                EditorGUILayout.EndScrollView();
            }
            var edits = _later.ToArray();
            _later.Clear();
            foreach (var edit in edits)
            {
                edit();
                Repaint();
            }
        }

        private void DrawRow(ModelRow row)
        {
            EditorGUILayout.BeginVertical(EditorStyles.helpBox);
            EditorGUILayout.BeginHorizontal();
            EditorGUILayout.LabelField(row.Info.Name + "  (" + ModelManagerModel.Word(row.Info.Type) + ", " + row.Info.Engine + ")", EditorStyles.boldLabel);
            Button(row, "Download", row.CanDownload, delegate { _models.Download(row); });
            Button(row, "Cancel", row.CanCancel, delegate { _models.CancelDownload(row); });
            Button(row, row.IsPinned ? "Unload" : "Load", row.IsPinned || row.CanLoad, delegate
            {
                if (row.IsPinned)
                {
                    _models.Unload(row);
                }
                else
                {
                    _models.Load(row);
                }
            });
            Button(row, "Verify", row.Task.Length == 0, delegate { _models.Verify(row); });
            Button(row, "Delete", row.CanDelete, delegate
            {
                if (EditorUtility.DisplayDialog("Delete Model", "Remove the files of " + row.Info.Name + " from this machine?", "Delete", "Keep"))
                {
                    _models.Delete(row);
                }
            });
            EditorGUILayout.EndHorizontal();
            EditorGUILayout.LabelField(row.Facts, EditorStyles.miniLabel);
            if (row.Task.Length > 0)
            {
                var words = row.Task + (row.Total > 0
                    ? string.Format(CultureInfo.InvariantCulture, " {0:0} %", row.Fraction * 100f)
                    : "…");
                EditorGUI.ProgressBar(GUILayoutUtility.GetRect(100f, 18f), row.Fraction, words);
            }
            if (row.Outcome.Length > 0)
            {
                EditorGUILayout.HelpBox(row.Outcome, row.HasFailed ? MessageType.Error : MessageType.None);
            }
            EditorGUILayout.EndVertical();
        }

        private void Button(ModelRow row, string words, bool isOn, Action press)
        {
            EditorGUI.BeginDisabledGroup(!isOn);
            GUI.SetNextControlName(words + " " + row.Info.Name);
            if (GUILayout.Button(words, GUILayout.Width(70f)))
            {
                _later.Add(press);
            }
            EditorGUI.EndDisabledGroup();
        }
    }
}
