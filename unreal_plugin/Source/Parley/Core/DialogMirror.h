// The dialog of one character as the game has it: with it the next sidecar is seeded.
#pragma once

#include "Core/CoreApi.h"
#include "Core/Generated/Messages.h"
#include "Core/Json.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace Parley
{

/// The turns of a dialog at one moment. Cheap to copy: the turns are shared. Threading: none of its own; the turns in it
/// are not changed, so copies may be read on any thread.
struct PARLEY_CORE_API DialogCopy
{
    /// Oldest first; none is null.
    std::vector<std::shared_ptr<const Messages::Interaction>> Interactions;
    /// What stands in for the oldest turns in prompts.
    std::optional<Messages::Summary> Summary;

    /// A document as a save game holds it: null stands where there is no summary. A long one takes its time.
    Json ToJson() const;
};

/// Every turn that was completed, and the summary of the oldest ones. Its records are not changed once they are in it.
/// Threading: the game's thread only; a DialogCopy of it may go elsewhere.
class PARLEY_CORE_API DialogMirror
{
public:
    /// Bytes of a dialog that go in one message.
    static constexpr std::size_t PieceBytes = 4 * 1024 * 1024;

    /// The turns, oldest first; none is null.
    const std::vector<std::shared_ptr<const Messages::Interaction>>& GetInteractions() const noexcept
    {
        return Now.Interactions;
    }

    /// What stands in for the oldest turns in prompts; null: nothing.
    const Messages::Summary* GetSummary() const noexcept { return Now.Summary ? &*Now.Summary : nullptr; }

    /// The same turns for somebody to keep.
    const DialogCopy& Copy() const noexcept { return Now; }

    bool IsEmpty() const noexcept { return Now.Interactions.empty() && !Now.Summary; }

    /// A document, or its short form, in pieces that can be sent one after the other; at least one. Pure; a long one
    /// takes its time.
    static std::vector<Json> Split(Json Dialog, const JsonCodec& Codec);

private:
    friend class CoreAgent;

    void Add(const Messages::Interaction& Interaction);
    void Replace(DialogCopy Document) { Now = std::move(Document); }
    void SetSummary(Messages::Summary Summary) { Now.Summary = std::move(Summary); }

    DialogCopy Now;
};

} // namespace Parley
