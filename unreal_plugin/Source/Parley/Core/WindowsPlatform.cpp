// What Windows is asked.
#if defined(_WIN32)

#include "Core/Platform.h"

#include "Core/WindowsHeader.h"
#include "Core/WindowsText.h"

#include <cwchar>


namespace Parley
{

namespace WindowsPlatformLocal
{

constexpr std::size_t LongestLine = 64 * 1024;

DWORD AttributesOf(const std::string& Path)
{
    return GetFileAttributesW(WindowsText::PathOf(Path).c_str());
}

} // namespace WindowsPlatformLocal

int Platform::OwnPid()
{
    return static_cast<int>(GetCurrentProcessId());
}

bool Platform::IsFile(const std::string& Path)
{
    const DWORD Attributes = WindowsPlatformLocal::AttributesOf(Path);
    return Attributes != INVALID_FILE_ATTRIBUTES && (Attributes & FILE_ATTRIBUTE_DIRECTORY) == 0;
}

bool Platform::IsFolder(const std::string& Path)
{
    const DWORD Attributes = WindowsPlatformLocal::AttributesOf(Path);
    return Attributes != INVALID_FILE_ATTRIBUTES && (Attributes & FILE_ATTRIBUTE_DIRECTORY) != 0;
}

bool Platform::IsEmptyFile(const std::string& Path)
{
    WIN32_FILE_ATTRIBUTE_DATA Found;
    return GetFileAttributesExW(WindowsText::PathOf(Path).c_str(), GetFileExInfoStandard, &Found)
        && Found.nFileSizeHigh == 0 && Found.nFileSizeLow == 0;
}

bool Platform::MayBeExecuted(const std::string&)
{
    // The start says so itself.
    return true;
}

std::string Platform::CurrentFolder()
{
    const DWORD Needed = GetCurrentDirectoryW(0, nullptr);
    std::wstring Folder(Needed, L'\0');
    const DWORD Count = GetCurrentDirectoryW(Needed, Folder.data());
    Folder.resize(Count < Needed ? Count : 0);
    return WindowsText::Narrow(Folder);
}

std::vector<std::string> Platform::FoldersIn(const std::string& Folder)
{
    std::vector<std::string> Names;
    WIN32_FIND_DATAW Entry;
    const HANDLE Listing = FindFirstFileW(WindowsText::PathOf(Combine(Folder, "*")).c_str(), &Entry);
    if (Listing == INVALID_HANDLE_VALUE)
    {
        return Names;
    }
    do
    {
        const std::string Name = WindowsText::Narrow(Entry.cFileName);
        if ((Entry.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) != 0 && Name != "." && Name != "..")
        {
            Names.push_back(Name);
        }
    }
    while (FindNextFileW(Listing, &Entry));
    FindClose(Listing);
    return Names;
}

void Platform::RemoveFile(const std::string& Path)
{
    DeleteFileW(WindowsText::PathOf(Path).c_str());
}

std::optional<std::string> Platform::FirstLineOf(const std::string& Path)
{
    // It is being written, and replaced, meanwhile.
    const HANDLE File = CreateFileW(
        WindowsText::PathOf(Path).c_str(), GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
        nullptr, OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL, nullptr);
    if (File == INVALID_HANDLE_VALUE)
    {
        return std::nullopt;
    }
    std::string Line;
    char Piece[1024];
    DWORD Count = 0;
    std::size_t End = std::string::npos;
    while (End == std::string::npos && Line.size() < WindowsPlatformLocal::LongestLine
           && ReadFile(File, Piece, sizeof(Piece), &Count, nullptr) && Count > 0)
    {
        Line.append(Piece, Count);
        End = Line.find('\n');
    }
    CloseHandle(File);
    if (End == std::string::npos)
    {
        return std::nullopt;
    }
    Line.resize(End > 0 && Line[End - 1] == '\r' ? End - 1 : End);
    return Line;
}

std::optional<std::string> Platform::Variable(const char* Name)
{
    const std::wstring Wide = WindowsText::Widen(Name);
    SetLastError(ERROR_SUCCESS);
    const DWORD Needed = GetEnvironmentVariableW(Wide.c_str(), nullptr, 0);
    if (Needed == 0)
    {
        return GetLastError() == ERROR_ENVVAR_NOT_FOUND ? std::nullopt : std::optional<std::string>("");
    }
    std::wstring Value(Needed, L'\0');
    const DWORD Count = GetEnvironmentVariableW(Wide.c_str(), Value.data(), Needed);
    Value.resize(Count < Needed ? Count : 0);
    return WindowsText::Narrow(Value);
}

std::vector<std::string> Platform::Variables()
{
    std::vector<std::string> Found;
    wchar_t* Block = GetEnvironmentStringsW();
    for (const wchar_t* At = Block; At != nullptr && *At != L'\0'; At += std::wcslen(At) + 1)
    {
        Found.push_back(WindowsText::Narrow(At));
    }
    if (Block != nullptr)
    {
        FreeEnvironmentStringsW(Block);
    }
    return Found;
}

} // namespace Parley

#endif
