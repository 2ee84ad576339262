// Runs one scenario by its name; exit code 0 and one line of JSON: all was as it should be.
#include "Game.h"

#include "Core/Threads.h"

#include <functional>

int main(int Count, char** Values)
{
    using namespace Parley::Testing;
    const std::map<std::string, Parley::Json (*)(const Arguments&)> Scenarios = {
        {"talk", Talk},         {"leave", Leave},       {"follow", Follow},     {"reload", Reload},
        {"dropped", Dropped},   {"requests", Requests}, {"many", Many},         {"backlog", Backlog},
        {"latency", Latency},   {"threads", Threads},   {"hear", Hear},         {"silence", Silence},
        {"replaced", Replaced}, {"ends", Ends},         {"stops", Stops},       {"cycles", Cycles},
        {"idle", Idle},         {"burst", Burst},       {"inside", Inside},
    };
    Check(Count > 1 && Scenarios.count(Values[1]) != 0, "name a scenario");
    const std::string Report = Parley::WriteJson(Scenarios.at(Values[1])(Named(Count, Values, 2)));
    Check(Parley::Threads::WaitForAll(10000), "a thread of the core does not end");
    Say(Report);
    return 0;
}
