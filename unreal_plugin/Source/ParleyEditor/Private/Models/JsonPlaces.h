// Places inside a workflow's JSON, as field names and indexes from its root.
#pragma once

#include "Core/Json.h"

#include <cstddef>
#include <string>
#include <vector>

namespace Parley::Editor
{

/// One step down: a field of an object, or an index of a list.
struct Step
{
    Step(const char* InField) : Field(InField) {}
    Step(std::string InField) : Field(std::move(InField)) {}
    Step(std::size_t InIndex) : Index(InIndex), IsIndex(true) {}

    std::string Field;
    std::size_t Index = 0;
    bool IsIndex = false;
};

using Steps = std::vector<Step>;

namespace JsonPlaces
{

/// What stands at a step; null: nothing.
Json* Child(Json* Parent, const Step& To);
const Json* Child(const Json* Parent, const Step& To);

/// What stands at the end of the steps; null: nothing.
Json* At(Json& Root, const Steps& Way);
const Json* At(const Json& Root, const Steps& Way);

/// Stores a value: replaces, or appends. A new field of a node goes before its exits. False: there is no such place.
bool Put(Json& Parent, const Step& To, Json Value);

/// Takes away what stands at the end of the steps. False: nothing stood there.
bool Remove(Json& Root, const Steps& Way);

/// Such as $.nodes[0].input.
std::string PathOf(const Steps& Way);

Steps Under(const Steps& Way, Step To);

} // namespace JsonPlaces

} // namespace Parley::Editor
