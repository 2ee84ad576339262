// Whether a value fits a node's parameter.
#pragma once

#include "Core/CoreApi.h"
#include "Core/Generated/ErrorCodes.h"
#include "Core/Json.h"
#include "Core/NodeType.h"

#include <functional>
#include <string>
#include <string_view>

/// Whether a value is one that a parameter may have: its type, its bounds, the fields inside it. Threading: any thread.
namespace Parley::ParamChecks
{

/// What is wrong, of which kind that is, and where, such as sampling.top_p.
using Report = std::function<void(std::string Message, ErrorCode Code, const std::string& Place)>;

/// Reports what is wrong with a value that stands at `Place`. A value is as strictly taken as by the sidecar: 1.0 is no
/// integer, and true no number.
PARLEY_CORE_API void Check(const NodeParam& Param, const Json& Value, const std::string& Place, const Report& Tell);

/// Whether it is a whole number, spelled as one, of at most 64 bits.
PARLEY_CORE_API bool IsWhole(const Json& Value) noexcept;

/// A number, however large it is; bounds are far below where a double is no longer exact.
PARLEY_CORE_API double NumberOf(const Json& Value);

/// A value in a few words; texts stand in quotes.
PARLEY_CORE_API std::string Shown(const Json& Value);

/// A value in a few letters.
PARLEY_CORE_API std::string Brief(const Json& Value);

/// At most 200 characters of a text, as messages of the sidecar have it.
PARLEY_CORE_API std::string Cut(std::string_view Text);

/// A number without a point where it is whole.
PARLEY_CORE_API std::string Digits(double Number);

} // namespace Parley::ParamChecks
