// What the core makes of bytes that came: JSON, numbers, and messages that somebody has spoiled.
#include "Core/Frames.h"
#include "Core/Json.h"
#include "Core/Numbers.h"
#include "Core/Utf8.h"
#include "NlohmannCodec.h"
#include "ReadNumbers.h"
#include "Testing.h"

#include <algorithm>
#include <fstream>
#include <iostream>
#include <random>
#include <utility>
#include <vector>

namespace Parley::Testing
{

namespace
{

std::string Hex(std::string_view Bytes)
{
    static constexpr char Digits[] = "0123456789abcdef";
    std::string Text;
    for (const char Byte : Bytes)
    {
        Text += Digits[static_cast<unsigned char>(Byte) >> 4];
        Text += Digits[static_cast<unsigned char>(Byte) & 0x0F];
    }
    return Text;
}

std::string Unhex(std::string_view Text)
{
    std::string Bytes;
    for (std::size_t At = 0; At + 1 < Text.size(); At += 2)
    {
        unsigned Value = 0;
        const auto [End, Error] = std::from_chars(Text.data() + At, Text.data() + At + 2, Value, 16);
        Check(Error == std::errc{} && End == Text.data() + At + 2, "not hexadecimal");
        Bytes += static_cast<char>(Value);
    }
    return Bytes;
}

// Each line of stdin, in hexadecimal, read as JSON: what is written of it, or why it is refused.
void Read()
{
    const NlohmannCodec Codec;
    for (std::string Line; std::getline(std::cin, Line);)
    {
        Json Value = Json::Boolean(true);
        std::string Why;
        if (!Codec.Read(Unhex(Line), Value, Why))
        {
            Check(Value.IsNull() && !Why.empty(), "refused, but not without a trace");
            std::cout << "no " << Hex(Why) << "\n";
            continue;
        }
        const std::string Written = Codec.Write(Value);
        Json Again;
        Check(Codec.Read(Written, Again, Why) && Again == Value, "written other than it was read: " + Written);
        Check(Codec.Read(Codec.Write(Value, true), Again, Why) && Again == Value, "written other than it was read");
        std::cout << "ok " << Hex(Written) << " " << Hex(Codec.Write(Value, true)) << " " << Value.Depth() << "\n";
    }
}

// Each line of stdin as a number, shown to people.
void ShowNumbers()
{
    for (std::string Line; std::getline(std::cin, Line);)
    {
        double Real = 0.0;
        Check(Numbers::ReadReal(Line, Real), "not a number: " + Line);
        std::cout << Numbers::Shown(Real) << "\n";
    }
}

// Each line of stdin, in hexadecimal: where it is not UTF-8, and what is made of it.
void Mend()
{
    for (std::string Line; std::getline(std::cin, Line);)
    {
        const std::string Bytes = Unhex(Line);
        const std::size_t Bad = Utf8::FindFault(Bytes);
        const std::string Mended = Utf8::Mended(Bytes);
        Check(Utf8::IsGood(Mended), "mended, but still not UTF-8");
        std::string Why;
        Json Value;
        Check(
            NlohmannCodec().Read(WriteJson(Json::String(Bytes)), Value, Why) && Value.AsText() == Mended,
            "written as something else");
        std::cout << (Bad == std::string_view::npos ? "-" : Numbers::Of(Bad)) << " " << Hex(Mended) << "\n";
    }
}

// What a Json does that a reader does not show.
void Values()
{
    Json Object = Json::Boolean(true);
    Object.Set("b", Json::Integer(1));
    Object.Set("a", Json::String("two"));
    Object.Set("b", Json::Real(2.0));
    Check(WriteJson(Object) == "{\"b\":2.0,\"a\":\"two\"}", WriteJson(Object));
    Check(Object.Erase("a") && !Object.Erase("a") && Object.Find("a") == nullptr, "not erased");
    Json Array;
    Array.Add(Json());
    Array.Add(Json::Array()).Add(Json::Unsigned(18446744073709551615U));
    Check(WriteJson(Array) == "[null,[18446744073709551615]]" && Array.Depth() == 2, WriteJson(Array));
    Check(Json::Real(1.0 / 0.0 * 1.0).IsNull() && WriteJson(Json::Real(-0.0)) == "-0.0", "reals");
    Check(Json::Spelled("1.0") == Json::Integer(1) && Json::Spelled("1e0") == Json::Integer(1), "numbers by value");
    Check(Json::Spelled("18446744073709551616") != Json::Spelled("18446744073709551615"), "not by value");
    Check(Json::Spelled("-0") == Json::Integer(0) && Json::String("1") != Json::Integer(1), "kinds");
    Json Same = Json::Object();
    Same.Set("b", Json::Integer(2));
    Check(Same == Object, "equal objects are not");
    Same.Set("c", Json());
    Check(Same != Object && Json::Array() != Json::Object() && Json() == Json(), "unequal ones are");
    const Json Copy = Same;
    const Json Moved = std::move(Same);
    Check(Copy == Moved, "a copy is another one");
    Check(WriteJson(Json::Object(), true) == "{}\n" && WriteJson(Json::Array(), true) == "[]\n", "empty ones");
    std::cout << "well\n";
}

struct Seed
{
    std::string Type;
    std::string Body;
};

/// Spoils messages. The same number spoils them the same way.
class Spoiler
{
public:
    explicit Spoiler(std::uint64_t Number) : Dice(Number) {}

