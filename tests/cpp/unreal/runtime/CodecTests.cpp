// Text and JSON between the engine and the core: what JSON is not is refused, what it is comes back as it was.
#include "Stage.h"

#include "Core/Json.h"
#include "ParleyJson.h"
#include "ParleyText.h"

#include <string>
#include <vector>

using namespace RuntimeTests;

namespace
{

bool Reads(const std::string& Json, Parley::Json& Out, std::string& Fault)
{
    return Parley::EngineCodec()->Read(Json, Out, Fault);
}

} // namespace

PARLEY_TEST(CodecTests, WhatIsJsonComesBackAsItWas)
{
    const std::vector<std::string> Good = {
        "{}",
        "[]",
        "null",
        "true",
        "\"\"",
        "-0.0",
        "1.50",
        "1e3",
        "12345678901234567890",
        "0.1000000000000000055511151231257827",
        "{\"b\":1,\"a\":{\"B\":[1.0,2.50,3e0,\"x\"],\"b\":null},\"\":false}",
        "{\"Mood\":1,\"mood\":2}",
        "\"\xC3\xA9\xE2\x80\xA8\xF0\x9F\x99\x82\\n\\\"\\\\\"",
        "[[[[]]],{\"a\":[{}]}]",
    };
    for (const std::string& Text : Good)
    {
        Parley::Json Read;
        std::string Fault;
        That(Reads(Text, Read, Fault), Text + ": " + Fault);
        const std::string Back = Parley::EngineCodec()->Write(Read);
        That(Back == Text, Text + " came back as " + Back);
        That(Reads(" \t\r\n" + Text + "\n", Read, Fault) && Parley::EngineCodec()->Write(Read) == Text, "with white space: " + Text);
    }
    Parley::Json Read;
    std::string Fault;
    That(Reads("{\"a\":1,\"b\":2,\"a\":3}", Read, Fault) && Read.Find("a")->AsText() == "3", "the last of two fields counts");
    That(Reads("\"\\u00e9\\ud83d\\ude42\\/\"", Read, Fault) && Read.AsText() == "\xC3\xA9\xF0\x9F\x99\x82/", "escapes");
}

PARLEY_TEST(CodecTests, WhatIsNoJsonIsRefused)
{
    const std::vector<std::string> Bad = {
        "",       " ",          "{",        "[1,2",      "[1,]",     "{\"a\":1,}", "[,1]",       "[1 2]",    "{\"a\" 1}", "{a:1}",
        "TRUE",   "True",       "nul",      "NaN",       "Infinity", "-",          "01",         "1.",       ".5",        "+1",
        "1e",     "0x10",       "// c\n1",  "/* c */1",  "1 2",      "{} {}",      "[] x",       "1,2",      "1][2",      "\"a",
        "\"\t\"", "\"\n\"",     "\"\\x\"",  "\"\\u12\"", "\"\\ud800\"", "\"\\udc00\"", "\"\\ud800\\u0041\"", "'a'", "\xEF\xBB\xBF{}", "\"\xFF\"",
        "\"\xC0\xAF\"",  "\"\xED\xA0\x80\"", std::string("1\0", 2), std::string("\"\0\"", 3), "{\"a\":}", "{1:2}", "]", "}", "{]", "[}",
    };
    for (const std::string& Text : Bad)
    {
        Parley::Json Read = Parley::Json::Boolean(true);
        std::string Fault;
        That(!Reads(Text, Read, Fault), "<" + Text + "> was taken");
        That(Fault.find("line ") == 0, "<" + Text + ">: where? " + Fault);
        That(Read.IsNull(), "nothing comes of it");
    }
    Parley::Json Read;
    std::string Fault;
    That(!Reads("{\n \"a\": tru\n}", Read, Fault) && Fault.find("line 2, column 7") == 0, Fault);
    // These the engine's reader takes: they are refused before it sees them.
    That(!Reads("[1,]", Read, Fault) && Fault == "line 1, column 4: a comma with nothing behind it", Fault);
    That(!Reads("[TRUE]", Read, Fault) && Fault == "line 1, column 2: neither a number nor a word of JSON", Fault);
    That(!Reads("\"\t\"", Read, Fault) && Fault == "line 1, column 2: a control character within a string", Fault);
    That(!Reads("\"\\ud800\"", Read, Fault) && Fault == "line 1, column 2: no escape of JSON", Fault);
    const std::string Deep(Parley::JsonCodec::MaxDepth, '[');
    That(Reads(Deep + std::string(Parley::JsonCodec::MaxDepth, ']'), Read, Fault), "as deep as may be: " + Fault);
    That(!Reads("[" + Deep + std::string(Parley::JsonCodec::MaxDepth + 1, ']'), Read, Fault), "deeper");
}

PARLEY_TEST(CodecTests, TextComesBackWhateverIsInIt)
{
    for (const char* Text : {"", "a", "\xC3\xA9", "\xE9\x85\x92\xE5\xA0\xB4", "\xF0\x9F\x99\x82 a \xF4\x8F\xBF\xBF", "\x7F\xC2\x80\xDF\xBF\xE0\xA0\x80\xEF\xBF\xBF"})
    {
        const std::string Back = Parley::ToUtf8(Parley::ToFString(Text));
        That(Back == Text, std::string(Text) + " came back as " + Back);
    }
    std::string Long;
    for (int Index = 0; Index < 1000; Index++)
    {
        Long += "\xF0\x9F\x99\x82x";
    }
    That(Parley::ToUtf8(Parley::ToFString(Long)) == Long, "a long one");
    That(Parley::ToUtf8(Parley::ToFString("a\xFF" "b\xC3")) == "a\xEF\xBF\xBD" "b\xEF\xBF\xBD", "bytes that are no text");
    That(Parley::ToUtf8(Parley::ToFString(std::string_view("a\0b", 3))) == "ab", "a zero");
    const TCHAR Halves[] = {u'a', 0xD83D, u'b', 0xDE42, 0xD83D, 0xDE42, 0};
    That(Parley::ToUtf8(FString(Halves)) == "a\xEF\xBF\xBD" "b\xEF\xBF\xBD\xF0\x9F\x99\x82", "half pairs");
}

PARLEY_TEST(CodecTests, TheEnginesObjectsKeepNumbers)
{
    Parley::Json Read;
    std::string Fault;
    That(Reads("{\"a\":1.50,\"b\":[true,null,\"x\",{\"c\":12345678901234567890}]}", Read, Fault), Fault);
    const TSharedPtr<FJsonObject> Object = Parley::ToEngineObject(Read);
    That(Object.IsValid() && Object->GetNumberField(TEXT("a")) == 1.5, "a number");
    That(Parley::FromEngine(*Object) == Read, "all of it");
    That(Parley::EngineCodec()->Write(Parley::FromEngine(*Object)).find("12345678901234567890") != std::string::npos, "its spelling");
    That(!Parley::ToEngineObject(Parley::Json()).IsValid(), "what is no object");
}
