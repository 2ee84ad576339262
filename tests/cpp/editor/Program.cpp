// Runs the tests that are named, one after the other; without names it lists all.
#include "Desk.h"

#include <cstdio>

int main(int Count, char** Values)
{
    using namespace Parley::Testing;
    if (Count < 2)
    {
        for (const auto& Each : AllTests())
        {
            std::puts(Each.first.c_str());
        }
        return 0;
    }
    // The names with commas between them, then what the tests are told.
    const Arguments Given = Named(Count, Values, 2);
    std::string Names = std::string(Values[1]) + ",";
    for (std::size_t End = Names.find(','); End != std::string::npos; End = Names.find(','))
    {
        const std::string Name = Names.substr(0, End);
        Names.erase(0, End + 1);
        Check(AllTests().count(Name) == 1, "there is no test " + Name);
        std::printf("%s\n", Name.c_str());
        std::fflush(stdout);
        AllTests().at(Name)(Given);
    }
    return 0;
}
