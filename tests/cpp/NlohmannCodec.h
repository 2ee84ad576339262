// JSON outside of an engine: nlohmann's reader behind the core's interface.
#pragma once

#include "Core/Json.h"

#include <string>
#include <string_view>

namespace Parley
{

/// What the engine's own reader is inside of one. Threading: any.
class NlohmannCodec final : public JsonCodec
{
public:
    bool Read(std::string_view Text, Json& Out, std::string& Fault) const override;
};

} // namespace Parley
