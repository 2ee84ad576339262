// Text between the engine and the core: FString there, UTF-8 here.
#pragma once

#include "Containers/StringFwd.h"
#include "Containers/UnrealString.h"
#include "CoreMinimal.h"

#include <string>
#include <string_view>

namespace Parley
{

/// As UTF-8. A half of a surrogate pair, which is no text, becomes U+FFFD.
PARLEY_API std::string ToUtf8(const FString& Text);

/// From UTF-8. Bytes that are none become U+FFFD; a NUL, which no FString holds, is left out.
PARLEY_API FString ToFString(std::string_view Text);

} // namespace Parley
