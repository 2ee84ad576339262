// What every sidecar is told: the one that is there, and those to come.
using System;
using System.Collections.Generic;
using Parley.Messages;

namespace Parley
{
    public sealed partial class ParleyCore
    {
        /// <summary>Set what the session may touch, here and in every sidecar to come. What is null stays as it was.</summary>
        public void Configure(ConfigureSession settings, Action<ParleyException> done = null)
        {
            ConfigureSession sent = new ConfigureSession
            {
                StorageFolder = settings.StorageFolder,
                AllowModelDownload = settings.AllowModelDownload,
                GameName = settings.GameName,
            };
            ConfigureSession before = _configured ?? new ConfigureSession();
            _configured = new ConfigureSession
            {
                StorageFolder = sent.StorageFolder ?? before.StorageFolder,
                AllowModelDownload = sent.AllowModelDownload ?? before.AllowModelDownload,
                GameName = sent.GameName ?? before.GameName,
            };
            AlsoNow(_isMade && IsConnected ? sent : _configured, done);
        }

        /// <summary>Make a string storage, here and in every sidecar to come.</summary>
        public void MakeStorage(CreateStringStorage storage, Action<ParleyException> done = null)
        {
            Keep(storage, done);
        }

        /// <summary>Make an embedded storage, here and in every sidecar to come.</summary>
        public void MakeStorage(CreateEmbeddedStorage storage, Action<ParleyException> done = null)
        {
            Keep(storage, done);
        }

        /// <summary>Load a model and keep it loaded, here and in every sidecar to come.</summary>
        public void PinModel(string model, Action<ParleyException> done = null)
        {
            LoadModel request = new LoadModel { Model = model };
            Keep(request, done);
        }

        /// <summary>Take PinModel back.</summary>
        public void UnpinModel(string model, Action<ParleyException> done = null)
        {
            _made.RemoveAll(request => NameOf(request) == "LoadModel " + model);
            AlsoNow(new UnloadModel { Model = model }, done);
        }

        /// <summary>Release the name of a string storage; agents that use it keep it until the next sidecar.</summary>
        public void DropStringStorage(string name, Action<ParleyException> done = null)
        {
            _made.RemoveAll(request => NameOf(request) == "CreateStringStorage " + name);
            AlsoNow(new DestroyStringStorage { Name = name }, done);
        }

        /// <summary>Release the name of an embedded storage; agents that use it keep it until the next sidecar.</summary>
        public void DropEmbeddedStorage(string name, Action<ParleyException> done = null)
        {
            _made.RemoveAll(request => NameOf(request) == "CreateEmbeddedStorage " + name);
            AlsoNow(new DestroyEmbeddedStorage { Name = name }, done);
        }

        /// <summary>Every sidecar to come is told anyway; the one that is there is told now.</summary>
        private void AlsoNow(Request request, Action<ParleyException> done)
        {
            string name = NameOf(request);
            Action<ParleyException> tell = fault =>
            {
                if (done != null)
                {
                    Call(() => done(fault));
                }
                else if (fault != null)
                {
                    Refused(name, fault);
                }
            };
            if (!WillBeThere)
            {
                ParleyException fault = Faults.Down(_trouble);
                Post(() => tell(fault));
            }
            else if (_isMade && IsConnected)
            {
                Request(request, (reply, fault) => tell(fault));
            }
            else if (_life.IsResuming || request == _configured || _made.Contains(request))
            {
                // It is among the first things that the sidecar is told.
                _toTell.Add(new Told(request, tell));
            }
            else
            {
                // What was never made there need not be taken back.
                Post(() => tell(null));
            }
        }

        private void Tell(string name, ParleyException fault)
        {
            foreach (Told one in _toTell.ToArray())
            {
                if (name == null || NameOf(one.Request) == name)
                {
                    _toTell.Remove(one);
                    one.Tell(fault);
                }
            }
        }

        /// <summary>What a sidecar is told as soon as it answers, and who wants to know what it says to that.</summary>
        private sealed class Told
        {
            internal readonly Request Request;
            internal readonly Action<ParleyException> Tell;

            internal Told(Request request, Action<ParleyException> tell)
            {
                Request = request;
                Tell = tell;
            }
        }

        private void Keep(Request asked, Action<ParleyException> done)
        {
            Request request = CopyOf(asked);
            string name = NameOf(request);
            Request before = _made.Find(other => NameOf(other) == name);
            _made.Remove(before);
            _made.Add(request);
            AlsoNow(request, fault =>
            {
                if (fault != null && fault.Code != 0 && !Faults.MeansGone(fault) && _made.Remove(request) && before != null)
                {
                    // What was refused is not made in the next sidecar either; what is there is.
                    _made.Add(before);
                }
                if (done != null)
                {
                    done(fault);
                }
                else if (fault != null)
                {
                    Refused(name, fault);
                }
            });
        }

        /// <summary>What the game does with its own afterwards is nothing to the sidecars to come.</summary>
        private static Request CopyOf(Request asked)
        {
            try
            {
                return (Request)MessageReader.Read(asked.TypeName, asked.ToJson());
            }
            catch (MalformedMessageException)
            {
                // The sidecar says better what is wrong with it.
                return asked;
            }
        }

        private void Refused(string name, ParleyException fault)
        {
            if (fault.Code == 0 || Faults.MeansGone(fault))
            {
                // No sidecar refused anything: there was none, and that was told already.
                Say(LogLevel.Info, name + " was not said to a sidecar: " + fault.Message);
                return;
            }
            Say(LogLevel.Error, "the sidecar refused " + name + ": " + fault);
        }

        internal static string NameOf(Request request)
        {
            CreateStringStorage strings = request as CreateStringStorage;
            CreateEmbeddedStorage embedded = request as CreateEmbeddedStorage;
            LoadModel model = request as LoadModel;
            string name = strings != null ? strings.Name : embedded != null ? embedded.Name : model != null ? model.Model : "";
            return name.Length > 0 ? request.TypeName + " " + name : request.TypeName;
        }
    }
}
