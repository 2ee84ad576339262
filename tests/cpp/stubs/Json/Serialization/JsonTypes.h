// Notations of a JSON text, one after the other.
// Source: dev.epicgames.com/documentation/unreal-engine/API/Runtime/Json/Serialization/EJsonNotation?application_version=5.5
#pragma once

#include "Dom/JsonObject.h"

// Source: dev.epicgames.com/documentation/unreal-engine/API/Runtime/Json/Serialization/EJsonNotation?application_version=5.5
enum class EJsonNotation
{
    ObjectStart,
    ObjectEnd,
    ArrayStart,
    ArrayEnd,
    Boolean,
    String,
    Number,
    Null,
    Error
};
