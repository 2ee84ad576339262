// A list of tests that register themselves, and what they say where something is not as it should be.
#pragma once

#include <cstddef>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

namespace Checks
{

/// Runs every test whose name holds `Part`; returns how many said that something is wrong.
int RunAll(std::string_view Part);

/// Something is not as it should be. The test goes on.
void Fail(const std::string& What);

/// Bytes that this thread has allocated.
std::size_t Allocated() noexcept;

struct Test
{
    Test(const char* Name, void (*Body)());
};

inline void That(bool IsSo, const std::string& What)
{
    if (!IsSo)
    {
        Fail(What);
    }
}

inline std::string Text(std::string_view Value)
{
    return "\"" + std::string(Value) + "\"";
}

inline std::string Text(const std::string& Value)
{
    return Text(std::string_view(Value));
}

inline std::string Text(const char* Value)
{
    return Text(std::string_view(Value));
}

inline std::string Text(const std::vector<std::string>& Values)
{
    std::string Made = "[";
    for (const std::string& Value : Values)
    {
        Made += (Made.size() == 1 ? "" : ", ") + Text(Value);
    }
    return Made + "]";
}

template <class Value>
std::string Text(const Value& Number)
{
    return std::to_string(Number);
}

template <class One, class Other>
void Equal(const One& Wanted, const Other& Got, const std::string& What)
{
    if (!(Wanted == Got))
    {
        Fail(What + ": " + Text(Got) + " instead of " + Text(Wanted));
    }
}

} // namespace Checks

#define PARLEY_TEST(Name)                                  \
    static void Name();                                    \
    static const Checks::Test Register##Name(#Name, Name); \
    static void Name()
