// What the tests of the editor module have before them: assets, a Details panel, what can be undone.
#pragma once

#include "Testing.h"

#include "Containers/Ticker.h"
#include "CoreMinimal.h"
#include "DetailLayoutBuilder.h"
#include "DialogueCast.h"
#include "ParleyWorkflow.h"
#include "StubTransactions.h"
#include "WorkflowDetails.h"

#include <functional>
#include <map>
#include <string>

class SButton;
class SEditableTextBox;

namespace EditorTests
{

using Parley::Testing::Arguments;
using Parley::Testing::Check;

using Test = void (*)(const Arguments& Given);
struct FEntry
{
    FEntry(const char* Name, Test Run);
};
const std::map<std::string, Test>& AllTests();

std::string Utf8(const FString& Text);
void Equal(const std::string& Wanted, const std::string& Found, const std::string& What);
void Equal(const std::string& Wanted, const FString& Found, const std::string& What);
void Equal(long long Wanted, long long Found, const std::string& What);
bool Contains(const std::string& Text, const std::string& Part);

/// An asset of the project.
UParleyWorkflow* MakeWorkflow(const std::string& Text, const TCHAR* Name = TEXT("Tavern"));
UDialogueCast* MakeCast(const TCHAR* Name, std::initializer_list<const TCHAR*> Nodes);
std::string TextOf(const UParleyWorkflow* Workflow);
std::string NamesOf(const UDialogueCast* Cast);
/// The titles of what can be undone, and what is wrong with how it was recorded.
std::string History();

/// A Details panel that shows one object; drawn anew as the engine does it.
class FPanel
{
public:
    explicit FPanel(UObject* Shown);
    ~FPanel();

    void Draw();
    /// What the panel does in its next frame.
    void Frame();
    /// Every text of every widget, a line each.
    std::string Shown() const;
    /// The text box that shows this text; fails where there is none.
    SEditableTextBox& Box(const char* Text) const;
    /// The button of this text, the n-th.
    SButton& Button(const char* Text, int32 Which = 0) const;
    void Type(const char* Before, const char* After);

    TUniquePtr<IDetailLayoutBuilder> Builder;
    TSharedPtr<IDetailCustomization> Details;

private:
    UObject* Object;
    int32 Drawn = 0;
};

} // namespace EditorTests

#define EDITOR_TEST(Name) \
    static void Name(const ::EditorTests::Arguments& Given); \
    static const ::EditorTests::FEntry Name##Entry(#Name, &Name); \
    static void Name([[maybe_unused]] const ::EditorTests::Arguments& Given)
