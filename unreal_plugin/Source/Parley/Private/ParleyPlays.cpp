// Sidecars between two Plays. They end with the editor at the latest, whose process is their owner.
#include "ParleyPlays.h"

#include "Core/ParleyCore.h"
#include "ParleyLog.h"
#include "ParleyText.h"

#include <algorithm>
#include <utility>

namespace Parley
{

namespace ParleyPlaysLocal
{

/// As many as there are games in one process of the editor: one for each player's window.
constexpr std::size_t MostKept = 8;
constexpr int EndMs = 900;

struct FKept
{
    CoreOptions Options;
    std::string State;
};

std::vector<FKept>& All()
{
    static std::vector<FKept> Kept;
    return Kept;
}

bool IsSame(const CoreOptions& A, const CoreOptions& B)
{
    return A.Launch && B.Launch && IsSameLaunch(*A.Launch, *B.Launch);
}

/// Begins to end one; whoever has it may wait for it.
std::unique_ptr<ParleyCore> End(const FKept& Kept)
{
    Fault Why;
    std::unique_ptr<ParleyCore> Core = ParleyCore::Attach(Kept.Options, Kept.State, Why);
    if (Core)
    {
        Core->Stop();
    }
    return Core;
}

/// What the session holds that was made for the game.
FLeftBehind LeftIn(const CoreOptions& Options, const std::string& State)
{
    FLeftBehind Left;
    Json Read;
    std::string Fault;
    Options.Codec->Read(State, Read, Fault);
    const Json* Made = Read.Find("made");
    for (const Json& One : Made == nullptr ? std::vector<Json>() : Made->Items())
    {
        const Json* Type = One.Find("type");
        const Json* Text = One.Find("body");
        Json Body;
        if (Type == nullptr || Text == nullptr || !Options.Codec->Read(Text->AsText(), Body, Fault))
        {
            continue;
        }
        const Json* Name = Body.Find(Type->AsText() == "LoadModel" ? "model" : "name");
        if (Name != nullptr)
        {
            std::vector<std::string>& Into = Type->AsText() == "LoadModel" ? Left.Models
                : Type->AsText() == "CreateEmbeddedStorage"               ? Left.EmbeddedStorages
                                                                          : Left.StringStorages;
            Into.push_back(Name->AsText());
        }
    }
    return Left;
}

} // namespace ParleyPlaysLocal

void KeepPlay(const CoreOptions& Options, ParleyCore& Core)
{
    std::vector<ParleyPlaysLocal::FKept>& Kept = ParleyPlaysLocal::All();
    ParleyPlaysLocal::FKept One{Options, Core.Detach()};
    // Nobody listens between two plays.
    One.Options.Log = nullptr;
    if (Kept.size() >= ParleyPlaysLocal::MostKept)
    {
        ParleyPlaysLocal::End(Kept.front());
        Kept.erase(Kept.begin());
    }
    Kept.push_back(std::move(One));
}

std::unique_ptr<ParleyCore> TakePlay(const CoreOptions& Options, FLeftBehind& Left)
{
    std::vector<ParleyPlaysLocal::FKept>& Kept = ParleyPlaysLocal::All();
    const auto Found = std::find_if(
        Kept.begin(),
        Kept.end(),
        [&Options](const ParleyPlaysLocal::FKept& One) { return ParleyPlaysLocal::IsSame(One.Options, Options); });
    if (Found == Kept.end())
    {
        // Whoever plays now does not want them.
        for (const ParleyPlaysLocal::FKept& One : Kept)
        {
            ParleyPlaysLocal::End(One);
        }
        Kept.clear();
        return nullptr;
    }
    const ParleyPlaysLocal::FKept One = std::move(*Found);
    Kept.erase(Found);
    Fault Why;
    std::unique_ptr<ParleyCore> Core = ParleyCore::Attach(Options, One.State, Why);
    if (!Core)
    {
        UE_LOG(LogParley, Warning, TEXT("what the last Play left cannot be taken up: %s"), *ToFString(Why.Text));
        return nullptr;
    }
    Left = ParleyPlaysLocal::LeftIn(Options, One.State);
    return Core;
}

void EndKeptPlays()
{
    std::vector<std::unique_ptr<ParleyCore>> Ending;
    for (const ParleyPlaysLocal::FKept& One : ParleyPlaysLocal::All())
    {
        Ending.push_back(ParleyPlaysLocal::End(One));
    }
    ParleyPlaysLocal::All().clear();
    for (const std::unique_ptr<ParleyCore>& Core : Ending)
    {
        // All of them end at the same time.
        if (Core && !Core->StopAndWait(ParleyPlaysLocal::EndMs))
        {
            UE_LOG(LogParley, Warning, TEXT("a sidecar that was kept between two Plays has not ended yet"));
        }
    }
}

bool IsSameLaunch(const SidecarOptions& A, const SidecarOptions& B)
{
    return A.Executable == B.Executable && A.Arguments == B.Arguments && A.Environment == B.Environment
        && A.WorkingFolder == B.WorkingFolder;
}

int32 CountKeptPlays()
{
    return static_cast<int32>(ParleyPlaysLocal::All().size());
}

} // namespace Parley
