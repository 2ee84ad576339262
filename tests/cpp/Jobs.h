// Jobs that a test sends to a program, a line each, and the answers: what all programs of that kind have in common.
#pragma once

#include "Core/Json.h"

#include <cstdio>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace Parley::Jobs
{

/// What became of a job. A fault begins with the path of what is wrong where `IsMalformed`.
struct Answer
{
    std::string Text;
    std::string Fault;
    bool IsMalformed = false;
};

namespace JobsLocal
{

inline constexpr char Letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

inline std::string Coded(const std::string& Text)
{
    std::string Made;
    for (std::size_t At = 0; At < Text.size(); At += 3)
    {
        unsigned long Bits = 0;
        for (std::size_t Step = 0; Step < 3; ++Step)
        {
            const unsigned char Octet = At + Step < Text.size() ? static_cast<unsigned char>(Text[At + Step]) : 0;
            Bits = (Bits << 8) | Octet;
        }
        for (std::size_t Step = 0; Step < 4; ++Step)
        {
            Made += At + Step <= Text.size() ? Letters[(Bits >> (18 - 6 * Step)) & 63] : '=';
        }
    }
    return Made;
}

inline std::string Decoded(const std::string& Text)
{
    std::string Made;
    unsigned long Bits = 0;
    int Count = 0;
    for (const char Letter : Text)
    {
        const std::size_t At = std::string(Letters).find(Letter);
        if (At == std::string::npos)
        {
            break;
        }
        Bits = (Bits << 6) | static_cast<unsigned long>(At);
        Count += 6;
        if (Count >= 8)
        {
            Count -= 8;
            Made += static_cast<char>((Bits >> Count) & 0xFF);
        }
    }
    return Made;
}

inline bool ReadLine(std::string& Line)
{
    Line.clear();
    for (int Letter = std::getchar(); Letter != EOF; Letter = std::getchar())
    {
        if (Letter == '\n')
        {
            return true;
        }
        Line += static_cast<char>(Letter);
    }
    return false;
}

inline std::string Shown(const Answer& Found)
{
    if (Found.Fault.empty())
    {
        return "ok\t" + Coded(Found.Text);
    }
    if (!Found.IsMalformed)
    {
        return "failed\t" + Coded(Found.Fault);
    }
    const std::size_t Colon = Found.Fault.find(": ");
    return "malformed\t" + Coded(Found.Fault.substr(0, Colon)) + "\t"
        + Coded(Colon == std::string::npos ? "" : Found.Fault.substr(Colon + 2));
}

} // namespace JobsLocal

inline Answer Well(std::string Text)
{
    Answer Made;
    Made.Text = std::move(Text);
    return Made;
}

inline Answer Malformed(std::string Fault)
{
    Answer Made;
    Made.Fault = std::move(Fault);
    Made.IsMalformed = true;
    return Made;
}

inline Answer Failed(std::string Fault)
{
    Answer Made;
    Made.Fault = std::move(Fault);
    return Made;
}

using Worker = std::function<Answer(const std::string& Job, const std::vector<std::string>& Given)>;

/// A job is its name and its arguments, an answer is `ok` with a text, or what is wrong with path and reason; all but the
/// names are base64, and a tab stands between two of them. Returns when there are no more jobs.
inline int Answering(const Worker& Work)
{
    std::string Line;
    while (JobsLocal::ReadLine(Line))
    {
        std::vector<std::string> Parts(1);
        for (const char Letter : Line)
        {
            if (Letter == '\t')
            {
                Parts.emplace_back();
            }
            else
            {
                Parts.back() += Letter;
            }
        }
        const std::string Job = Parts.front();
        Parts.erase(Parts.begin());
        for (std::string& Part : Parts)
        {
            Part = JobsLocal::Decoded(Part);
        }
        std::puts(JobsLocal::Shown(Work(Job, Parts)).c_str());
        std::fflush(stdout);
    }
    return 0;
}

} // namespace Parley::Jobs