    std::size_t Below(std::size_t Most) { return Most == 0 ? 0 : static_cast<std::size_t>(Dice() % Most); }

    std::vector<std::string> Message(const std::vector<Seed>& Seeds)
    {
        const Seed& Of = Seeds[Below(Seeds.size())];
        std::vector<std::string> Parts = {Of.Type, std::string(16, '\0'), Of.Body};
        Parts[1][8] = static_cast<char>(Below(256));
        if (Below(4) == 0)
        {
            Parts.push_back(std::string(Below(100), 'p'));
        }
        for (std::size_t Times = Below(5); Times > 0; --Times)
        {
            // Mostly the JSON: the rest is soon refused.
            std::string& Part = Below(5) != 0 && Parts.size() > 2 ? Parts[2] : Parts[Below(Parts.size())];
            Spoil(Part, Seeds);
        }
        if (Below(20) == 0)
        {
            Parts.resize(Below(7));
        }
        return Parts;
    }

private:
    void Spoil(std::string& Part, const std::vector<Seed>& Seeds)
    {
        static const std::string Junk[] = {
            "null", "true", "\"\"", "[]", "{}", "-", "1e999", "1e-999", "99999999999999999999", "-1", "0.5", "1E+2",
            "\"\\ud800\"", "\"\\u0000\"", "\\", "\"", "\xFF", "\xED\xA0\x80", "\xC0\x80", "\xF4\x90\x80\x80", ",", ":",
            "{", "}", "[", "]", "//", "/**/", "NaN", "\xEF\xBB\xBF", "\xE9\x85\x92", std::string(1, '\0'),
        };
        const std::size_t At = Below(Part.size() + 1);
        switch (Below(9))
        {
            case 0:
                if (At < Part.size())
                {
                    Part[At] = static_cast<char>(static_cast<unsigned char>(Part[At]) ^ (1U << Below(8)));
                }
                break;
            case 1:
                Part.insert(At, 1, static_cast<char>(Below(256)));
                break;
            case 2:
                Part.erase(At, Below(20));
                break;
            case 3:
                Part.insert(At, Junk[Below(std::size(Junk))]);
                break;
            case 4:
            {
                // Another value where one stands.
                const std::size_t Colon = Part.find(':', At);
                if (Colon != std::string::npos)
                {
                    const std::size_t End = (std::min)(Part.find_first_of(",}]", Colon), Part.size());
                    Part.replace(Colon + 1, End - Colon - 1, Junk[Below(std::size(Junk))]);
                }
                break;
            }
            case 5:
            {
                const std::string& Other = Seeds[Below(Seeds.size())].Body;
                const std::size_t From = Below(Other.size());
                Part.insert(At, Other.substr(From, Below(200)));
                break;
            }
            case 6:
                Part.resize(At);
                break;
            case 7:
            {
                // Half of the time closed again.
                const std::size_t Levels = Below(200);
                Part.insert(At, std::string(Levels, '[') + (Below(2) == 0 ? std::string(Levels, ']') : ""));
                break;
            }
            default:
                Part.insert(At, Part.substr(At, Below(50)));
                break;
        }
    }

