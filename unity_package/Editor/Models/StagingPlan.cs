// What is asked of a staging, and what it found.
using System.Collections.Generic;

namespace Parley.Editor
{
    /// <summary>The system that a player is built for.</summary>
    public enum PlayerSystem
    {
        /// <summary>None that a sidecar runs on.</summary>
        None,
        /// <summary>Windows.</summary>
        Windows,
        /// <summary>macOS.</summary>
        MacOS,
        /// <summary>Linux.</summary>
        Linux
    }

    /// <summary>What is to be staged, and from where.</summary>
    public sealed class StagingRequest
    {
        /// <summary>The system that the player is built for.</summary>
        public PlayerSystem System;

        /// <summary>Folders that `parley package sidecar` made, or that hold such folders; the first that fits is taken.</summary>
        public List<string> SidecarFolders = new List<string>();

        /// <summary>The game's models.json; empty: it has none.</summary>
        public string CatalogFile = "";

        /// <summary>Where models are that Parley downloaded or put together on this machine.</summary>
        public string ModelsFolder = "";

        /// <summary>The names of the models that the game's workflows name. Those of its own catalog go along too.</summary>
        public List<string> Models = new List<string>();

        /// <summary>A running game may download models: those that are not on this machine are then no problem.</summary>
        public bool MayDownload;

        /// <summary>What is wrong with the workflows, a sentence each; the build fails with them.</summary>
        public List<string> Problems = new List<string>();

        /// <summary>The folder in the player that everything goes into; it need not be there.</summary>
        public string Destination = "";
    }

    /// <summary>One file that is to be in the player.</summary>
    public sealed class StagedFile
    {
        /// <summary>Where it is now.</summary>
        public string Source;

        /// <summary>Where it goes, below the destination, with `/`.</summary>
        public string Target;

        /// <summary>Its size.</summary>
        public long Bytes;
    }

    /// <summary>What BuildStaging found, before anything is copied.</summary>
    public sealed class StagingPlan
    {
        /// <summary>The files, each target once.</summary>
        public readonly List<StagedFile> Files = new List<StagedFile>();

        /// <summary>Why the player would not work, a sentence each; the build fails with them.</summary>
        public readonly List<string> Problems = new List<string>();

        /// <summary>What a developer should know; the build goes on.</summary>
        public readonly List<string> Notes = new List<string>();

        /// <summary>The program to start, below the destination.</summary>
        public string Program = "";

        /// <summary>The bytes of all files.</summary>
        public long Bytes
        {
            get
            {
                long bytes = 0;
                foreach (var file in Files)
                {
                    bytes += file.Bytes;
                }
                return bytes;
            }
        }
    }
}
