// The bodies of WholeFile.h on Linux and macOS.
#if !defined(_WIN32)

#include "Core/WholeFile.h"

#include "Core/Platform.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace Parley
{

namespace UnixWholeFileLocal
{

constexpr mode_t NewFile = 0666; // less what the process's mask takes away

std::string Reason(int Error)
{
    return std::generic_category().message(Error);
}

/// A descriptor that is closed when this ends.
class Open
{
public:
    Open(const std::string& Path, int Flags, mode_t Mode = 0)
        : Descriptor(open(Path.c_str(), Flags | O_CLOEXEC, Mode))
    {
    }

    Open(const Open&) = delete;
    Open& operator=(const Open&) = delete;

    ~Open() { Close(); }

    bool IsOpen() const noexcept { return Descriptor >= 0; }
    int Get() const noexcept { return Descriptor; }

    bool Close()
    {
        const int Was = Descriptor;
        Descriptor = -1;
        return Was < 0 || close(Was) == 0;
    }

private:
    int Descriptor;
};

/// To the end of the file, but no more than `Most` bytes.
bool ReadSome(int Descriptor, std::size_t Most, std::string& Bytes)
{
    Bytes.resize(Most);
    std::size_t Done = 0;
    while (Done < Most)
    {
        const ssize_t Count = read(Descriptor, Bytes.data() + Done, Most - Done);
        if (Count < 0 && errno == EINTR)
        {
            continue;
        }
        if (Count < 0)
        {
            return false;
        }
        if (Count == 0)
        {
            break;
        }
        Done += static_cast<std::size_t>(Count);
    }
    Bytes.resize(Done);
    return true;
}

bool WriteAll(int Descriptor, std::string_view Bytes)
{
    while (!Bytes.empty())
    {
        const ssize_t Count = write(Descriptor, Bytes.data(), Bytes.size());
        if (Count < 0 && errno != EINTR)
        {
            return false;
        }
        Bytes.remove_prefix(Count > 0 ? static_cast<std::size_t>(Count) : 0);
    }
    return true;
}

/// Where a path leads when its links are followed.
std::string Followed(const std::string& Path)
{
    char* Real = realpath(Path.c_str(), nullptr);
    const std::string Found = Real != nullptr ? Real : Path;
    std::free(Real);
    return Found;
}

/// Makes the new file, with the permissions of the old one where there is one. False: errno says why.
bool WriteNew(const std::string& Path, std::string_view Bytes, const struct stat* Old)
{
    Open File(Path, O_WRONLY | O_CREAT | O_EXCL, NewFile);
    return File.IsOpen() && WriteAll(File.Get(), Bytes)
        && (Old == nullptr || fchmod(File.Get(), Old->st_mode & 07777) == 0) && fsync(File.Get()) == 0 && File.Close();
}

} // namespace UnixWholeFileLocal

bool WholeFile::Read(
    const std::string& Path, std::size_t Most, std::string& Bytes, std::uint64_t& Size, std::string& Fault)
{
    Bytes.clear();
    // Without waiting for somebody at the other end of a pipe.
    UnixWholeFileLocal::Open File(Path, O_RDONLY | O_NONBLOCK);
    struct stat Found;
    if (!File.IsOpen() || fstat(File.Get(), &Found) != 0)
    {
        const bool IsMissing = errno == ENOENT || errno == ENOTDIR;
        Fault = IsMissing ? "there is no such file" : "it cannot be read: " + UnixWholeFileLocal::Reason(errno);
        return false;
    }
    if (!S_ISREG(Found.st_mode))
    {
        Fault = "it is no file";
        return false;
    }
    Size = static_cast<std::uint64_t>(Found.st_size);
    if (Size > Most)
    {
        return true;
    }
    if (!UnixWholeFileLocal::ReadSome(File.Get(), Most + 1, Bytes))
    {
        Fault = "it cannot be read: " + UnixWholeFileLocal::Reason(errno);
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
    struct stat Old;
    const bool Exists = stat(Path.c_str(), &Old) == 0;
    if (Exists)
    {
        std::string Before, Ignored;
        std::uint64_t Size = 0;
        if (Read(Path, Bytes.size(), Before, Size, Ignored) && Size == Bytes.size() && Before == Bytes)
        {
            return true;
        }
        if ((Old.st_mode & S_IWUSR) == 0)
        {
            Fault = Path + " is read-only; check it out or allow writing to it";
            return false;
        }
    }
    const std::string Target = UnixWholeFileLocal::Followed(Path);
    const std::string Beside = Target + "." + Platform::MadeUpName().substr(0, 8) + ".tmp";
    const bool IsMade = UnixWholeFileLocal::WriteNew(Beside, Bytes, Exists ? &Old : nullptr);
    if (!IsMade || std::rename(Beside.c_str(), Target.c_str()) != 0)
    {
        Fault = Path + " cannot be written: " + UnixWholeFileLocal::Reason(errno);
        unlink(Beside.c_str());
        return false;
    }
    Written = true;
    return true;
}

} // namespace Parley

#endif
