// FText and the macros that make one.
// Source: MothCocoon/FlowGraph Source/FlowEditor/Private/Asset/FlowAssetEditor.cpp (LOCTEXT, FText::Format), MothCocoon/FlowGraph
// Source/Flow/Public/FlowSettings.h (INVTEXT), JonasReich/OpenUnrealUtilities
// Source/OUUEditor/Private/AssetValidation/OUUBlueprintValidator.cpp (FormatOrdered)
#pragma once

#include "Containers/Map.h"
#include "UObject/NameTypes.h"

// Source: NotYetGames/DlgSystem Source/DlgSystemEditor/Search/DlgSearchManager.cpp
class FText;

// Source: NotYetGames/DlgSystem Source/DlgSystem/DlgTextArgument.cpp
class FFormatArgumentValue
{
public:
    FFormatArgumentValue() = default;
    FFormatArgumentValue(const FText& Value);
    FFormatArgumentValue(int32 Value)
        : Text(LexToString(Value))
    {
    }
    FFormatArgumentValue(uint32 Value)
        : Text(LexToString(Value))
    {
    }
    FFormatArgumentValue(int64 Value)
        : Text(LexToString(Value))
    {
    }
    FFormatArgumentValue(uint64 Value)
        : Text(LexToString(Value))
    {
    }
    FFormatArgumentValue(float Value)
        : Text(FString::SanitizeFloat(static_cast<double>(Value)))
    {
    }
    FFormatArgumentValue(double Value)
        : Text(FString::SanitizeFloat(Value))
    {
    }
    FString Text;
};
typedef TMap<FString, FFormatArgumentValue> FFormatNamedArguments;
typedef TArray<FFormatArgumentValue> FFormatOrderedArguments;

// Source: MothCocoon/FlowGraph Source/FlowEditor/Private/Asset/FlowAssetEditor.cpp
class FText
{
public:
    FText() = default;
    static FText FromString(const FString& String) { return FText(String); }
    static FText FromString(FString&& String) { return FText(String); }
    static FText FromName(const FName& Name) { return FText(Name.ToString()); }
    static FText AsCultureInvariant(const FString& String) { return FText(String); }
    static const FText& GetEmpty()
    {
        static const FText Empty;
        return Empty;
    }
    static FText AsNumber(int32 Number) { return FText(LexToString(Number)); }
    static FText AsNumber(int64 Number) { return FText(LexToString(Number)); }
    static FText AsNumber(float Number) { return FText(FString::SanitizeFloat(static_cast<double>(Number))); }
    static FText AsNumber(double Number) { return FText(FString::SanitizeFloat(Number)); }
    const FString& ToString() const { return Text; }
    bool IsEmpty() const { return Text.IsEmpty(); }
    bool IsEmptyOrWhitespace() const { return Text.TrimStartAndEnd().IsEmpty(); }
    bool EqualTo(const FText& Other) const { return Text.Equals(Other.Text); }
    bool IdenticalTo(const FText& Other) const { return Text.Equals(Other.Text); }
    int32 CompareTo(const FText& Other) const { return Text.Compare(Other.Text); }
    template <typename... A>
    static FText Format(FText Pattern, A... Arguments)
    {
        const FFormatOrderedArguments All = {FFormatArgumentValue(Arguments)...};
        return Format(MoveTemp(Pattern), All);
    }
    CORE_API static FText Format(FText Pattern, const FFormatOrderedArguments& Arguments);
    CORE_API static FText Format(FText Pattern, const FFormatNamedArguments& Arguments);
    static FText Format(FText Pattern, FFormatOrderedArguments& Arguments)
    {
        return Format(MoveTemp(Pattern), static_cast<const FFormatOrderedArguments&>(Arguments));
    }
    static FText Format(FText Pattern, FFormatNamedArguments& Arguments)
    {
        return Format(MoveTemp(Pattern), static_cast<const FFormatNamedArguments&>(Arguments));
    }
    template <typename... A>
    static FText FormatOrdered(FText Pattern, A&&... Arguments)
    {
        const FFormatOrderedArguments All = {FFormatArgumentValue(Arguments)...};
        return Format(MoveTemp(Pattern), All);
    }
    static FText Join(const FText& Delimiter, const TArray<FText>& Parts)
    {
        FString Made;
        for (int32 Index = 0; Index < Parts.Num(); ++Index)
        {
            Made += Index == 0 ? Parts[Index].Text : Delimiter.Text + Parts[Index].Text;
        }
        return FText(Made);
    }

private:
    explicit FText(const FString& String)
        : Text(String)
    {
    }
    FString Text;
};

inline FFormatArgumentValue::FFormatArgumentValue(const FText& Value)
    : Text(Value.ToString())
{
}

#define NSLOCTEXT(Namespace, Key, Text) FText::FromString(FString(TEXT(Text)))
// As in the engine, LOCTEXT_NAMESPACE has to be defined where LOCTEXT is written.
#define LOCTEXT(Key, Text) FText::FromString(((void)LOCTEXT_NAMESPACE, FString(TEXT(Text))))
#define INVTEXT(Text) FText::FromString(FString(TEXT(Text)))
