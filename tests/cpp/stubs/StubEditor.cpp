// Modules of the editor that a plugin loads by name.
#include "AssetRegistry/AssetRegistryModule.h"
#include "AssetToolsModule.h"
#include "DesktopPlatformModule.h"
#include "PropertyEditorModule.h"

IMPLEMENT_MODULE(FAssetRegistryModule, AssetRegistry)
IMPLEMENT_MODULE(FAssetToolsModule, AssetTools)
IMPLEMENT_MODULE(FPropertyEditorModule, PropertyEditor)
IMPLEMENT_MODULE(FDesktopPlatformModule, DesktopPlatform)
