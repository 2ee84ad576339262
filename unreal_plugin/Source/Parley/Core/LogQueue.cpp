// A bounded queue of log lines.
#include "Core/LogQueue.h"

#include "Core/Numbers.h"

#include <utility>

namespace Parley
{

void LogQueue::Say(LogLevel Level, std::string_view Text)
{
    const std::lock_guard<std::mutex> Lock(Gate);
    while (!Lines.empty() && (Lines.size() == MaxLines || Bytes + Text.size() > MaxBytes))
    {
        Bytes -= Lines.front().Text.size();
        Lines.pop_front();
        ++LeftOut;
    }
    Bytes += Text.size();
    Lines.push_back(Line{Level, std::string(Text)});
    HasLines.store(true, std::memory_order_release);
}

void LogQueue::Run(const LogSink& Log, std::size_t Most)
{
    for (std::size_t Count = 0; Count < Most && HasLines.load(std::memory_order_acquire); ++Count)
    {
        Line Next;
        std::size_t Missing = 0;
        {
            const std::lock_guard<std::mutex> Lock(Gate);
            Next = std::move(Lines.front());
            Bytes -= Next.Text.size();
            Lines.pop_front();
            Missing = std::exchange(LeftOut, 0);
            HasLines.store(!Lines.empty(), std::memory_order_release);
        }
        if (Missing > 0)
        {
            Logs::Say(
                Log, LogLevel::Warning, "(" + Numbers::Of(Missing) + " log lines were left out: nobody took them)");
        }
        Logs::Say(Log, Next.Level, Next.Text);
    }
}

} // namespace Parley
