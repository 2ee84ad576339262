// Runs one scenario by its name; exit code 0 and one line of JSON: all was as it should be.
#include "NlohmannCodec.h"
#include "World.h"

#include "Core/Threads.h"

#include <clocale>
#include <cstdio>
#include <map>

namespace Parley::Testing
{

namespace
{

std::map<std::string, Json (*)()>& Scenarios()
{
    static std::map<std::string, Json (*)()> All;
    return All;
}

std::string WholeFile(const char* Path)
{
    std::string Text;
    std::FILE* File = std::fopen(Path, "rb");
    Check(File != nullptr, "no settings");
    char Piece[4096];
    while (const std::size_t Count = std::fread(Piece, 1, sizeof(Piece), File))
    {
        Text.append(Piece, Count);
    }
    std::fclose(File);
    return Text;
}

} // namespace

Scenario::Scenario(const char* Name, Json (*Play)())
{
    Check(Scenarios().emplace(Name, Play).second, "two scenarios of one name");
}

} // namespace Parley::Testing

int main(int Count, char** Arguments)
{
    using namespace Parley;
    using namespace Parley::Testing;
    Check(Count == 3, "usage: hub SCENARIO SETTINGS");
    Codec = std::make_shared<NlohmannCodec>();
    Settings = Parsed(WholeFile(Arguments[2]));
    Fault Why;
    Zmq = ZmqApi::Load(TextOf("libzmq"), Why);
    Check(Zmq != nullptr, Why.Shown());
    if (HasSetting("locale"))
    {
        Check(std::setlocale(LC_ALL, TextOf("locale").c_str()) != nullptr, "there is no such locale");
    }
    const auto Found = Scenarios().find(Arguments[1]);
    Check(Found != Scenarios().end(), "there is no scenario of that name");
    const std::string Report = Codec->Write(Found->second());
    // Nothing of the core goes on by itself.
    Check(Threads::WaitForAll(10000), "a thread of the core does not end");
    Tell(Report);
    return 0;
}
