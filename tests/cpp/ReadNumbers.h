// What numbers that are spelled as JSON does are for the core: for programs that are asked.
#pragma once

#include "Core/Json.h"
#include "Core/Numbers.h"

#include <cstring>
#include <iostream>
#include <string>

namespace Parley::Testing
{

/// Each line of stdin as a number: as i64, as u64, and as a double with the spelling that is written of it; "-": it is none.
inline void ReadNumbers()
{
    for (std::string Line; std::getline(std::cin, Line);)
    {
        const Json Value = Json::Spelled(Line);
        std::int64_t Signed = 0;
        std::uint64_t Unsigned = 0;
        double Real = 0.0;
        std::cout << (Value.ToInt64(Signed) ? Numbers::Of(Signed) : "-") << " ";
        std::cout << (Value.ToUnsigned(Unsigned) ? Numbers::Of(Unsigned) : "-") << " ";
        if (!Value.ToDouble(Real))
        {
            std::cout << "- -\n";
            continue;
        }
        std::uint64_t Bits = 0;
        std::memcpy(&Bits, &Real, sizeof(Bits));
        const std::string Written = Numbers::OfReal(Real);
        std::cout << Bits << " " << (Written.empty() ? "-" : Written) << "\n";
    }
}

} // namespace Parley::Testing
