// How text crosses over to Windows.
#if defined(_WIN32)

#include "Core/WindowsText.h"

#include "Core/Numbers.h"
#include "Core/Platform.h"
#include "Core/WindowsHeader.h"


namespace Parley
{

namespace WindowsTextLocal
{

/// Longer ones need a prefix; a folder's may be twelve letters shorter than a file's.
constexpr std::size_t ShortPath = 240;

} // namespace WindowsTextLocal

std::wstring WindowsText::Widen(std::string_view Text)
{
    const int Size = static_cast<int>(Text.size());
    const int Count = MultiByteToWideChar(CP_UTF8, 0, Text.data(), Size, nullptr, 0);
    std::wstring Wide(static_cast<std::size_t>(Count), L'\0');
    MultiByteToWideChar(CP_UTF8, 0, Text.data(), Size, Wide.data(), Count);
    return Wide;
}

std::string WindowsText::Narrow(std::wstring_view Text)
{
    const int Size = static_cast<int>(Text.size());
    const int Count = WideCharToMultiByte(CP_UTF8, 0, Text.data(), Size, nullptr, 0, nullptr, nullptr);
    std::string Slim(static_cast<std::size_t>(Count), '\0');
    WideCharToMultiByte(CP_UTF8, 0, Text.data(), Size, Slim.data(), Count, nullptr, nullptr);
    return Slim;
}

std::wstring WindowsText::PathOf(const std::string& Path)
{
    if (Path.size() < WindowsTextLocal::ShortPath || Path.compare(0, 4, "\\\\?\\") == 0)
    {
        return Widen(Path);
    }
    const std::string Full = Platform::FullPath(Path);
    return Full.compare(0, 2, "\\\\") == 0 ? L"\\\\?\\UNC\\" + Widen(Full.substr(2)) : L"\\\\?\\" + Widen(Full);
}

std::string WindowsText::ErrorText(unsigned long Code)
{
    wchar_t Words[512];
    DWORD Count = FormatMessageW(
        FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS, nullptr, Code, 0, Words,
        static_cast<DWORD>(sizeof(Words) / sizeof(Words[0])), nullptr);
    while (Count > 0 && (Words[Count - 1] == L'\n' || Words[Count - 1] == L'\r' || Words[Count - 1] == L' '))
    {
        Count--;
    }
    const std::string Number = "error " + Numbers::Of(Code);
    return Count == 0 ? Number : Narrow(std::wstring_view(Words, Count)) + " (" + Number + ")";
}

} // namespace Parley

#endif
