// Who the nodes of a workflow are: names are compared exactly.
#include "DialogueCast.h"

FText FDialogueSpeaker::GetDisplayName() const
{
    return DisplayName.IsEmpty() ? FText::FromString(NodeName) : DisplayName;
}

const FDialogueSpeaker* UDialogueCast::Find(const FString& NodeName) const
{
    for (const FDialogueSpeaker& Speaker : Speakers)
    {
        if (Speaker.NodeName.Equals(NodeName, ESearchCase::CaseSensitive))
        {
            return &Speaker;
        }
    }
    return nullptr;
}

FDialogueSpeaker UDialogueCast::SpeakerOf(const UDialogueCast* Of, const FString& NodeName)
{
    if (const FDialogueSpeaker* Known = Of == nullptr ? nullptr : Of->Find(NodeName))
    {
        return *Known;
    }
    FDialogueSpeaker Unknown;
    Unknown.NodeName = NodeName;
    return Unknown;
}

FDialogueSpeaker UDialogueCast::FindSpeaker(const FString& NodeName) const
{
    return SpeakerOf(this, NodeName);
}

bool UDialogueCast::KnowsSpeaker(const FString& NodeName) const
{
    return Find(NodeName) != nullptr;
}

bool UDialogueCast::RenameSpeaker(const FString& OldName, const FString& NewName)
{
    bool bFollowed = false;
    for (FDialogueSpeaker& Speaker : Speakers)
    {
        if (Speaker.NodeName.Equals(OldName, ESearchCase::CaseSensitive))
        {
            Speaker.NodeName = NewName;
            bFollowed = true;
        }
    }
    return bFollowed;
}
