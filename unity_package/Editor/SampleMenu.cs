// Gets the tavern into a project.
using UnityEditor;
using UnityEditor.PackageManager.UI;
using UnityEngine;
using PackageInfo = UnityEditor.PackageManager.PackageInfo;

namespace Parley.Editor
{
    /// <summary>Imports the package's samples from a menu, for those who don't look into the Package Manager.</summary>
    public static class SampleMenu
    {
        /// <summary>Imports the samples; tells where they are.</summary>
        [MenuItem("Window/Parley/Import the Tavern Sample", false, 20)]
        public static void ImportTavern()
        {
            var package = PackageInfo.FindForAssembly(typeof(SampleMenu).Assembly);
            if (package == null)
            {
                EditorUtility.DisplayDialog(
                    "Parley", "Parley is not installed as a package here; copy the folder Samples~/Tavern into Assets by hand.", "OK");
                return;
            }
            foreach (var sample in Sample.FindByPackage(package.name, package.version))
            {
                if (sample.displayName.IndexOf("Tavern", System.StringComparison.OrdinalIgnoreCase) < 0)
                {
                    continue;
                }
                if (sample.isImported || sample.Import(Sample.ImportOptions.None))
                {
                    Debug.Log("[Parley] the tavern is in " + sample.importPath);
                    return;
                }
            }
            EditorUtility.DisplayDialog("Parley", "The package holds no tavern that could be imported; is it whole?", "OK");
        }
    }
}