    std::mt19937_64 Dice;
};

// Messages of `seeds` (a file: a type, a tab and JSON in each line), spoiled `count` times.
void Fuzz(const Arguments& Given)
{
    std::vector<Seed> Seeds;
    std::ifstream File(Given.at("seeds"), std::ios::binary);
    for (std::string Line; std::getline(File, Line);)
    {
        const std::size_t Tab = Line.find('\t');
        Seeds.push_back(Seed{Line.substr(0, Tab), Line.substr(Tab + 1)});
    }
    Check(!Seeds.empty(), "no seeds");
    std::uint64_t Count = 0;
    std::uint64_t First = 0;
    Check(Numbers::Read(Given.at("count"), Count) && Numbers::Read(Given.at("first"), First), "no counts");
    const NlohmannCodec Codec;
    InboundMessage Incoming(4000, 64);
    std::uint64_t Refused = 0;
    std::uint64_t Unread = 0;
    std::uint64_t Unknown = 0;
    std::uint64_t Understood = 0;
    for (std::uint64_t Number = First; Number < First + Count; ++Number)
    {
        const std::string Place = " (first=" + Numbers::Of(Number) + " count=1)";
        Incoming.Clear();
        for (const std::string& Part : Spoiler(Number).Message(Seeds))
        {
            // Of its own size exactly, so that a step beyond its end is seen.
            const std::vector<char> Room(Part.begin(), Part.end());
            Incoming.Part(Room.data(), Room.size());
        }
        Fault Why;
        std::unique_ptr<Message> Said;
        const bool IsJudged = Incoming.Judge(Why);
        if (!IsJudged || !Incoming.Interpret(Codec, Said, Why))
        {
            Check(
                Why.Code == ErrorCode::MalformedMessage || (!IsJudged && Why.Code == ErrorCode::MessageTooLarge),
                "refused as " + Why.Shown() + Place);
            Check(!Why.Text.empty() && Why.Text.size() < 2000, "what it says: " + Why.Text + Place);
            Check(Utf8::IsGood(Why.Text), "what it says is not UTF-8" + Place);
            Check(Said == nullptr, "refused and read" + Place);
            ++(IsJudged ? Unread : Refused);
            continue;
        }
        if (Said == nullptr)
        {
            ++Unknown;
            continue;
        }
        // What was understood can be said again, and is understood again as the same.
        const Frames::Parts Again = Frames::Encode(Codec, *Said, Incoming.RequestId(), Incoming.Seq());
        InboundMessage Second(1000000, 64);
        for (const std::string& Part : Again)
        {
            Second.Part(Part.data(), Part.size());
        }
        std::unique_ptr<Message> Same;
        Check(
            Second.Judge(Why) && Second.Interpret(Codec, Same, Why) && Same != nullptr && Same->Id() == Said->Id(),
            "not understood again: " + Again[2] + ": " + Why.Shown() + Place);
        Check(Same->ToJson() == Said->ToJson(), "understood as something else: " + Again[2] + Place);
        Check(Second.RequestId() == Incoming.RequestId() && Second.Seq() == Incoming.Seq(), "other numbers" + Place);
        ++Understood;
    }
    std::cout << "{\"refused\": " << Refused << ", \"unread\": " << Unread << ", \"unknown\": " << Unknown
              << ", \"understood\": " << Understood << "}\n";
}

} // namespace

} // namespace Parley::Testing

int main(int Count, char** Values)
{
    using namespace Parley::Testing;
    Check(Count > 1, "name what to do");
    const std::string What = Values[1];
    const Arguments Given = Named(Count, Values, 2);
    if (What == "read")
    {
        Read();
    }
    else if (What == "numbers")
    {
        ReadNumbers();
    }
    else if (What == "shown")
    {
        ShowNumbers();
    }
    else if (What == "utf8")
    {
        Mend();
    }
    else if (What == "values")
    {
        Parley::Testing::Values();
    }
    else if (What == "fuzz")
    {
        Fuzz(Given);
    }
    else
    {
        Fail("there is no " + What);
    }
    return 0;
}
