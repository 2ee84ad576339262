// IDetailLayoutBuilder: a test makes one over objects and looks at its categories.
// Source: MothCocoon/FlowGraph Source/FlowEditor/Private/DetailCustomizations/FlowNode_Details.cpp, CesiumGS/cesium-unreal
// Source/CesiumEditor/Private/CesiumGeoreferenceCustomization.cpp
#pragma once

#include "DetailCategoryBuilder.h"
#include "Fonts/SlateFontInfo.h"
#include "IPropertyUtilities.h"
#include "UObject/UnrealType.h"

// Source: VoxelPlugin/VoxelCore Source/VoxelCoreEditor/Public/VoxelEditorUtilities.h
namespace ECategoryPriority
{
// Source: VoxelPlugin/VoxelCore Source/VoxelCoreEditor/Public/VoxelEditorUtilities.h
enum Type
{
    Variable,
    Transform,
    Important,
    TypeSpecific,
    Default,
    Uncommon,
};
} // namespace ECategoryPriority

// Source: MothCocoon/FlowGraph Source/FlowEditor/Private/DetailCustomizations/FlowNode_Details.cpp
class IDetailLayoutBuilder
{
public:
    virtual ~IDetailLayoutBuilder() = default;
    static FSlateFontInfo GetDetailFont() { return FSlateFontInfo(); }
    static FSlateFontInfo GetDetailFontBold()
    {
        FSlateFontInfo Font;
        Font.bStubBold = true;
        return Font;
    }
    static FSlateFontInfo GetDetailFontItalic() { return FSlateFontInfo(); }
    void GetObjectsBeingCustomized(TArray<TWeakObjectPtr<UObject>>& OutObjects) const { OutObjects = StubObjects; }
    const TArray<TWeakObjectPtr<UObject>>& GetSelectedObjects() const { return StubObjects; }
    IDetailCategoryBuilder& EditCategory(
        FName CategoryName, const FText& NewLocalizedDisplayName = FText::GetEmpty(), ECategoryPriority::Type = ECategoryPriority::Default)
    {
        TSharedPtr<IDetailCategoryBuilder>& Found = StubCategories.FindOrAdd(CategoryName);
        if (!Found.IsValid())
        {
            Found = MakeShared<IDetailCategoryBuilder>();
            Found->StubTitle = NewLocalizedDisplayName;
        }
        return *Found;
    }
    /// In this order: the categories of the class's properties.
    void GetCategoryNames(TArray<FName>& OutCategoryNames) const
    {
        OutCategoryNames.Reset();
        for (const TWeakObjectPtr<UObject>& Object : StubObjects)
        {
            for (FProperty* Property : Object->GetClass()->StubAllProperties())
            {
                const FString* Category = Property->Meta.Find(FString(TEXT("Category")));
                if (Category != nullptr)
                {
                    OutCategoryNames.AddUnique(FName(*Category));
                }
            }
        }
    }
    void HideCategory(FName CategoryName) { StubHiddenCategories.Add(CategoryName); }
    void HideProperty(FName PropertyPath, const UClass* ClassOutermost = nullptr, FName InstanceName = NAME_None)
    {
        StubHidden.Add(PropertyPath);
    }
    const TSharedRef<IPropertyUtilities> GetPropertyUtilities() const { return StubUtilities; }
    void ForceRefreshDetails() { StubUtilities->ForceRefresh(); }
    void StubWalk(const TFunction<void(SWidget&)>& Visit) const
    {
        for (const auto& Pair : StubCategories)
        {
            Pair.Value->StubWalk(Visit);
        }
    }
    TArray<TWeakObjectPtr<UObject>> StubObjects;
    TMap<FName, TSharedPtr<IDetailCategoryBuilder>> StubCategories;
    TArray<FName> StubHidden;
    TArray<FName> StubHiddenCategories;
    TSharedRef<IPropertyUtilities> StubUtilities = MakeShared<IPropertyUtilities>();
};
