// What all node types have in common: reading, writing, and making one of any type.
#include "ParleyNode.h"

#include "Generated/ParleyNodes.h"
#include "NodeFields.h"
#include "UObject/Package.h"
#include "UObject/UObjectGlobals.h"

FString UParleyNode::GetTypeName() const
{
    return FString();
}

bool UParleyNode::FromCore(const Parley::Json& Json, FString& Fault)
{
    // Into another object first: what cannot be read changes nothing.
    UParleyNode* Fresh = NewObject<UParleyNode>(GetTransientPackage(), GetClass());
    if (!Fresh->Take(Json, Fault))
    {
        return false;
    }
    NodeName = Fresh->NodeName;
    AsRead = Fresh->AsRead;
    CopyFields(*Fresh);
    return true;
}

bool UParleyNode::Take(const Parley::Json& Json, FString& Fault)
{
    std::string Wrong;
    const Parley::JsonRead From(Json, Wrong);
    const std::string TypeName = Parley::ToUtf8(GetTypeName());
    const std::string_view Words[] = {TypeName};
    FString Type;
    std::size_t Index = 0;
    const bool bRead = From.Object() && Parley::NeededProperty(From, "type", Type)
        && Parley::JsonRead(*Json.Find("type"), From, "type").Word(Index, Words, 1)
        && Parley::GivenProperty(From, "name", NodeName) && ReadFields(From);
    AsRead = bRead ? Parley::JsonToText(Json) : FString();
    Fault = Parley::ToFString(Wrong);
    return bRead;
}

Parley::Json UParleyNode::ToCore() const
{
    Parley::NodeFields Into(AsRead);
    Into.Keep("name", Parley::WriteProperty(NodeName));
    Into.Keep("type", Parley::WriteProperty(GetTypeName()));
    WriteFields(Into);
    return Into.Take();
}

bool UParleyNode::FromJson(const FJsonObject& Json, FString& Fault)
{
    return FromCore(Parley::FromEngine(Json), Fault);
}

TSharedRef<FJsonObject> UParleyNode::ToJson() const
{
    return Parley::ToEngine(ToCore());
}

UParleyNode* UParleyNode::Read(UObject* Outer, const Parley::Json& Json, FString& Fault)
{
    std::string Wrong;
    FString TypeName;
    const Parley::JsonRead From(Json, Wrong);
    const bool bTold = From.Object() && Parley::NeededProperty(From, "type", TypeName);
    Fault = Parley::ToFString(Wrong);
    UClass* Class = bTold ? FindParleyNodeClass(TypeName) : nullptr;
    if (Class == nullptr)
    {
        return nullptr;
    }
    UParleyNode* Made = NewObject<UParleyNode>(Outer, Class, NAME_None, RF_Transactional);
    return Made->Take(Json, Fault) ? Made : nullptr;
}

bool UParleyNode::ReadFields(const Parley::JsonRead& From)
{
    static_cast<void>(From);
    return true;
}

void UParleyNode::WriteFields(Parley::NodeFields& Into) const
{
    static_cast<void>(Into);
}

void UParleyNode::CopyFields(const UParleyNode& Other)
{
    static_cast<void>(Other);
}
