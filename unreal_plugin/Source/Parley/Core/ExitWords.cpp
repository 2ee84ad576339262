// The words for exit codes.
#include "Core/ExitWords.h"

#include "Core/Numbers.h"

#include <cstdint>

namespace Parley
{

namespace ExitWordsLocal
{

constexpr int SignalBase = 128;

std::string OfAny(int Code, bool IsWindows)
{
    switch (Code)
    {
    case ExitWords::Ok:
        return "ended as it was told to";
    case ExitWords::Failed:
        return IsWindows ? "could not start, or was ended by somebody (its last lines may say why)"
                         : "could not start (its last lines say why)";
    case ExitWords::Usage:
        return "was started with arguments that it does not know";
    case ExitWords::EndpointTaken:
        return "found its port taken by another program";
    default:
        break;
    }
    if (IsWindows)
    {
        return "ended by itself";
    }
    switch (Code)
    {
    case 126:
    case 127:
    case 255:
        return "could not be run: it, or what it needs, is not a program for this machine";
    case SignalBase + 4:
        return "used an instruction that this processor does not have; take a build for older processors";
    case SignalBase + 6:
        return "gave up over a fault inside it (SIGABRT)";
    case SignalBase + 9:
        return "was killed, by somebody or for want of memory (SIGKILL)";
    case SignalBase + 11:
        return "crashed (SIGSEGV)";
    case SignalBase + 2:
        return "was asked by somebody else to end (SIGINT)";
    case SignalBase + 15:
        return "was asked by somebody else to end (SIGTERM)";
    default:
        break;
    }
    if (Code > SignalBase && Code <= SignalBase + 64)
    {
        return "was ended by signal " + Numbers::Of(Code - SignalBase);
    }
    return "ended by itself";
}

std::string OfWindows(std::uint32_t Code)
{
    switch (Code)
    {
    case 0xC000001D:
        return "used an instruction that this processor does not have; take a build for older processors";
    case 0xC0000005:
        return "crashed (access violation)";
    case 0xC00000FD:
        return "crashed (stack overflow)";
    case 0xC0000409:
        return "gave up over a fault inside it";
    case 0xC0000135:
    case 0xC0000139:
        return "did not find a DLL that it needs";
    case 0xC000007B:
    case 0xC0000142:
        return "could not be run: it, or a DLL that it needs, is not for this machine";
    case 0xC000013A:
        return "was ended with its console";
    case 0xC0000017:
        return "had no memory left";
    case 0xFFFFFFFF:
        return "was killed by somebody";
    default:
        return "ended by a fault of Windows or inside it";
    }
}

std::string Hexadecimal(std::uint32_t Code)
{
    std::string Digits = "0x";
    for (int Shift = 28; Shift >= 0; Shift -= 4)
    {
        Digits += "0123456789ABCDEF"[(Code >> Shift) & 15U];
    }
    return Digits;
}

} // namespace ExitWordsLocal

std::string ExitWords::Describe(int Code, bool IsWindows)
{
    const bool IsBeyond = Code < 0 || Code > 255;
    const std::string Words = IsWindows && IsBeyond ? ExitWordsLocal::OfWindows(static_cast<std::uint32_t>(Code))
                                                    : ExitWordsLocal::OfAny(Code, IsWindows);
    const std::string Number =
        IsBeyond ? ExitWordsLocal::Hexadecimal(static_cast<std::uint32_t>(Code)) : Numbers::Of(Code);
    return Words + " (exit code " + Number + ")";
}

bool ExitWords::IsForGood(int Code, bool IsWindows)
{
    if (Code == Failed || Code == Usage)
    {
        return true;
    }
    if (!IsWindows)
    {
        return Code == 126 || Code == 127 || Code == 255 || Code == ExitWordsLocal::SignalBase + 4;
    }
    switch (static_cast<std::uint32_t>(Code))
    {
    case 0xC000001D:
    case 0xC0000135:
    case 0xC0000139:
    case 0xC000007B:
    case 0xC0000142:
        return true;
    default:
        return false;
    }
}

} // namespace Parley
