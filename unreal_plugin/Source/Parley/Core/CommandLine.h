// Arguments as one command line, quoted for whoever takes it apart again.
#pragma once

#include "Core/CoreApi.h"

#include <string>
#include <vector>

namespace Parley
{

/// Windows programs get one line and split it by the rules of the C runtime. Pure.
class PARLEY_CORE_API CommandLine
{
public:
    /// By those rules: backslashes count only in front of a quote. No argument holds U+0000.
    static std::string JoinForWindows(const std::vector<std::string>& Arguments);

    CommandLine() = delete;
};

} // namespace Parley
