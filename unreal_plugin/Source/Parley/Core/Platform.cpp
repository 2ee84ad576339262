// What is the same on every system, or small enough to differ in a line.
#include "Core/Platform.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <random>

namespace Parley
{

namespace PlatformLocal
{

bool HasFolder(std::string_view Program)
{
    return Program.find('/') != std::string_view::npos
        || (Platform::IsWindows && Program.find('\\') != std::string_view::npos) || Platform::IsWhole(Program);
}

/// "": it is not there.
std::string Locate(std::string_view Program, std::string& Why)
{
    if (HasFolder(Program))
    {
        const std::string Full = Platform::FullPath(std::string(Program));
        if (Platform::IsFile(Full))
        {
            return Full;
        }
        if (Platform::IsWindows && Platform::IsFile(Full + ".exe"))
        {
            return Full + ".exe";
        }
        if (Platform::IsFolder(Full))
        {
            Why = "the sidecar program is a folder: " + Full + "; name the program in it";
        }
        return "";
    }
    const std::string Folders = Platform::Variable("PATH").value_or("");
    const char Between = Platform::IsWindows ? ';' : ':';
    for (std::size_t Begin = 0; Begin <= Folders.size();)
    {
        const std::size_t End = (std::min)(Folders.find(Between, Begin), Folders.size());
        const std::string Folder = Folders.substr(Begin, End - Begin);
        Begin = End + 1;
        if (Folder.empty())
        {
            continue;
        }
        const std::string Candidate = Platform::Combine(Folder, Program);
        if (Platform::IsFile(Candidate))
        {
            return Candidate;
        }
        if (Platform::IsWindows && Platform::IsFile(Candidate + ".exe"))
        {
            return Candidate + ".exe";
        }
    }
    return "";
}

} // namespace PlatformLocal

std::string Platform::FindProgram(std::string_view Program, std::string& Why)
{
    Why.clear();
    if (Program.empty())
    {
        Why = "no sidecar program is named; set the path of `parley`";
        return "";
    }
    if (Program.find('\0') != std::string_view::npos)
    {
        Why = "the name of a program cannot hold the character U+0000";
        return "";
    }
    const std::string Path = PlatformLocal::Locate(Program, Why);
    if (Path.empty())
    {
        if (Why.empty())
        {
            Why = "the sidecar program is not there: " + std::string(Program);
        }
        return "";
    }
    if (IsEmptyFile(Path))
    {
        Why = "the sidecar program is an empty file: " + Path + "; was it copied or unpacked whole?";
        return "";
    }
    if (!MayBeExecuted(Path))
    {
        Why = "the sidecar program is not executable: " + Path + "; allow it with: chmod +x \"" + Path + "\"";
        return "";
    }
    return Path;
}

std::string Platform::Combine(std::string_view First, std::string_view Second)
{
    if (First.empty() || IsWhole(Second))
    {
        return std::string(Second);
    }
    std::string Both(First);
    if (Second.empty())
    {
        return Both;
    }
    if (Both.back() != '/' && (!IsWindows || Both.back() != '\\'))
    {
        Both += Separator;
    }
    Both += Second;
    return Both;
}

bool Platform::IsWhole(std::string_view Path)
{
    const auto IsSlash = [](char Letter) { return Letter == '/' || Letter == '\\'; };
    if (!IsWindows)
    {
        return !Path.empty() && Path.front() == '/';
    }
    return (Path.size() >= 2 && IsSlash(Path[0]) && IsSlash(Path[1]))
        || (Path.size() >= 3 && Path[1] == ':' && IsSlash(Path[2]));
}

std::string Platform::FullPath(const std::string& Path)
{
    std::string Whole = IsWhole(Path) ? Path : Combine(CurrentFolder(), Path);
    // What stands before the first part: "/", "C:\" or "\\".
    std::string Root;
    if (IsWindows)
    {
        for (char& Letter : Whole)
        {
            Letter = Letter == '/' ? '\\' : Letter;
        }
        Root = Whole.compare(0, 2, "\\\\") == 0 ? "\\\\" : Whole.substr(0, 3);
    }
    else
    {
        Root = "/";
    }
    std::vector<std::string> Parts;
    std::string Part;
    for (std::size_t Index = (std::min)(Root.size(), Whole.size()); Index <= Whole.size(); Index++)
    {
        if (Index < Whole.size() && Whole[Index] != Separator)
        {
            Part += Whole[Index];
            continue;
        }
        if (Part == ".." && !Parts.empty())
        {
            Parts.pop_back();
        }
        else if (!Part.empty() && Part != "." && Part != "..")
        {
            Parts.push_back(Part);
        }
        Part.clear();
    }
    std::string Full = Root;
    for (std::size_t Index = 0; Index < Parts.size(); Index++)
    {
        Full += Index == 0 ? "" : std::string(1, Separator);
        Full += Parts[Index];
    }
    return Full;
}

std::int64_t Platform::NowMs()
{
    const auto Since = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::milliseconds>(Since).count();
}

std::string Platform::TimeOfDay()
{
    const auto Since = std::chrono::system_clock::now().time_since_epoch();
    const std::int64_t Ms = std::chrono::duration_cast<std::chrono::milliseconds>(Since).count();
    const std::int64_t InDay = Ms % 86400000;
    // Days to a date: years that begin in March have their odd day at their end.
    const std::int64_t Days = Ms / 86400000 + 719468;
    const std::int64_t Era = Days / 146097;
    const std::int64_t OfEra = Days % 146097;
    const std::int64_t YearOfEra = (OfEra - OfEra / 1460 + OfEra / 36524 - OfEra / 146096) / 365;
    const std::int64_t OfYear = OfEra - (365 * YearOfEra + YearOfEra / 4 - YearOfEra / 100);
    const std::int64_t Month = (5 * OfYear + 2) / 153;
    const std::int64_t Day = OfYear - (153 * Month + 2) / 5 + 1;
    const std::int64_t MonthOfYear = Month < 10 ? Month + 3 : Month - 9;
    const std::int64_t Year = YearOfEra + Era * 400 + (MonthOfYear <= 2 ? 1 : 0);
    char Text[96]; // as wide as the compiler can think of
    std::snprintf(
        Text, sizeof(Text), "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", static_cast<int>(Year),
        static_cast<int>(MonthOfYear), static_cast<int>(Day), static_cast<int>(InDay / 3600000),
        static_cast<int>(InDay / 60000 % 60), static_cast<int>(InDay / 1000 % 60), static_cast<int>(InDay % 1000));
    return Text;
}

std::string Platform::MadeUpName()
{
    std::random_device Dice;
    std::string Name;
    while (Name.size() < 32)
    {
        const unsigned int Thrown = Dice();
        for (int Shift = 0; Shift < 32; Shift += 4)
        {
            Name += "0123456789abcdef"[(Thrown >> Shift) & 15U];
        }
    }
    return Name;
}

} // namespace Parley
