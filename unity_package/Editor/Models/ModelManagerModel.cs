// The models of the catalog for the model manager window: what is there, and what is being done with it.
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Globalization;
using System.Text;
using System.Threading;
using Parley.Messages;

namespace Parley.Editor
{
    /// <summary>One model of the catalog.</summary>
    public sealed class ModelRow
    {
        /// <summary>What the sidecar says of it.</summary>
        public ModelInfo Info;

        /// <summary>What is being done with it, such as download; empty: nothing.</summary>
        public string Task = "";

        /// <summary>How far that is.</summary>
        public long Done, Total;

        /// <summary>What is counted.</summary>
        public string Unit = "";

        /// <summary>This editor keeps it loaded.</summary>
        public bool IsPinned;

        /// <summary>What the last thing that was done with it came to; empty: nothing to say.</summary>
        public string Outcome = "";

        /// <summary>Outcome is a failure.</summary>
        public bool HasFailed;

        /// <summary>Between 0 and 1; 0 where it is not known.</summary>
        public float Fraction
        {
            get { return Total > 0 ? (float)Math.Min(1.0, (double)Done / Total) : 0f; }
        }

        /// <summary>Its files can be downloaded.</summary>
        public bool CanDownload
        {
            get { return Task.Length == 0 && IsFromHub && Info.Status == ModelStatus.Absent; }
        }

        /// <summary>A download is under way.</summary>
        public bool CanCancel
        {
            get { return Task == "download" || Info.Status == ModelStatus.Downloading; }
        }

        /// <summary>Its files were downloaded, whole or in part, and can be removed.</summary>
        public bool CanDelete
        {
            get { return Task.Length == 0 && IsFromHub && !IsPinned && (Info.Status == ModelStatus.Downloaded || Info.BytesPartial > 0); }
        }

        /// <summary>It can be loaded.</summary>
        public bool CanLoad
        {
            get { return Task.Length == 0 && !IsPinned && Info.Status != ModelStatus.Downloading && (Info.Status != ModelStatus.Absent || !IsFromHub); }
        }

        private bool IsFromHub
        {
            get { return Info.Source.StartsWith("huggingface", StringComparison.Ordinal); }
        }

        /// <summary>Status, sizes and place on one line.</summary>
        public string Facts
        {
            get
            {
                var facts = new StringBuilder();
                facts.Append(Info.Status.ToString());
                if (Info.BytesOnDisk > 0)
                {
                    facts.Append(", ").Append(EditorJson.Bytes(Info.BytesOnDisk)).Append(" on disk");
                }
                if (Info.BytesPartial > 0)
                {
                    facts.Append(", ").Append(EditorJson.Bytes(Info.BytesPartial)).Append(" of a download");
                }
                if (Info.BytesInMemory > 0)
                {
                    facts.Append(", ").Append(EditorJson.Bytes(Info.BytesInMemory)).Append(" in memory");
                }
                if (!string.IsNullOrEmpty(Info.Backend))
                {
                    facts.Append(", ").Append(Info.Backend);
                    if (Info.LayersOffloaded > 0)
                    {
                        facts.Append(" (").Append(Info.LayersOffloaded.ToString(CultureInfo.InvariantCulture)).Append(" layers)");
                    }
                }
                if (!string.IsNullOrEmpty(Info.License))
                {
                    facts.Append(", ").Append(Info.License);
                }
                return facts.ToString();
            }
        }
    }

    /// <summary>Lists, downloads, removes, loads and checks models through an editor's sidecar.</summary>
    /// <remarks>Threading: the editor's main thread; whoever has the core calls its Update, and everything changes in it.</remarks>
    public sealed class ModelManagerModel : IDisposable
    {
        private readonly ParleyCore _core;
        private readonly Func<SidecarOptions> _command;
        private bool _isListing, _mustList;
        private volatile bool _isDisposed;

        /// <summary>A list that is empty until Refresh. `command`: how the sidecar is started, to check files with; may be null.</summary>
        public ModelManagerModel(ParleyCore core, Func<SidecarOptions> command = null)
        {
            _core = core;
            _command = command;
            Rows = new List<ModelRow>();
            Fault = "";
            _core.Pushed += OnPushed;
            _core.Gone += OnGone;
        }

