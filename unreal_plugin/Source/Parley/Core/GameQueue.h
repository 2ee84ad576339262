// Work that waits for the game's thread, and work that keeps out of its way.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace Parley
{

/// Work that other threads hand to the game's.
/// Threading: Post and OnGameThread from any thread, the rest on the game's, on which it is made.
class GameQueue : public std::enable_shared_from_this<GameQueue>
{
public:
    GameQueue() = default;
    GameQueue(const GameQueue&) = delete;
    GameQueue& operator=(const GameQueue&) = delete;

    void Post(std::function<void()> Work);
    /// Now where this is the game's thread.
    void OnGameThread(std::function<void()> Work);
    /// What is posted meanwhile waits for the next time.
    void Run();
    /// Do something long elsewhere, one thing after the other, and `Done` on the game's thread. `Work` is let go there too.
    void InBackground(std::function<void()> Work, std::function<void()> Done);
    /// Nothing is done any more; what waits is let go here.
    void Close();

private:
    struct Job
    {
        std::uint64_t Id;
        std::function<void()> Work;
    };

    void Serve();
    void Finish(std::uint64_t Id);

    const std::thread::id Game = std::this_thread::get_id();
    std::mutex Gate;
    std::vector<std::function<void()>> Waiting;
    std::vector<std::function<void()>> Spare;
    std::atomic<bool> HasWork{false};
    std::deque<Job> Jobs;
    bool IsServed = false;
    bool IsClosed = false;
    // Of the game's thread.
    bool HasEnded = false;
    std::map<std::uint64_t, std::function<void()>> Dones;
    std::uint64_t LastJob = 0;
};

} // namespace Parley
