// What nlohmann's reader finds becomes values of the core; what it lets through and JSON does not is refused here.
#include "NlohmannCodec.h"

#include "Core/JsonBuilder.h"
#include "Core/Numbers.h"
#include "Core/Utf8.h"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <utility>

namespace Parley
{

namespace NlohmannCodecLocal
{

using Value = nlohmann::json;

// The reader calls these by their names.
class Sax final : public nlohmann::json_sax<Value>
{
public:
    bool null() override { return Put(Json()); }
    bool boolean(bool Truth) override { return Put(Json::Boolean(Truth)); }
    bool number_integer(number_integer_t Number) override { return Put(Json::Integer(Number)); }
    bool number_unsigned(number_unsigned_t Number) override { return Put(Json::Unsigned(Number)); }
    bool number_float(number_float_t, const string_t& Spelling) override
    {
        // The lexer has put the decimal point of the program's language in the place of the one that it read.
        string_t Read = Spelling;
        const std::size_t Point = Read.find_first_not_of("+-0123456789eE");
        if (Point != string_t::npos)
        {
            Read[Point] = '.';
        }
        return Put(Json::Spelled(std::move(Read)));
    }

    bool string(string_t& Text) override { return Put(Json::String(std::move(Text))); }
    bool binary(binary_t&) override { return false; }
    bool start_object(std::size_t) override { return Nested(Builder.BeginObject()); }
    bool start_array(std::size_t) override { return Nested(Builder.BeginArray()); }
    bool end_object() override { return Ended(); }
    bool end_array() override { return Ended(); }

    bool key(string_t& Name) override
    {
        Builder.Name(std::move(Name));
        return true;
    }

    bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception& Error) override
    {
        // "[json.exception.parse_error.101] parse error at line 1, column 2: …"
        const std::string What = Error.what();
        const std::size_t Words = What.find("] ");
        Why = Words == std::string::npos ? What : What.substr(Words + 2);
        return false;
    }

    JsonBuilder Builder;
    std::string Why;

private:
    bool Put(Json Made)
    {
        Builder.Add(std::move(Made));
        return true;
    }

    bool Nested(bool IsPossible)
    {
        if (!IsPossible)
        {
            Why = JsonBuilder::TooDeep();
        }
        return IsPossible;
    }

    bool Ended()
    {
        Builder.End();
        return true;
    }
};

std::string Place(std::size_t At)
{
    return " at byte " + Numbers::Of(At);
}

} // namespace NlohmannCodecLocal

bool NlohmannCodec::Read(std::string_view Text, Json& Out, std::string& Fault) const
{
    Out = Json();
    const std::size_t Bad = Utf8::FindFault(Text);
    if (Bad != std::string_view::npos)
    {
        Fault = "it is not UTF-8" + NlohmannCodecLocal::Place(Bad);
        return false;
    }
    // The reader passes over a byte order mark, and takes a zero for the end.
    const std::size_t Zero = Text.find('\0');
    if (Text.substr(0, 3) == "\xEF\xBB\xBF" || Zero != std::string_view::npos)
    {
        const bool IsMark = Zero == std::string_view::npos;
        Fault = (IsMark ? "it begins with a byte order mark" : "a zero byte") + NlohmannCodecLocal::Place(IsMark ? 0 : Zero);
        return false;
    }
    NlohmannCodecLocal::Sax Sax;
    if (!nlohmann::json::sax_parse(Text.begin(), Text.end(), &Sax))
    {
        // It shows what it read last, which may end inside of a character.
        Fault = Utf8::Mended(Sax.Why);
        return false;
    }
    Out = Sax.Builder.Take();
    return true;
}

} // namespace Parley
