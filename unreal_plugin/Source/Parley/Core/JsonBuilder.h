// Puts a Json together from what a reader finds, one thing after the other: what all codecs have in common.
#pragma once

#include "Core/CoreApi.h"
#include "Core/Json.h"

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace Parley
{

/// For readers that tell of values in the order of the text. Sees to the depth, and to fields that are given twice.
/// Threading: one thread's.
class PARLEY_CORE_API JsonBuilder
{
public:
    JsonBuilder();
    ~JsonBuilder();
    JsonBuilder(const JsonBuilder&) = delete;
    JsonBuilder& operator=(const JsonBuilder&) = delete;

    /// The name of the next value, inside of an object; anywhere else it says nothing.
    void Name(std::string Name);
    /// Anything that is complete: for arrays and objects see Begin.
    void Add(Json Value);
    /// False: it would be nested deeper than JsonCodec::MaxDepth; TooDeep has the words.
    bool BeginArray();
    bool BeginObject();
    void End();

    /// What came of it, once all is ended.
    Json Take();

    static std::string TooDeep();

private:
    struct Level
    {
        Json Value;
        std::string Name;
        // Where each field stands, once there are so many that looking through them takes long.
        std::unique_ptr<std::unordered_map<std::string, std::size_t>> Places;
    };

    bool Begin(Json Value);
    void Put(Level& Into, Json Value);

    std::vector<Level> Levels;
    Json Whole;
};

} // namespace Parley
