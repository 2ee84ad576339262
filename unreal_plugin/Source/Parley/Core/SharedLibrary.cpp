// The system's loader, on either side.
#include "Core/SharedLibrary.h"

#if defined(_WIN32)
#include "Core/Numbers.h"
#include "Core/WindowsHeader.h"

#include <string>
#else
#include <dlfcn.h>
#endif

namespace Parley::SharedLibrary
{

#if defined(_WIN32)

void* Open(const std::string& Path, std::string& Why)
{
    std::wstring Wide(Path.size() + 1, L'\0');
    const int Size = MultiByteToWideChar(
        CP_UTF8, MB_ERR_INVALID_CHARS, Path.data(), static_cast<int>(Path.size()), &Wide[0], static_cast<int>(Wide.size()));
    if (Size <= 0)
    {
        Why = "its path is not UTF-8";
        return nullptr;
    }
    Wide.resize(static_cast<std::size_t>(Size));
    for (wchar_t& Letter : Wide)
    {
        // The loader's search beside the file wants backslashes.
        Letter = Letter == L'/' ? L'\\' : Letter;
    }
    HMODULE Library = LoadLibraryExW(Wide.c_str(), nullptr, LOAD_WITH_ALTERED_SEARCH_PATH);
    if (Library == nullptr)
    {
        Why = "Windows error " + Numbers::Of(GetLastError());
    }
    return reinterpret_cast<void*>(Library);
}

void* Find(void* Library, const char* Name) noexcept
{
    return reinterpret_cast<void*>(GetProcAddress(reinterpret_cast<HMODULE>(Library), Name));
}

#else

void* Open(const std::string& Path, std::string& Why)
{
    void* Library = dlopen(Path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (Library == nullptr)
    {
        const char* Said = dlerror();
        Why = Said != nullptr ? Said : "dlopen does not say why";
    }
    return Library;
}

void* Find(void* Library, const char* Name) noexcept
{
    return dlsym(Library, Name);
}

#endif

} // namespace Parley::SharedLibrary
