// What an exit code of the sidecar means, in words.
#pragma once

#include "Core/CoreApi.h"

#include <string>

namespace Parley
{

/// Exit codes as a developer reads them. Pure.
class PARLEY_CORE_API ExitWords
{
public:
    /// `parley serve` ended because it was told to.
    static constexpr int Ok = 0;
    /// It cannot start as its settings are.
    static constexpr int Failed = 1;
    /// It does not know one of its arguments.
    static constexpr int Usage = 2;
    /// Somebody else listens where it was told to.
    static constexpr int EndpointTaken = 3;

    /// The end of "the sidecar …", with the code.
    static std::string Describe(int Code, bool IsWindows);
    /// A sidecar that ended so before it was ready would end so again.
    static bool IsForGood(int Code, bool IsWindows);

    ExitWords() = delete;
};

} // namespace Parley
