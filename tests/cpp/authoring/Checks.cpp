// The bodies of Checks.h, and an allocator that counts.
#include "Checks.h"

#include <cstdlib>
#include <new>
#include <utility>

namespace
{

thread_local std::size_t Bytes = 0;
int Failures = 0;

std::vector<std::pair<const char*, void (*)()>>& Tests()
{
    static std::vector<std::pair<const char*, void (*)()>> List;
    return List;
}

} // namespace

void* operator new(std::size_t Size)
{
    Bytes += Size;
    void* Made = std::malloc(Size != 0 ? Size : 1);
    if (Made == nullptr)
    {
        std::abort();
    }
    return Made;
}

void* operator new(std::size_t Size, const std::nothrow_t&) noexcept
{
    return operator new(Size);
}

void operator delete(void* Gone, const std::nothrow_t&) noexcept
{
    std::free(Gone);
}

void operator delete(void* Gone) noexcept
{
    std::free(Gone);
}

void operator delete(void* Gone, std::size_t) noexcept
{
    std::free(Gone);
}

namespace Checks
{

Test::Test(const char* Name, void (*Body)())
{
    Tests().emplace_back(Name, Body);
}

int RunAll(std::string_view Part)
{
    int Wrong = 0, Run = 0;
    for (const auto& [Name, Body] : Tests())
    {
        if (std::string_view(Name).find(Part) == std::string_view::npos)
        {
            continue;
        }
        const int Before = Failures;
        Body();
        ++Run;
        Wrong += Failures != Before ? 1 : 0;
        std::cout << (Failures == Before ? "ok " : "WRONG ") << Name << "\n";
    }
    std::cout << Run << " tests, " << Wrong << " wrong\n";
    return Run == 0 ? 1 : Wrong;
}

void Fail(const std::string& What)
{
    ++Failures;
    std::cout << "  " << What << "\n";
}

std::size_t Allocated() noexcept
{
    return Bytes;
}

} // namespace Checks