        /// <summary>Something changed that a window shows.</summary>
        public event Action Changed;

        /// <summary>The models, as the catalog has them.</summary>
        public List<ModelRow> Rows { get; private set; }

        /// <summary>Why there is no list; empty: there is one, or none was asked for.</summary>
        public string Fault { get; private set; }

        /// <summary>A model by its name; null: there is none.</summary>
        public ModelRow Find(string name)
        {
            foreach (var row in Rows)
            {
                if (row.Info.Name == name)
                {
                    return row;
                }
            }
            return null;
        }

        /// <summary>The models as dropdowns offer them.</summary>
        public List<KnownModel> Known()
        {
            var known = new List<KnownModel>();
            foreach (var row in Rows)
            {
                known.Add(KnownModel.Of(row.Info));
            }
            return known;
        }

        /// <summary>A type of model as the wire has it.</summary>
        public static string Word(ModelType type)
        {
            return type == ModelType.Embedding ? "embedding" : type == ModelType.Tts ? "tts" : "language";
        }

        /// <summary>Asks for the list; starts the sidecar where there is none.</summary>
        public void Refresh()
        {
            if (_isListing)
            {
                _mustList = true;
                return;
            }
            _isListing = true;
            _mustList = false;
            _core.Start();
            _core.Request(new ListModels(), delegate(Reply reply, ParleyException fault)
            {
                _isListing = false;
                Take(reply as Models, fault);
                if (_mustList && !_isDisposed)
                {
                    Refresh();
                }
            });
        }

        /// <summary>Downloads a model; goes on where an earlier download stopped.</summary>
        public void Download(ModelRow row)
        {
            Begin(row, "download");
            _core.Request(new DownloadModel { Model = row.Info.Name }, Ended(row, "downloaded and checked"));
        }

        /// <summary>Stops a download; what is there is kept for the next one.</summary>
        public void CancelDownload(ModelRow row)
        {
            _core.Request(new CancelDownload { Model = row.Info.Name }, delegate { Refresh(); });
        }

        /// <summary>Removes the files of a model that was downloaded.</summary>
        public void Delete(ModelRow row)
        {
            Begin(row, "delete");
            _core.Request(new DeleteModel { Model = row.Info.Name }, Ended(row, "removed"));
        }

        /// <summary>Loads a model and keeps it loaded for as long as the editor's sidecar runs.</summary>
        public void Load(ModelRow row)
        {
            Begin(row, "load");
            _core.PinModel(row.Info.Name, delegate(ParleyException fault)
            {
                row.IsPinned = fault == null;
                End(row, "loaded", fault);
            });
        }

        /// <summary>Takes Load back.</summary>
        public void Unload(ModelRow row)
        {
            Begin(row, "unload");
            _core.UnpinModel(row.Info.Name, delegate(ParleyException fault)
            {
                row.IsPinned = row.IsPinned && fault != null;
                End(row, "unloaded", fault);
            });
        }

        /// <summary>Checks a model's files, every byte: with a process of its own, since that takes a while.</summary>
        public void Verify(ModelRow row)
        {
            SidecarOptions command;
            try
            {
                command = _command == null ? null : _command();
            }
            catch (ParleyException fault)
            {
                End(row, "", fault);
                return;
            }
            if (command == null)
            {
                End(row, "", new ParleyException(LocalFaults.NotThere, "nothing is known that could check files; set the sidecar in Project Settings > Parley"));
                return;
            }
            Begin(row, "verify");
            var name = row.Info.Name;
            var thread = new Thread(delegate()
            {
                bool isWhole;
                var said = RunVerify(command, name, out isWhole);
                _core.Post(delegate
                {
                    row.Task = "";
                    row.HasFailed = !isWhole;
                    row.Outcome = said;
                    Tell();
                });
            });
            thread.IsBackground = true;
            thread.Name = "Parley model check";
            thread.Start();
        }

        /// <summary>Hears no more.</summary>
        public void Dispose()
        {
            _isDisposed = true;
            _core.Pushed -= OnPushed;
            _core.Gone -= OnGone;
        }

        // ---- doing

