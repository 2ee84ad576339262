// That the stubs of the engine behave as the engine does, where tests of the plugin count on it.
#include "StubThing.h"

#include "Async/Async.h"
#include "Containers/Ticker.h"
#include "Engine/GameInstance.h"
#include "Misc/FileHelper.h"
#include "Misc/Paths.h"
#include "ScopedTransaction.h"
#include "Policies/CondensedJsonPrintPolicy.h"
#include "Serialization/JsonSerializer.h"
#include "UObject/Package.h"
#include "UObject/StrongObjectPtr.h"
#include "UObject/UnrealType.h"

#include <cstdio>

DEFINE_LOG_CATEGORY_STATIC(LogStub, Log, All);

void UStubThing::Remember(const FString& Text)
{
    Heard += Text;
}

int32 UStubThing::Hear_Implementation(const FString& Line)
{
    Heard += Line;
    return Line.Len();
}

namespace
{
int Failed = 0;

void Is(bool bTrue, const char* What)
{
    if (!bTrue)
    {
        ++Failed;
        std::printf("not so: %s\n", What);
    }
}
#define IS(...) Is((__VA_ARGS__), #__VA_ARGS__)

void Texts()
{
    IS(FString(TEXT("Mira")) == TEXT("mira"));
    IS(!FString(TEXT("Mira")).Equals(TEXT("mira")));
    IS(FString::Printf(TEXT("%s %d %05.2f %x %lld %%"), TEXT("a"), -3, 1.5, 255, static_cast<int64>(1) << 40).Equals(TEXT("a -3 01.50 ff 1099511627776 %")));
    const FString Tavern = UTF8_TO_TCHAR("\xE9\x85\x92\xE5\xA0\xB4 \xF0\x9F\x8D\xBA");
    IS(Tavern.Len() == 5);
    IS(std::string(TCHAR_TO_UTF8(*Tavern)) == "\xE9\x85\x92\xE5\xA0\xB4 \xF0\x9F\x8D\xBA");
    IS(FText::Format(INVTEXT("{0} of {1}"), FText::AsNumber(2), INVTEXT("three")).ToString().Equals(TEXT("2 of three")));
    TMap<FString, int32> Map;
    Map.Add(TEXT("b"), 1);
    Map.Add(TEXT("a"), 2);
    Map.Add(TEXT("B"), 3);
    IS(Map.Num() == 2 && *Map.Find(TEXT("b")) == 3);
    Map.Remove(TEXT("b"));
    Map.Add(TEXT("c"), 4);
    FString Order;
    for (const auto& Pair : Map)
    {
        Order += Pair.Key;
    }
    IS(Order.Equals(TEXT("ca"))); // a freed place is taken first
    IS((FPaths::Combine(FString(TEXT("a")), TEXT("b"), FString(TEXT("c"))).Equals(TEXT("a/b/c"))));
    IS(FPaths::GetBaseFilename(TEXT("x/inn.workflow.json")).Equals(TEXT("inn.workflow")));
    StubEngine::LogLines().Reset();
    UE_LOG(LogStub, Warning, TEXT("it is %d"), 3);
    UE_LOG(LogStub, Verbose, TEXT("not shown"));
    IS(StubEngine::LogLines().Num() == 1 && StubEngine::LogLines()[0].Text.Equals(TEXT("it is 3")));
}

void Objects()
{
    UStubThing* Thing = NewObject<UStubThing>();
    IS(Thing->GetClass()->GetName().Equals(TEXT("StubThing")));
    IS(Cast<UDataAsset>(static_cast<UObject*>(Thing)) == Thing && Cast<UPackage>(static_cast<UObject*>(Thing)) == nullptr);
    IStubSpeaks* Speaks = Cast<IStubSpeaks>(static_cast<UObject*>(Thing));
    IS(Speaks != nullptr && IStubSpeaks::Execute_Hear(Thing, TEXT("ho")) == 2 && Thing->Heard.Equals(TEXT("ho")));
    IS(Thing->Implements<UStubSpeaks>());
    Thing->Fires();
    IS(Thing->StubEvents().FindRef(FName(TEXT("Fires"))) == 1);
    IS(StaticEnum<EStubThingKind>()->GetDisplayNameTextByValue(1).ToString().Equals(TEXT("A lamp")));
    const FProperty* Name = UStubThing::StaticClass()->FindPropertyByName(FName(TEXT("Name")));
    IS(Name != nullptr && Name->Meta.FindRef(TEXT("ToolTip")).Equals(TEXT("What it is called.")));
    IS(*Name->ContainerPtrToValuePtr<FString>(Thing) == TEXT("new"));
    IS(FStubPart::StaticStruct()->FindPropertyByName(FName(TEXT("Size")))->Meta.FindRef(TEXT("ClampMin")).Equals(TEXT("1")));
    const TWeakObjectPtr<UStubThing> Weak = Thing;
    Thing->MarkAsGarbage();
    IS(!IsValid(Thing) && Weak.Get() == nullptr);
}

void Delegates()
{
    UStubThing* Thing = NewObject<UStubThing>();
    UStubThing* Other = NewObject<UStubThing>();
    Thing->OnThing.AddDynamic(Other, &UStubThing::Remember);
    Thing->OnThing.AddUniqueDynamic(Other, &UStubThing::Remember);
    Thing->OnThing.Broadcast(TEXT("a"));
    IS(Other->Heard.Equals(TEXT("a")));
    StubEngine::Destroy(Other);
    Thing->OnThing.Broadcast(TEXT("b"));
    IS(!Thing->OnThing.IsBound());
    int32 Calls = 0;
    TMulticastDelegate<void(int32)> Many;
    const FDelegateHandle Handle = Many.AddLambda([&Calls](int32 By) { Calls += By; });
    UStubThing* Third = NewObject<UStubThing>();
    Many.AddWeakLambda(Third, [&Calls](int32) { Calls += 100; });
    Third->MarkAsGarbage();
    Many.Broadcast(2);
    IS(Calls == 2);
    IS(Many.Remove(Handle) && !Many.Remove(Handle));
    Many.Broadcast(2);
    IS(Calls == 2);
    FTSTicker::FDelegateHandle Ticker = FTSTicker::GetCoreTicker().AddTicker(FTickerDelegate::CreateLambda([&Calls](float) { return ++Calls < 4; }));
    FTSTicker::GetCoreTicker().Tick(0.1f);
    FTSTicker::GetCoreTicker().Tick(0.1f);
    FTSTicker::GetCoreTicker().Tick(0.1f);
    IS(Calls == 4 && FTSTicker::GetCoreTicker().StubNum() == 0);
    FTSTicker::RemoveTicker(Ticker);
    AsyncTask(ENamedThreads::GameThread, [&Calls]() { Calls = 0; });
    IS(Calls == 4 && StubEngine::RunGameTasks() == 1 && Calls == 0);
}

#if WITH_EDITOR
void Undo()
{
    UStubThing* Thing = NewObject<UStubThing>(GetTransientPackage(), NAME_None, RF_Transactional);
    UStubThing* Careless = NewObject<UStubThing>();
    {
        const FScopedTransaction Outer(INVTEXT("Rename"));
        const FScopedTransaction Inner(INVTEXT("Part of it"));
        Thing->Modify();
        Careless->Modify();
        Thing->Name = TEXT("old");
        Thing->Plain = TEXT("stays");
        Careless->Name = TEXT("lost");
    }
    StubEngine::FTransactions& All = StubEngine::Transactions();
    IS(All.Begun == 1 && All.Deepest == 2 && All.Done.Num() == 1);
    IS(All.Done[0].Title.ToString().Equals(TEXT("Rename")) && All.Done[0].Records.Num() == 1);
    IS(All.NotTransactional.Num() == 1);
    IS(All.Undo() && Thing->Name.Equals(TEXT("new")) && Thing->Plain.Equals(TEXT("stays")) && Careless->Name.Equals(TEXT("lost")));
    IS(All.Redo() && Thing->Name.Equals(TEXT("old")) && !All.Redo());
    {
        const FScopedTransaction Empty(INVTEXT("Nothing"));
    }
    IS(All.Begun == 2 && All.Done.Num() == 1);
}
#endif

void Collecting()
{
    UStubThing* Root = NewObject<UStubThing>();
    Root->AddToRoot();
    UStubThing* Child = NewObject<UStubThing>(Root);
    Root->Inner.Add(Child);
    UObject* Held = NewObject<UStubThing>();
    Child->Part.Held = Held;
    const TWeakObjectPtr<UObject> Kept = Held;
    const TWeakObjectPtr<UObject> Lost = NewObject<UStubThing>();
    const TStrongObjectPtr<UStubThing> Strong(NewObject<UStubThing>());
    CollectGarbage(RF_NoFlags);
    IS(Kept.IsValid() && !Lost.IsValid() && IsValid(Strong.Get()));
    UStubThing* Copy = DuplicateObject<UStubThing>(Root, GetTransientPackage());
    IS(Copy->Inner[0] != Child && Copy->Inner[0]->GetOuter() == Copy && Copy->Inner[0]->Part.Held == Held);
    Root->RemoveFromRoot();
    CollectGarbage(RF_NoFlags);
    IS(!Kept.IsValid());
}

FString Back(const TCHAR* Text)
{
    TSharedPtr<FJsonValue> Value;
    if (!FJsonSerializer::Deserialize(TJsonReaderFactory<>::Create(FString(Text)), Value, FJsonSerializer::EFlags::StoreNumbersAsStrings))
    {
        return TEXT("refused");
    }
    FString Out;
    FJsonSerializer::Serialize(Value, FString(), TJsonWriterFactory<TCHAR, TCondensedJsonPrintPolicy<TCHAR>>::Create(&Out));
    return Out;
}

void Jsons()
{
    const TCHAR* const Same[] = {TEXT("{\"b\":1.50,\"a\":[true,null,\"\\n\\u0001\"],\"c\":{}}"), TEXT("[]"), TEXT("[[],{\"x\":-0.1e+9}]")};
    for (const TCHAR* Text : Same)
    {
        IS(Back(Text).Equals(Text));
    }
    for (const TCHAR* Text : {TEXT("{\"a\":1,}x"), TEXT("[1 2]"), TEXT("[01]"), TEXT("{a:1}"), TEXT("[1] []"), TEXT("[\"\\x\"]"), TEXT("")})
    {
        IS(Back(Text).Equals(TEXT("refused")));
    }
    const FString File = FPaths::Combine(FString(TEXT("written-by-stubs")), TEXT("x.json"));
    IS(FFileHelper::SaveStringToFile(UTF8_TO_TCHAR("\xC3\xA9"), *File, FFileHelper::EEncodingOptions::ForceUTF8WithoutBOM));
    TArray<uint8> Bytes;
    IS(FFileHelper::LoadFileToArray(Bytes, *File) && Bytes.Num() == 2);
    IS(IFileManager::Get().DeleteDirectory(*FPaths::GetPath(File), true, true));
}
} // namespace

int main()
{
    Texts();
    Objects();
    Delegates();
#if WITH_EDITOR
    Undo(); // a game has nothing to undo
#endif
    Collecting();
    Jsons();
    IS(StubEngine::FailedEnsures() == 0);
    std::printf("%d not so\n", Failed);
    return Failed == 0 ? 0 : 1;
}
