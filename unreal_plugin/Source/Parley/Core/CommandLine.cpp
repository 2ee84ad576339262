// How arguments become one command line.
#include "Core/CommandLine.h"

#include <cstddef>

namespace Parley
{

std::string CommandLine::JoinForWindows(const std::vector<std::string>& Arguments)
{
    std::string Line;
    for (const std::string& Argument : Arguments)
    {
        if (!Line.empty())
        {
            Line += ' ';
        }
        Line += '"';
        std::size_t Backslashes = 0;
        for (const char Letter : Argument)
        {
            if (Letter == '\\')
            {
                Backslashes++;
                continue;
            }
            Line.append(Letter == '"' ? 2 * Backslashes + 1 : Backslashes, '\\');
            Backslashes = 0;
            Line += Letter;
        }
        Line.append(2 * Backslashes, '\\');
        Line += '"';
    }
    return Line;
}

} // namespace Parley
