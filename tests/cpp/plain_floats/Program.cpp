// Numbers where the standard library cannot read reals itself, in a language of the system.
#include "ReadNumbers.h"
#include "Testing.h"

#include <clocale>

int main(int Count, char** Values)
{
    using namespace Parley::Testing;
    Check(Count == 2, "name a language");
    Check(std::setlocale(LC_ALL, Values[1]) != nullptr, "there is no such language");
    ReadNumbers();
    return 0;
}
