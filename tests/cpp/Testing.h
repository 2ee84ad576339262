// What test programs have in common: checks that end them with a reason, and named arguments.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>

namespace Parley::Testing
{

/// Ends the program with exit code 1 and says why.
[[noreturn]] inline void Fail(std::string_view What)
{
    std::fprintf(stderr, "failed: %.*s\n", static_cast<int>(What.size()), What.data());
    std::fflush(nullptr);
    // At once: other threads may still use what an orderly end would take from under them.
    std::_Exit(1);
}

inline void Check(bool IsSo, std::string_view What)
{
    if (!IsSo)
    {
        Fail(What);
    }
}

/// As endpoint=tcp://… token=…
using Arguments = std::map<std::string, std::string>;

inline Arguments Named(int Count, char** Values, int First)
{
    Arguments Found;
    for (int At = First; At < Count; ++At)
    {
        const std::string Pair = Values[At];
        const std::size_t Equals = Pair.find('=');
        Check(Equals != std::string::npos, "an argument without a value: " + Pair);
        Found[Pair.substr(0, Equals)] = Pair.substr(Equals + 1);
    }
    return Found;
}

} // namespace Parley::Testing
