// Reading JSON that may be anything: what is missing or of another kind is left out.
#pragma once

#include "Core/Json.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace Parley::Editor::EditorJson
{

/// A field's text; empty where it is missing or something else. `Object` may be null.
const std::string& Text(const Json* Object, std::string_view Field);

/// A field's object; null where it is missing or something else.
const Json* Object(const Json* Owner, std::string_view Field);

/// The items of a field that is a list; none where it is missing or something else.
const std::vector<Json>& Items(const Json* Object, std::string_view Field);

/// A field's number; 0 where it is missing or something else.
double Number(const Json* Object, std::string_view Field);

/// A whole number, spelled as one, that fits 64 bits.
bool IsWhole(const Json& Value);

/// A number that a control can show. Integers beyond 64 bits are none: they stay JSON.
bool TryNumber(const Json& Value, double& Out);

/// A value on one line as people read it; "" for null.
std::string Shown(const Json& Value, const JsonCodec& Codec);

/// A number with some decimals and a point, rounded.
std::string Fixed(double Value, int Decimals);

/// Bytes as people read them.
std::string Bytes(std::int64_t Bytes);

} // namespace Parley::Editor::EditorJson
