// UTF-8, as the core has it, and UTF-16, as Windows has it.
#pragma once

#if defined(_WIN32)

#include <string>
#include <string_view>

namespace Parley::WindowsText
{

std::wstring Widen(std::string_view Text);
std::string Narrow(std::wstring_view Text);
/// A path as the functions of Windows take it at any length.
std::wstring PathOf(const std::string& Path);
/// What Windows says of one of its errors, with its number.
std::string ErrorText(unsigned long Code);

} // namespace Parley::WindowsText

#endif
