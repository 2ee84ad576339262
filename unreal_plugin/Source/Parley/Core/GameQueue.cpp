// How work gets to the game's thread and away from it.
#include "Core/GameQueue.h"

#include "Core/Threads.h"

namespace Parley
{

void GameQueue::Post(std::function<void()> Work)
{
    const std::lock_guard<std::mutex> Lock(Gate);
    if (!IsClosed)
    {
        Waiting.push_back(std::move(Work));
        HasWork.store(true, std::memory_order_release);
    }
}

void GameQueue::OnGameThread(std::function<void()> Work)
{
    if (std::this_thread::get_id() == Game)
    {
        Work();
    }
    else
    {
        Post(std::move(Work));
    }
}

void GameQueue::Run()
{
    if (!HasWork.load(std::memory_order_acquire))
    {
        return;
    }
    std::vector<std::function<void()>> Work;
    {
        const std::lock_guard<std::mutex> Lock(Gate);
        Work.swap(Waiting);
        Waiting.swap(Spare);
        HasWork.store(false, std::memory_order_release);
    }
    for (std::function<void()>& One : Work)
    {
        // What is done may close it; then what is left is only let go.
        if (!HasEnded)
        {
            One();
        }
        One = nullptr;
    }
    Work.clear();
    const std::lock_guard<std::mutex> Lock(Gate);
    if (Spare.capacity() < Work.capacity())
    {
        Spare.swap(Work);
    }
}

void GameQueue::InBackground(std::function<void()> Work, std::function<void()> Done)
{
    const std::uint64_t Id = ++LastJob;
    bool IsFirst = false;
    {
        const std::lock_guard<std::mutex> Lock(Gate);
        if (IsClosed)
        {
            return;
        }
        Jobs.push_back({Id, std::move(Work)});
        IsFirst = !IsServed;
        IsServed = true;
    }
    Dones.emplace(Id, std::move(Done));
    if (IsFirst)
    {
        Threads::Begin("parley work", [Self = shared_from_this()] { Self->Serve(); });
    }
}

void GameQueue::Close()
{
    std::vector<std::function<void()>> Work;
    std::deque<Job> Undone;
    HasEnded = true;
    {
        const std::lock_guard<std::mutex> Lock(Gate);
        IsClosed = true;
        Work.swap(Waiting);
        Undone.swap(Jobs);
        HasWork.store(false, std::memory_order_release);
    }
    // What a callback holds may come back here as it goes.
    std::map<std::uint64_t, std::function<void()>> Untold;
    Untold.swap(Dones);
}

void GameQueue::Serve()
{
    while (true)
    {
        Job Next;
        {
            const std::lock_guard<std::mutex> Lock(Gate);
            if (Jobs.empty())
            {
                IsServed = false;
                return;
            }
            Next = std::move(Jobs.front());
            Jobs.pop_front();
        }
        Next.Work();
        // Weak: what is posted must not keep the queue that it is in.
        Post(
            [Weak = weak_from_this(), Id = Next.Id, Work = std::move(Next.Work)]
            {
                if (const std::shared_ptr<GameQueue> Self = Weak.lock())
                {
                    Self->Finish(Id);
                }
            });
    }
}

void GameQueue::Finish(std::uint64_t Id)
{
    const auto Found = Dones.find(Id);
    if (Found != Dones.end())
    {
        const std::function<void()> Done = std::move(Found->second);
        Dones.erase(Found);
        Done();
    }
}

} // namespace Parley
