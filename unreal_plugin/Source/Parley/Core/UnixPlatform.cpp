// What Linux and macOS are asked.
#if !defined(_WIN32)

#include "Core/Platform.h"

#include <cstdlib>
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#if defined(__APPLE__)
#include <crt_externs.h>
#else
extern "C" char** environ;
#endif

namespace Parley
{

namespace UnixPlatformLocal
{

constexpr std::size_t LongestLine = 64 * 1024;

} // namespace UnixPlatformLocal

int Platform::OwnPid()
{
    return static_cast<int>(getpid());
}

bool Platform::IsFile(const std::string& Path)
{
    struct stat Found;
    return stat(Path.c_str(), &Found) == 0 && S_ISREG(Found.st_mode);
}

bool Platform::IsFolder(const std::string& Path)
{
    struct stat Found;
    return stat(Path.c_str(), &Found) == 0 && S_ISDIR(Found.st_mode);
}

bool Platform::IsEmptyFile(const std::string& Path)
{
    struct stat Found;
    return stat(Path.c_str(), &Found) == 0 && Found.st_size == 0;
}

bool Platform::MayBeExecuted(const std::string& Path)
{
    return access(Path.c_str(), X_OK) == 0;
}

std::string Platform::CurrentFolder()
{
    char Folder[4096];
    return getcwd(Folder, sizeof(Folder)) != nullptr ? Folder : "/";
}

std::vector<std::string> Platform::FoldersIn(const std::string& Folder)
{
    std::vector<std::string> Names;
    DIR* Listing = opendir(Folder.c_str());
    if (Listing == nullptr)
    {
        return Names;
    }
    while (const dirent* Entry = readdir(Listing))
    {
        const std::string Name = Entry->d_name;
        if (Name != "." && Name != ".." && IsFolder(Combine(Folder, Name)))
        {
            Names.push_back(Name);
        }
    }
    closedir(Listing);
    return Names;
}

void Platform::RemoveFile(const std::string& Path)
{
    unlink(Path.c_str());
}

std::optional<std::string> Platform::FirstLineOf(const std::string& Path)
{
    const int File = open(Path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (File < 0)
    {
        return std::nullopt;
    }
    std::string Line;
    char Piece[1024];
    std::size_t End = std::string::npos;
    while (End == std::string::npos && Line.size() < UnixPlatformLocal::LongestLine)
    {
        const ssize_t Count = read(File, Piece, sizeof(Piece));
        if (Count <= 0)
        {
            break;
        }
        Line.append(Piece, static_cast<std::size_t>(Count));
        End = Line.find('\n');
    }
    close(File);
    if (End == std::string::npos)
    {
        return std::nullopt;
    }
    Line.resize(End);
    return Line;
}

std::optional<std::string> Platform::Variable(const char* Name)
{
    const char* Value = std::getenv(Name);
    return Value == nullptr ? std::nullopt : std::optional<std::string>(Value);
}

std::vector<std::string> Platform::Variables()
{
#if defined(__APPLE__)
    char** All = *_NSGetEnviron();
#else
    char** All = environ;
#endif
    std::vector<std::string> Found;
    for (; All != nullptr && *All != nullptr; All++)
    {
        Found.emplace_back(*All);
    }
    return Found;
}

} // namespace Parley

#endif
