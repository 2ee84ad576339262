// What the tests of the editor module have before them: assets, a Details panel, what can be undone.
#include "EngineDesk.h"

#include "ParleyText.h"
#include "UObject/Package.h"
#include "UObject/UObjectGlobals.h"
#include "Widgets/Input/SButton.h"
#include "Widgets/Input/SEditableTextBox.h"
#include "Widgets/Input/SMultiLineEditableTextBox.h"
#include "Widgets/Text/STextBlock.h"
#include "WorkflowSession.h"

#include <cstdio>

namespace EditorTests
{

namespace
{

std::map<std::string, Test>& Tests()
{
    static std::map<std::string, Test> Known;
    return Known;
}

} // namespace

FEntry::FEntry(const char* Name, Test Run)
{
    Tests()[Name] = Run;
}

const std::map<std::string, Test>& AllTests()
{
    return Tests();
}

std::string Utf8(const FString& Text)
{
    return Parley::ToUtf8(Text);
}

void Equal(const std::string& Wanted, const std::string& Found, const std::string& What)
{
    Check(Wanted == Found, What + ": wanted <" + Wanted + ">, found <" + Found + ">");
}

void Equal(const std::string& Wanted, const FString& Found, const std::string& What)
{
    Equal(Wanted, Utf8(Found), What);
}

void Equal(long long Wanted, long long Found, const std::string& What)
{
    Equal(std::to_string(Wanted), std::to_string(Found), What);
}

bool Contains(const std::string& Text, const std::string& Part)
{
    return Text.find(Part) != std::string::npos;
}

UParleyWorkflow* MakeWorkflow(const std::string& Text, const TCHAR* Name)
{
    UPackage* Package = CreatePackage(*(FString(TEXT("/Game/")) + Name));
    UParleyWorkflow* Made = NewObject<UParleyWorkflow>(Package, FName(Name), RF_Public | RF_Standalone | RF_Transactional);
    FString Fault;
    Check(Made->ImportText(Parley::ToFString(Text), Fault), Utf8(Fault));
    return Made;
}

UDialogueCast* MakeCast(const TCHAR* Name, std::initializer_list<const TCHAR*> Nodes)
{
    UPackage* Package = CreatePackage(*(FString(TEXT("/Game/")) + Name));
    UDialogueCast* Made = NewObject<UDialogueCast>(Package, FName(Name), RF_Public | RF_Standalone | RF_Transactional);
    for (const TCHAR* Node : Nodes)
    {
        FDialogueSpeaker Speaker;
        Speaker.NodeName = Node;
        Made->Speakers.Add(Speaker);
    }
    return Made;
}

std::string TextOf(const UParleyWorkflow* Workflow)
{
    FString Text;
    FString Fault;
    Check(Workflow->ExportText(Text, Fault), Utf8(Fault));
    return Utf8(Text);
}

std::string NamesOf(const UDialogueCast* Cast)
{
    std::string Names;
    for (const FDialogueSpeaker& Speaker : Cast->Speakers)
    {
        Names += (Names.empty() ? "" : "|") + Utf8(Speaker.NodeName);
    }
    return Names;
}

std::string History()
{
    std::string Titles;
    for (const StubEngine::FTransaction& Each : StubEngine::Transactions().Done)
    {
        Titles += (Titles.empty() ? "" : "|") + Utf8(Each.Title.ToString());
    }
    for (const FString& Each : StubEngine::Transactions().NotTransactional)
    {
        Titles += "|not transactional: " + Utf8(Each);
    }
    return StubEngine::Transactions().Depth == 0 ? Titles : Titles + "|still open";
}

FPanel::FPanel(UObject* Shown) : Object(Shown)
{
    Draw();
}

FPanel::~FPanel() = default;

void FPanel::Draw()
{
    Details.Reset(); // as the engine does: the old one goes before the new one comes
    Builder = MakeUnique<IDetailLayoutBuilder>();
    Builder->StubObjects.Add(Object);
    Details = FParleyWorkflowDetails::MakeInstance();
    Details->CustomizeDetails(*Builder);
    Drawn = 0;
}

void FPanel::Frame()
{
    FTSTicker::GetCoreTicker().Tick(0.3f);
    Builder->StubUtilities->StubRunDeferred();
    if (Builder->StubUtilities->StubRefreshes > Drawn)
    {
        Draw();
    }
}

std::string FPanel::Shown() const
{
    std::string Text;
    Builder->StubWalk([&Text](SWidget& Widget)
    {
        FString Found;
        if (Widget.StubType == TEXT("STextBlock"))
        {
            Found = static_cast<STextBlock&>(Widget).StubArgs._Text.Get().ToString();
        }
        else if (Widget.StubType == TEXT("SEditableTextBox"))
        {
            Found = TEXT("[") + static_cast<SEditableTextBox&>(Widget).StubArgs._Text.Get().ToString() + TEXT("]");
        }
        else if (Widget.StubType == TEXT("SMultiLineEditableTextBox"))
        {
            Found = TEXT("[") + static_cast<SMultiLineEditableTextBox&>(Widget).StubArgs._Text.Get().ToString() + TEXT("]");
        }
        if (!Found.IsEmpty())
        {
            Text += Utf8(Found) + "\n";
        }
    });
    return Text;
}

SEditableTextBox& FPanel::Box(const char* Text) const
{
    SEditableTextBox* Found = nullptr;
    Builder->StubWalk([&Found, Text](SWidget& Widget)
    {
        const bool bIsBox = Found == nullptr && Widget.StubType == TEXT("SEditableTextBox");
        if (bIsBox && Utf8(static_cast<SEditableTextBox&>(Widget).StubArgs._Text.Get().ToString()) == Text)
        {
            Found = &static_cast<SEditableTextBox&>(Widget);
        }
    });
    Check(Found != nullptr, std::string("no text box shows ") + Text + ":\n" + Shown());
    return *Found;
}

SButton& FPanel::Button(const char* Text, int32 Which) const
{
    SButton* Found = nullptr;
    Builder->StubWalk([&Found, &Which, Text](SWidget& Widget)
    {
        const bool bIsButton = Widget.StubType == TEXT("SButton");
        if (bIsButton && Utf8(static_cast<SButton&>(Widget).StubText().ToString()) == Text && Which-- == 0)
        {
            Found = &static_cast<SButton&>(Widget);
        }
    });
    Check(Found != nullptr, std::string("no button ") + Text);
    return *Found;
}

void FPanel::Type(const char* Before, const char* After)
{
    Box(Before).StubType_(*Parley::ToFString(After), ETextCommit::OnEnter);
    Frame();
}

} // namespace EditorTests

int main(int Count, char** Values)
{
    using namespace EditorTests;
    if (Count < 2)
    {
        for (const auto& Each : AllTests())
        {
            std::puts(Each.first.c_str());
        }
        return 0;
    }
    // One test for one process: what it makes is in the editor for good.
    Check(AllTests().count(Values[1]) == 1, std::string("there is no test ") + Values[1]);
    AllTests().at(Values[1])(Parley::Testing::Named(Count, Values, 2));
    FParleyWorkflowSession::ForgetAll();
    return 0;
}