        private static string RunVerify(SidecarOptions command, string model, out bool isWhole)
        {
            isWhole = false;
            var arguments = VerifyArguments(command.Arguments, model);
            try
            {
                var start = new ProcessStartInfo(Platform.FindProgram(command.Executable), CommandLine.Join(arguments))
                {
                    UseShellExecute = false,
                    CreateNoWindow = true,
                    RedirectStandardOutput = true,
                    RedirectStandardError = true,
                    StandardOutputEncoding = new UTF8Encoding(false),
                    StandardErrorEncoding = new UTF8Encoding(false)
                };
                foreach (var variable in command.Environment)
                {
                    if (variable.Value == null)
                    {
                        start.EnvironmentVariables.Remove(variable.Key);
                    }
                    else
                    {
                        start.EnvironmentVariables[variable.Key] = variable.Value;
                    }
                }
                start.EnvironmentVariables["PYTHONIOENCODING"] = "utf-8";
                using (var process = new Process { StartInfo = start })
                {
                    var errors = new StringBuilder();
                    process.ErrorDataReceived += delegate(object sender, DataReceivedEventArgs line)
                    {
                        if (line.Data != null)
                        {
                            errors.Append(line.Data).Append('\n');
                        }
                    };
                    process.Start();
                    process.BeginErrorReadLine();
                    var said = process.StandardOutput.ReadToEnd().Trim();
                    process.WaitForExit();
                    isWhole = process.ExitCode == 0;
                    return said.Length > 0 ? said : LastLine(errors.ToString());
                }
            }
            catch (Exception fault)
            {
                // Whatever keeps a program from being started is told as it is.
                return fault.Message;
            }
        }

        /// Of what is said to `serve` only the settings file is for the check too.
        private static List<string> VerifyArguments(List<string> serve, string model)
        {
            var at = serve.IndexOf("serve");
            var arguments = serve.GetRange(0, at < 0 ? serve.Count : at);
            arguments.Add("models");
            arguments.Add("verify");
            for (var more = at + 1; at >= 0 && more < serve.Count; more++)
            {
                if (serve[more] == "--config" && more + 1 < serve.Count)
                {
                    arguments.Add("--config");
                    arguments.Add(serve[more + 1]);
                }
                else if (serve[more].StartsWith("--config=", StringComparison.Ordinal))
                {
                    arguments.Add(serve[more]);
                }
            }
            arguments.Add("--");
            arguments.Add(model);
            return arguments;
        }

        private static string LastLine(string text)
        {
            var lines = text.Trim().Split('\n');
            return lines[lines.Length - 1].Trim();
        }

        private void Begin(ModelRow row, string task)
        {
            row.Task = task;
            row.Done = row.Total = 0;
            row.Outcome = "";
            row.HasFailed = false;
            Tell();
        }

        private Action<Reply, ParleyException> Ended(ModelRow row, string outcome)
        {
            return delegate(Reply reply, ParleyException fault) { End(row, outcome, fault); };
        }

        private void End(ModelRow row, string outcome, ParleyException fault)
        {
            row.Task = "";
            row.HasFailed = fault != null;
            row.Outcome = fault == null ? outcome : fault.Message;
            Tell();
            if (!_isDisposed && _core.IsConnected)
            {
                Refresh();
            }
        }

        private void Take(Models models, ParleyException fault)
        {
            if (models == null)
            {
                Fault = fault == null ? "the sidecar sent no list" : fault.Message;
                Tell();
                return;
            }
            Fault = "";
            var rows = new List<ModelRow>();
            foreach (var info in models.Items)
            {
                var row = Find(info.Name) ?? new ModelRow();
                row.Info = info;
                rows.Add(row);
            }
            Rows = rows;
            Tell();
        }

        private void OnPushed(Push push)
        {
            var progress = push as Progress;
            var row = progress == null ? null : Find(progress.Model);
            if (row == null)
            {
                return;
            }
            if (row.Task.Length == 0)
            {
                return; // somebody else's work, or the last word of what has ended
            }
            row.Done = progress.Done;
            row.Total = progress.Total;
            row.Unit = progress.Unit;
            Tell();
        }

        private void OnGone(string why)
        {
            foreach (var row in Rows)
            {
                if (row.Task == "load" || row.Task == "unload")
                {
                    row.Done = row.Total = 0;
                }
            }
            Tell();
        }

        private void Tell()
        {
            if (!_isDisposed && Changed != null)
            {
                Changed();
            }
        }
    }
}
