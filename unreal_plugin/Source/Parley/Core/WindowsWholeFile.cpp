// The bodies of WholeFile.h on Windows.
#if defined(_WIN32)

#include "Core/WholeFile.h"

#include "Core/Platform.h"
#include "Core/WindowsHeader.h"
#include "Core/WindowsText.h"

#include <algorithm>

namespace Parley
{

namespace WindowsWholeFileLocal
{

constexpr std::size_t Portion = 1 << 20;

/// A handle that is closed when this ends.
class Open
{
public:
    Open(const std::wstring& Path, DWORD Access, DWORD Sharing, DWORD Disposition)
        : Handle(CreateFileW(Path.c_str(), Access, Sharing, nullptr, Disposition, FILE_ATTRIBUTE_NORMAL, nullptr))
    {
    }

    Open(const Open&) = delete;
    Open& operator=(const Open&) = delete;

    ~Open() { Close(); }

    bool IsOpen() const noexcept { return Handle != INVALID_HANDLE_VALUE; }
    HANDLE Get() const noexcept { return Handle; }

    bool Close()
    {
        const HANDLE Was = Handle;
        Handle = INVALID_HANDLE_VALUE;
        return Was == INVALID_HANDLE_VALUE || CloseHandle(Was);
    }

private:
    HANDLE Handle;
};

/// To the end of the file, but no more than `Most` bytes.
bool ReadSome(HANDLE File, std::size_t Most, std::string& Bytes)
{
    Bytes.resize(Most);
    std::size_t Done = 0;
    while (Done < Most)
    {
        DWORD Count = 0;
        const DWORD Wanted = static_cast<DWORD>((std::min)(Most - Done, Portion));
        if (!ReadFile(File, Bytes.data() + Done, Wanted, &Count, nullptr))
        {
            return false;
        }
        if (Count == 0)
        {
            break;
        }
        Done += Count;
    }
    Bytes.resize(Done);
    return true;
}

bool WriteAll(HANDLE File, std::string_view Bytes)
{
    while (!Bytes.empty())
    {
        DWORD Count = 0;
        const DWORD Wanted = static_cast<DWORD>((std::min)(Bytes.size(), Portion));
        if (!WriteFile(File, Bytes.data(), Wanted, &Count, nullptr))
        {
            return false;
        }
        Bytes.remove_prefix(Count);
    }
    return true;
}

bool WriteNew(const std::wstring& Path, std::string_view Bytes)
{
    Open File(Path, GENERIC_WRITE, 0, CREATE_NEW);
    return File.IsOpen() && WriteAll(File.Get(), Bytes) && FlushFileBuffers(File.Get()) && File.Close();
}

/// In place of the old file its permissions and attributes stay.
bool Move(const std::wstring& From, const std::wstring& To, bool Exists)
{
    return Exists ? ReplaceFileW(To.c_str(), From.c_str(), nullptr, REPLACEFILE_IGNORE_MERGE_ERRORS, nullptr, nullptr)
                  : MoveFileExW(From.c_str(), To.c_str(), MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH);
}

} // namespace WindowsWholeFileLocal

bool WholeFile::Read(
    const std::string& Path, std::size_t Most, std::string& Bytes, std::uint64_t& Size, std::string& Fault)
{
    Bytes.clear();
    const std::wstring Wide = WindowsText::PathOf(Path);
    const DWORD Attributes = GetFileAttributesW(Wide.c_str());
    if (Attributes != INVALID_FILE_ATTRIBUTES && (Attributes & FILE_ATTRIBUTE_DIRECTORY) != 0)
    {
        Fault = "it is no file";
        return false;
    }
    WindowsWholeFileLocal::Open File(Wide, GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, OPEN_EXISTING);
    LARGE_INTEGER Found;
    if (!File.IsOpen() || !GetFileSizeEx(File.Get(), &Found))
    {
        const DWORD Error = GetLastError();
        const bool IsMissing = Error == ERROR_FILE_NOT_FOUND || Error == ERROR_PATH_NOT_FOUND;
        Fault = IsMissing ? "there is no such file" : "it cannot be read: " + WindowsText::ErrorText(Error);
        return false;
    }
    if (GetFileType(File.Get()) != FILE_TYPE_DISK)
    {
        Fault = "it is no file";
        return false;
    }
    Size = static_cast<std::uint64_t>(Found.QuadPart);
    if (Size > Most)
    {
        return true;
    }
    if (!WindowsWholeFileLocal::ReadSome(File.Get(), Most + 1, Bytes))
    {
        Fault = "it cannot be read: " + WindowsText::ErrorText(GetLastError());
        return false;
    }
    // It may have grown meanwhile.
    Size = Bytes.size();
    if (Size > Most)
    {
        Bytes.clear();
    }
    return true;
}

bool WholeFile::Replace(const std::string& Path, std::string_view Bytes, bool& Written, std::string& Fault)
{
    Written = false;
    const std::wstring Target = WindowsText::PathOf(Path);
    const DWORD Attributes = GetFileAttributesW(Target.c_str());
    const bool Exists = Attributes != INVALID_FILE_ATTRIBUTES;
    if (Exists)
    {
        std::string Before, Ignored;
        std::uint64_t Size = 0;
        if (Read(Path, Bytes.size(), Before, Size, Ignored) && Size == Bytes.size() && Before == Bytes)
        {
            return true;
        }
        if ((Attributes & FILE_ATTRIBUTE_READONLY) != 0)
        {
            Fault = Path + " is read-only; check it out or allow writing to it";
            return false;
        }
    }
    const std::wstring Beside = Target + WindowsText::Widen("." + Platform::MadeUpName().substr(0, 8) + ".tmp");
    if (!WindowsWholeFileLocal::WriteNew(Beside, Bytes) || !WindowsWholeFileLocal::Move(Beside, Target, Exists))
    {
        Fault = Path + " cannot be written: " + WindowsText::ErrorText(GetLastError());
        DeleteFileW(Beside.c_str());
        return false;
    }
    Written = true;
    return true;
}

} // namespace Parley

#endif
