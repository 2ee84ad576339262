// A JSON value that keeps the order of its fields and the spelling of its numbers.
#pragma once

#include "Core/CoreApi.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace Parley
{

struct JsonMember;

/// One JSON value. Threading: none of its own; a value belongs to one thread at a time.
class PARLEY_CORE_API Json
{
public:
    enum class Kind : std::uint8_t
    {
        Null,
        Boolean,
        Number,
        String,
        Array,
        Object,
    };

    /// null
    Json() noexcept;
    Json(const Json& Other);
    Json(Json&& Other) noexcept;
    Json& operator=(const Json& Other);
    Json& operator=(Json&& Other) noexcept;
    ~Json();

    static Json Boolean(bool Value);
    static Json Integer(std::int64_t Value);
    static Json Unsigned(std::uint64_t Value);
    /// Infinities and NaN have no JSON: they become null.
    static Json Real(double Value);
    /// A number as it was written, for example "1.50". Not checked: only a codec should call this.
    static Json Spelled(std::string Spelling);
    static Json String(std::string Value);
    static Json Array(std::vector<Json> Items = {});
    static Json Object();

    Kind GetKind() const noexcept { return What; }
    bool IsNull() const noexcept { return What == Kind::Null; }
    bool IsBoolean() const noexcept { return What == Kind::Boolean; }
    bool IsNumber() const noexcept { return What == Kind::Number; }
    bool IsString() const noexcept { return What == Kind::String; }
    bool IsArray() const noexcept { return What == Kind::Array; }
    bool IsObject() const noexcept { return What == Kind::Object; }

    /// False for anything that is not `true`.
    bool AsBoolean() const noexcept { return What == Kind::Boolean && Truth; }
    /// The text of a string, the spelling of a number, else "".
    const std::string& AsText() const noexcept;
    /// False where it is no number, has a fraction or does not fit. "2.0" and "2e0" are 2.
    bool ToInt64(std::int64_t& Out) const noexcept;
    bool ToUnsigned(std::uint64_t& Out) const noexcept;
    /// False where it is no number.
    bool ToDouble(double& Out) const noexcept;

    /// The items of an array; empty for anything else.
    const std::vector<Json>& Items() const noexcept;
    /// For changing; only of an array.
    std::vector<Json>& Items() noexcept;
    /// The fields of an object in their order; empty for anything else.
    const std::vector<JsonMember>& Members() const noexcept;
    /// For changing; only of an object.
    std::vector<JsonMember>& Members() noexcept;

    /// Null where there is no such field or this is no object.
    const Json* Find(std::string_view Name) const noexcept;
    Json* Find(std::string_view Name) noexcept;
    /// Levels of arrays and objects: 0 for anything else.
    int Depth() const noexcept;

    /// Replaces the field where it stands, or appends it. Turns anything else into an object first.
    Json& Set(std::string_view Name, Json Value);
    bool Erase(std::string_view Name);
    /// Appends to an array. Turns anything else into an array first.
    Json& Add(Json Value);

    /// Same kind and content; fields in the same order; numbers by value (1.0 equals 1).
    friend PARLEY_CORE_API bool operator==(const Json& A, const Json& B) noexcept;
    friend bool operator!=(const Json& A, const Json& B) noexcept { return !(A == B); }

private:
    Kind What = Kind::Null;
    bool Truth = false;
    std::string Text;
    std::vector<Json> List;
    std::vector<JsonMember> Fields;
};

/// A field of an object.
struct PARLEY_CORE_API JsonMember
{
    std::string Name;
    Json Value;
};

/// JSON in UTF-8. `Pretty`: two spaces a level and a line end behind it, as `parley` writes files; else one line without
/// spaces. What is not UTF-8 becomes U+FFFD: JSON has no form for it. Characters other than ", \\ and those below U+0020 stay
/// as they are.
PARLEY_CORE_API std::string WriteJson(const Json& Value, bool Pretty = false);

/// Text to values and back: the whole of what the core wants of a JSON library.
/// Threading: const methods are called from the game thread and from the I/O thread at once.
class PARLEY_CORE_API JsonCodec
{
public:
    /// Deepest nesting that is read: some levels more than the sidecar takes in a request, for what a reply wraps around.
    static constexpr int MaxDepth = 128;

    JsonCodec() = default;
    JsonCodec(const JsonCodec&) = delete;
    JsonCodec& operator=(const JsonCodec&) = delete;
    virtual ~JsonCodec();
    /// Reads one whole JSON text (UTF-8, no byte order mark). False: `Fault` says what is wrong and where; `Out` is null then.
    /// Refuses what stands behind the value, NaN, comments, nesting past MaxDepth and text that is not UTF-8.
    /// Of a field that is given twice the last one counts. Numbers keep their spelling.
    virtual bool Read(std::string_view Text, Json& Out, std::string& Fault) const = 0;
    /// As WriteJson, which is what this does: only a codec that can do better has its own.
    virtual std::string Write(const Json& Value, bool Pretty = false) const;
};

} // namespace Parley
