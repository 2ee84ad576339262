// JSON inside of the engine: its own reader behind the core's interface.
#pragma once

#include "Core/Json.h"

#include <string>
#include <string_view>

namespace Parley
{

/// Over TJsonReader, which takes more than JSON is: what it must not take is refused before it sees it. A U+0000 within a
/// text, which no FString holds, is left out. Threading: any thread, several at once.
class JsonCodecUnreal final : public JsonCodec
{
public:
    bool Read(std::string_view Text, Json& Out, std::string& Fault) const override;
};

} // namespace Parley
