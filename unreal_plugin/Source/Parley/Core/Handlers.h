// The game's handlers of one event: adding, removing and destroying are allowed while they are being called.
#pragma once

#include "Core/Fault.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace Parley
{

/// Names one handler within one list; 0 names none.
using HandlerId = std::uint64_t;

/// Hears how something went: null where well. The fault lives as long as the call. Called once, in ParleyCore::Update.
using DoneCallback = std::function<void(const Fault*)>;

/// Gets the reply, or a fault and no reply. Called once, in ParleyCore::Update.
using ReplyCallback = std::function<void(std::unique_ptr<Reply>, const Fault*)>;

/// A list of handlers, called in the order in which they were added. One that was removed is not called any more, not
/// even by the call that goes on at the moment; one that is added meanwhile hears the next one. A handler may remove
/// itself and destroy whatever holds the list. Calling them allocates nothing.
/// Threading: the game's thread only.
template <class... Values>
class Handlers
{
public:
    using Handler = std::function<void(Values...)>;

    Handlers() = default;
    Handlers(const Handlers&) = delete;
    Handlers& operator=(const Handlers&) = delete;

    /// 0 where there is nothing to call.
    HandlerId Add(Handler What)
    {
        if (!What)
        {
            return 0;
        }
        std::shared_ptr<List> More = All ? std::make_shared<List>(*All) : std::make_shared<List>();
        More->push_back(std::make_shared<Entry>(++LastId, std::move(What)));
        All = std::move(More);
        return LastId;
    }

    /// Whether it was there.
    bool Remove(HandlerId Which)
    {
        const std::size_t Count = All ? All->size() : 0;
        for (std::size_t Index = 0; Index < Count; Index++)
        {
            if ((*All)[Index]->Id == Which)
            {
                std::shared_ptr<List> Fewer = std::make_shared<List>(*All);
                Fewer->erase(Fewer->begin() + static_cast<std::ptrdiff_t>(Index));
                (*All)[Index]->IsRemoved = true;
                // Whoever calls them at the moment keeps the old list.
                All = std::move(Fewer);
                return true;
            }
        }
        return false;
    }

    bool IsEmpty() const noexcept { return !All || All->empty(); }

private:
    friend struct CoreInside;
    friend class CoreAgent;
    friend struct HandlersProbe;

    struct Entry
    {
        Entry(HandlerId Name, Handler What) : Id(Name), Call(std::move(What)) {}

        HandlerId Id;
        Handler Call;
        bool IsRemoved = false;
    };

    using List = std::vector<std::shared_ptr<Entry>>;

    /// Nothing of this object is touched once the first one is called: it may be gone by then.
    void Raise(Values... What) const
    {
        const std::shared_ptr<List> Called = All;
        if (!Called)
        {
            return;
        }
        for (const std::shared_ptr<Entry>& One : *Called)
        {
            if (!One->IsRemoved)
            {
                One->Call(What...);
            }
        }
    }

    std::shared_ptr<List> All;
    HandlerId LastId = 0;
};

} // namespace Parley
