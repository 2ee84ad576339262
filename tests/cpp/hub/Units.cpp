// The parts that need no sidecar: handlers, queues, places.
#include "World.h"

#include "Core/GamePlaces.h"
#include "Core/Handlers.h"
#include "Core/Platform.h"
#include "Core/Threads.h"
#include "Core/ToolCall.h"

#include <atomic>
#include <set>
#include <utility>

namespace Parley
{

/// Raises what only the core may raise.
struct HandlersProbe
{
    template <class... Values>
    static void Raise(const Handlers<Values...>& All, Values... What)
    {
        All.Raise(What...);
    }
};

namespace Testing
{

namespace
{

Json HandlersList()
{
    std::string Told;
    std::unique_ptr<Handlers<int>> All = std::make_unique<Handlers<int>>();
    Check(All->IsEmpty(), "not empty");
    Equal(All->Add({}), 0U, "the name of nothing");
    HandlersProbe::Raise(*All, 1);
    const HandlerId First = All->Add([&Told](int Value) { Told += "a" + std::to_string(Value); });
    const HandlerId Second = All->Add([&Told](int Value) { Told += "b" + std::to_string(Value); });
    HandlersProbe::Raise(*All, 1);
    Equal(Told, "a1b1", "what was called");
    Check(All->Remove(First) && !All->Remove(First) && !All->Remove(0), "removed twice");
    HandlersProbe::Raise(*All, 2);
    Equal(Told, "a1b1b2", "what was called");
    Told.clear();
    // One that adds hears of the next one; one that is removed meanwhile is not called; one removes itself.
    HandlerId Later = 0;
    HandlerId Own = 0;
    Own = All->Add(
        [&](int)
        {
            Told += "x";
            Check(All->Remove(Own), "itself");
            Check(All->Remove(Later), "the one behind it");
            All->Add([&Told](int) { Told += "n"; });
        });
    Later = All->Add([&Told](int) { Told += "l"; });
    HandlersProbe::Raise(*All, 3);
    Equal(Told, "b3x", "what was called");
    HandlersProbe::Raise(*All, 4);
    Equal(Told, "b3xb4n", "what was called");
    Check(All->Remove(Second), "the second");
    // The list goes while it is called; what it holds lives as long as the call.
    Told.clear();
    std::shared_ptr<int> Held = std::make_shared<int>(7);
    All->Add(
        [&Told, &All, Held](int)
        {
            All = nullptr;
            Told += std::to_string(*Held);
        });
    All->Add([&Told](int) { Told += "z"; });
    std::weak_ptr<int> Weak = Held;
    Held = nullptr;
    HandlersProbe::Raise(*All, 5);
    Equal(Told, "n7z", "what was called");
    Check(Weak.expired(), "a handler was kept");
    return Json::Object();
}

/// Work that is done elsewhere comes back on the game's thread, in its order; what waits when the core goes is let go.
Json Background()
{
    World Game;
    Game.Begin();
    std::string Told;
    const std::thread::id Own = std::this_thread::get_id();
    for (int Index = 0; Index < 5; Index++)
    {
        const std::shared_ptr<bool> IsElsewhere = std::make_shared<bool>(false);
        Game.Core->InBackground(
            [IsElsewhere, Own] { *IsElsewhere = std::this_thread::get_id() != Own; },
            [IsElsewhere, Index, Own, &Told]
            {
                Check(*IsElsewhere && std::this_thread::get_id() == Own, "on the wrong thread");
                Told += std::to_string(Index);
            });
    }
    Game.Until([&Told] { return Told.size() == 5; }, "all of it is done");
    Equal(Told, "01234", "the order");
    const std::shared_ptr<int> Token = std::make_shared<int>(0);
    const std::shared_ptr<std::atomic<bool>> MayEnd = std::make_shared<std::atomic<bool>>(false);
    Game.Core->InBackground(
        [MayEnd]
        {
            while (!*MayEnd)
            {
                std::this_thread::yield();
            }
        },
        [Token] { Fail("it is done after the core is gone"); });
    Game.Core->InBackground([] { Fail("it is begun after the core is gone"); }, [Token] {});
    Game.Core->Post([Token] { Fail("posted"); });
    Game.Core = nullptr;
    Equal(Token.use_count(), 1, "who holds on to what the game handed over");
    *MayEnd = true;
    Check(Threads::WaitForAll(5000), "the worker does not end");
    return Json::Object();
}

/// Folders, made by whoever runs this, in which sidecars and catalogs are.
Json Places()
{
    GamePlaces All;
    All.IsEditor = HasSetting("is_editor");
    All.ProjectFolder = TextOf("project");
    All.ContentFolder = TextOf("content");
    All.PluginFolder = TextOf("plugin");
    All.ProgramFolder = TextOf("program");
    const std::string Folder = TextOf("sidecar_folder", "");
    Json Report = Json::Object();
    Report.Set("sidecar", Json::String(All.FindSidecar(Folder)));
    Report.Set("default", Json::String(All.DefaultSidecar(Folder)));
    Report.Set("none", Json::String(All.NoSidecar(Folder)));
    Report.Set("catalog", Json::String(All.FindCatalog(TextOf("catalog", ""))));
    Report.Set("storage", Json::String(All.FindStorage(TextOf("storage_folder", ""))));
    return Report;
}

/// Paths, times and names.
Json System()
{
    Equal(Platform::FullPath("/a/./b//../c/"), "/a/c", "a path");
    Equal(Platform::FullPath("/../.."), "/", "a path");
    Equal(Platform::FullPath("x/y"), Platform::CurrentFolder() + "/x/y", "a path");
    Equal(Platform::Combine("/a/", "b"), "/a/b", "a path");
    Equal(Platform::Combine("/a", "b"), "/a/b", "a path");
    Equal(Platform::Combine("/a", "/b"), "/b", "a path");
    Equal(Platform::Combine("", "b"), "b", "a path");
    std::set<std::string> Names;
    for (int Time = 0; Time < 1000; Time++)
    {
        Names.insert(Platform::MadeUpName());
    }
    Equal(Names.size(), 1000U, "made-up names");
    Equal(Names.begin()->size(), 32U, "letters of one");
    std::string Why;
    Check(Platform::FindProgram("", Why).empty() && !Why.empty(), "no name");
    Check(Platform::FindProgram("/", Why).empty() && Why.find("is a folder") != std::string::npos, Why);
    Check(Platform::FindProgram(std::string_view("a\0b", 3), Why).empty() && !Why.empty(), "a zero");
    Check(Platform::FindProgram("sh", Why).front() == '/', Why);
    Json Report = Json::Object();
    Report.Set("time", Json::String(Platform::TimeOfDay()));
    Report.Set("pid", Json::Integer(Platform::OwnPid()));
    return Report;
}

const Scenario Scenarios[] = {
    {"handlers_list", HandlersList}, {"background", Background}, {"places", Places}, {"system", System},
};

} // namespace

} // namespace Testing

} // namespace Parley
