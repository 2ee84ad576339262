// Puts the sidecar and the models beside a player that Unity builds.
using System;
using System.Collections.Generic;
using System.IO;
using UnityEditor;
using UnityEditor.Build;
using UnityEditor.Build.Reporting;
using UnityEngine;

namespace Parley.Editor
{
    /// <summary>Fails a build before it begins where something is missing, and copies everything once it is done.</summary>
    public sealed class BuildProcessor : IPreprocessBuildWithReport, IPostprocessBuildWithReport
    {
        /// <summary>After what other packages do to the player.</summary>
        public int callbackOrder
        {
            get { return 1000; }
        }

        /// <inheritdoc/>
        public void OnPreprocessBuild(BuildReport report)
        {
            var settings = ParleySettings.Load();
            if (IsOff(settings))
            {
                return;
            }
            Check(BuildStaging.Plan(RequestOf(settings, report)));
        }

        /// <inheritdoc/>
        public void OnPostprocessBuild(BuildReport report)
        {
            var settings = ParleySettings.Load();
            if (IsOff(settings))
            {
                return;
            }
            var request = RequestOf(settings, report);
            var plan = BuildStaging.Plan(request);
            Check(plan);
            foreach (var note in plan.Notes)
            {
                Debug.Log("[Parley] " + note);
            }
            foreach (var warning in BuildStaging.WarningsOf(plan, request, Parley.Platform.IsWindows))
            {
                Debug.LogWarning("Parley: " + warning);
            }
            if (!Directory.Exists(Path.GetDirectoryName(request.Destination)))
            {
                Debug.LogWarning(
                    "[Parley] the build is no player but a project for another tool, so the sidecar was not put beside it; build with Unity, or copy "
                    + plan.Program + " and the models yourself.");
                return;
            }
            try
            {
                BuildStaging.Copy(plan, request.Destination, delegate(StagedFile file, long done)
                {
                    EditorUtility.DisplayProgressBar("Parley", file.Target, plan.Bytes == 0 ? 1f : (float)((double)done / plan.Bytes));
                });
            }
            catch (Exception fault)
            {
                if (fault is IOException || fault is UnauthorizedAccessException)
                {
                    throw new BuildFailedException("Parley: the sidecar could not be put beside the player: " + fault.Message);
                }
                throw;
            }
            finally
            {
                EditorUtility.ClearProgressBar();
            }
            Debug.Log("[Parley] " + EditorJson.Bytes(plan.Bytes) + " in " + request.Destination);
        }

        private static StagingRequest RequestOf(ParleySettings settings, BuildReport report)
        {
            try
            {
                return Request(settings, SystemOf(report.summary.platform), report.summary.outputPath);
            }
            catch (Exception fault)
            {
                if (EditorSidecar.IsBadPath(fault))
                {
                    throw new BuildFailedException("Parley: a path in Project Settings > Parley cannot be used: " + fault.Message);
                }
                throw;
            }
        }

        /// <summary>What a build of the project would stage.</summary>
        public static StagingRequest Request(ParleySettings settings, PlayerSystem system, string outputPath)
        {
            var places = EditorSidecar.Places();
            var request = new StagingRequest
            {
                System = system,
                SidecarFolders = places.SidecarFolders(settings.SidecarFolder),
                CatalogFile = places.FindCatalog(settings.CatalogFile),
                ModelsFolder = string.IsNullOrEmpty(settings.ModelsFolder)
                    ? BuildStaging.DefaultModelsFolder()
                    : Path.GetFullPath(Path.Combine(places.Root, settings.ModelsFolder)),
                MayDownload = settings.AllowModelDownload,
                Destination = BuildStaging.DestinationOf(system, outputPath)
            };
            var storage = places.FindStorage(settings.StorageFolder);
            foreach (var guid in AssetDatabase.FindAssets("t:ParleyWorkflow"))
            {
                var path = AssetDatabase.GUIDToAssetPath(guid);
                var workflow = IsShipped(path) ? AssetDatabase.LoadAssetAtPath<ParleyWorkflow>(path) : null;
                if (workflow == null)
                {
                    continue;
                }
                try
                {
                    request.Models.AddRange(BuildStaging.ModelsOf(workflow.Read(), storage));
                }
                catch (JsonFormatException fault)
                {
                    request.Problems.Add("The workflow " + path + " cannot be read, so nobody knows which models it needs: " + fault.Message + ".");
                }
            }
            return request;
        }

        private static void Check(StagingPlan plan)
        {
            if (plan.Problems.Count > 0)
            {
                throw new BuildFailedException("Parley: " + string.Join("\n", plan.Problems.ToArray()));
            }
        }

        private static bool IsOff(ParleySettings settings)
        {
            return !settings.AutoLaunch || !settings.IncludeSidecarInBuilds;
        }

        /// Assets in folders called Editor stay out of players.
        private static bool IsShipped(string path)
        {
            return ("/" + path.Replace('\\', '/')).IndexOf("/Editor/", StringComparison.Ordinal) < 0;
        }

        private static PlayerSystem SystemOf(BuildTarget target)
        {
            switch (target)
            {
                case BuildTarget.StandaloneWindows:
                case BuildTarget.StandaloneWindows64:
                    return PlayerSystem.Windows;
                case BuildTarget.StandaloneOSX:
                    return PlayerSystem.MacOS;
                case BuildTarget.StandaloneLinux64:
                    return PlayerSystem.Linux;
                default:
                    return PlayerSystem.None;
            }
        }
    }
}
