// Tells Unity's linker what must not be stripped.
using System.IO;
using UnityEditor.Build;
using UnityEditor.Build.Reporting;
using UnityEditor.PackageManager;
using UnityEditor.UnityLinker;

namespace Parley.Editor
{
    /// <summary>
    /// Hands the package's link.xml to Unity's linker, which by itself looks only below a project's Assets.
    /// </summary>
    internal sealed class LinkXml : IUnityLinkerProcessor
    {
        public int callbackOrder
        {
            get { return 0; }
        }

        public string GenerateAdditionalLinkXmlFile(BuildReport report, UnityLinkerBuildPipelineData data)
        {
            PackageInfo package = PackageInfo.FindForAssembly(typeof(LinkXml).Assembly);
            if (package == null)
            {
                return null; // copied into Assets, where Unity finds the file
            }
            string path = Path.Combine(package.resolvedPath, "link.xml");
            return File.Exists(path) ? path : null;
        }
    }
}
