// One line without spaces.
// Source: ufna/VaRest Source/VaRest/Private/VaRestJsonObject.cpp (TCondensedJsonPrintPolicy)
#pragma once

#include "CoreMinimal.h"

// Source: ufna/VaRest Source/VaRest/Private/VaRestJsonObject.cpp
template <class CharType>
struct TCondensedJsonPrintPolicy
{
    static constexpr bool bPretty = false;
};
