// The bodies of DialogueLines.h.
#include "Core/DialogueLines.h"

#include <algorithm>
#include <utility>

namespace Parley
{

namespace DialogueLinesLocal
{

constexpr double VoicePatienceSeconds = 3;

} // namespace DialogueLinesLocal

DialogueLine::DialogueLine(
    int LineNumber,
    const void* WhoseTurn,
    std::int64_t Turn,
    std::int64_t StepOfTurn,
    std::string_view NodeName,
    double ElementsPerSecond)
    : Number(LineNumber)
    , Source(WhoseTurn)
    , TurnId(Turn)
    , Step(StepOfTurn)
    , Speaker(NodeName)
    , Writer(ElementsPerSecond)
{
}

DialogueLines::DialogueLines() = default;

DialogueLines::~DialogueLines() = default;

DialogueLines::Line DialogueLines::Add(std::string_view Text)
{
    Line Own = std::make_shared<DialogueLine>(Made++, nullptr, 0, 0, "", 0.0);
    Own->Writer.Set(Text, true);
    Kept.push_back(Own);
    return Own;
}

void DialogueLines::Take(
    const void* Source,
    std::int64_t TurnId,
    std::int64_t Step,
    std::string_view Speaker,
    std::string_view Text,
    bool IsDelta,
    bool IsFinal,
    bool IsHeld)
{
    DialogueLine* Known = Find(Source, TurnId, Step);
    if (Known == nullptr)
    {
        if (IsFinal && Text.empty())
        {
            return;
        }
        Kept.push_back(std::make_shared<DialogueLine>(Made++, Source, TurnId, Step, Speaker, ElementsPerSecond));
        Known = Kept.back().get();
        Known->Writer.Limit = IsHeld ? 0 : Typewriter::NoLimit;
    }
    if (IsDelta)
    {
        Known->Writer.Append(Text, IsFinal);
    }
    else
    {
        Known->Writer.Set(Text, IsFinal);
    }
}

void DialogueLines::Follow(const Line& Which, std::int64_t HeardBytes, double Seconds)
{
    if (HeardBytes >= 0)
    {
        Which->IsVoiced = true;
        Which->Writer.Limit = static_cast<std::size_t>(HeardBytes);
        return;
    }
    Which->WaitedSeconds += Which->IsFinal() ? Seconds : 0;
    if (Which->IsVoiced || Which->WaitedSeconds > DialogueLinesLocal::VoicePatienceSeconds)
    {
        Release(Which);
    }
}

void DialogueLines::Release(const Line& Which)
{
    Which->Writer.Limit = Typewriter::NoLimit;
}

void DialogueLines::EndTurn(const void* Source, std::int64_t TurnId)
{
    for (const Line& One : Kept)
    {
        if (One->Source == Source && One->TurnId == TurnId && !One->IsFinal())
        {
            One->Writer.Append("", true);
        }
    }
}

void DialogueLines::Advance(double Seconds)
{
    if (Pause > 0)
    {
        Pause -= (std::max)(0.0, (std::min)(Seconds, Typewriter::LongestStep));
        if (Pause > 0)
        {
            return;
        }
    }
    while (Pause <= 0)
    {
        if (Appearing == nullptr && !StartNext())
        {
            return;
        }
        const Line Now = Appearing;
        if (Now->Writer.Advance(Seconds))
        {
            Tell(Changed, Now);
        }
        if (Now != Appearing || !Now->IsDone())
        {
            return;
        }
        Finish(Now);
        // What is left of this step is not the next line's.
        Seconds = 0;
    }
}

bool DialogueLines::Skip()
{
    if (Appearing == nullptr)
    {
        const bool Waited = Pause > 0 && NextLine < Kept.size();
        Pause = 0;
        return StartNext() || Waited;
    }
    const Line Now = Appearing;
    const bool IsMore = Now->Writer.SkipToEnd();
    if (IsMore)
    {
        Tell(Changed, Now);
    }
    if (Now == Appearing && Now->IsDone())
    {
        Finish(Now);
        return true;
    }
    return IsMore;
}

void DialogueLines::SkipToEnd()
{
    for (;;)
    {
        Pause = 0;
        if (Appearing == nullptr && !StartNext())
        {
            return;
        }
        const Line Now = Appearing;
        Skip();
        if (Appearing == Now)
        {
            return;
        }
    }
}

void DialogueLines::Clear()
{
    const std::vector<Line> Gone = std::exchange(Kept, {});
    NextLine = 0;
    Pause = 0;
    Appearing.reset();
    for (const Line& One : Gone)
    {
        Tell(Dropped, One);
    }
}

DialogueLine* DialogueLines::Find(const void* Source, std::int64_t TurnId, std::int64_t Step) const noexcept
{
    const auto Found = std::find_if(Kept.rbegin(), Kept.rend(), [&](const Line& One) {
        return One->Source == Source && One->TurnId == TurnId && One->Step == Step && !One->IsFinal();
    });
    return Found == Kept.rend() ? nullptr : Found->get();
}

/// False: none is left, or whoever was told took it away.
bool DialogueLines::StartNext()
{
    if (NextLine >= Kept.size())
    {
        return false;
    }
    Appearing = Kept[NextLine++];
    Tell(Began, Line(Appearing));
    return Appearing != nullptr;
}

void DialogueLines::Finish(const Line& Which)
{
    Appearing.reset();
    Pause = Which->Writer.ElementsPerSecond > 0 ? GapSeconds : 0;
    Tell(Done, Which);
    while (Kept.size() > MaxLines && NextLine > 0 && Kept.front() != Appearing)
    {
        const Line Oldest = Kept.front();
        Kept.erase(Kept.begin());
        --NextLine;
        Tell(Dropped, Oldest);
    }
}

/// What is called may put another in its own place.
void DialogueLines::Tell(const Told& Who, const Line& Which)
{
    if (Who)
    {
        const Told Call = Who;
        Call(Which);
    }
}

} // namespace Parley
