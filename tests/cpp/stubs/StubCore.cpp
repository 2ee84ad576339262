// The bodies of the stubs of Core and Json: text, files, time, logs, tickers and JSON.
#include "Async/Async.h"
#include "Containers/Ticker.h"
#include "CoreMinimal.h"
#include "Dom/JsonObject.h"
#include "HAL/FileManager.h"
#include "HAL/PlatformMisc.h"
#include "HAL/PlatformProcess.h"
#include "HAL/PlatformTime.h"
#include "Misc/App.h"
#include "Misc/CommandLine.h"
#include "Misc/ConfigCacheIni.h"
#include "Misc/CoreDelegates.h"
#include "Misc/CoreMisc.h"
#include "Misc/FileHelper.h"
#include "Misc/MessageDialog.h"
#include "Misc/Parse.h"
#include "Misc/Paths.h"
#include "Modules/ModuleManager.h"
#include "Serialization/JsonSerializer.h"

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <deque>
#include <limits>
#include <dlfcn.h>
#include <filesystem>
#include <mutex>
#include <system_error>
#include <thread>
#include <unistd.h>

namespace fs = std::filesystem;

DEFINE_LOG_CATEGORY(LogTemp);

namespace StubEngine
{
namespace
{
std::mutex LogMutex;
const std::thread::id GameThread = std::this_thread::get_id();
std::mutex TaskMutex;
std::deque<TUniqueFunction<void()>>& Tasks()
{
    static std::deque<TUniqueFunction<void()>> All;
    return All;
}
} // namespace

void CheckFailed(const char* Expression, const char* File, int Line)
{
    std::fprintf(stderr, "check failed: %s (%s:%d)\n", Expression, File, Line);
    std::fflush(stderr);
    std::abort();
}
int& FailedEnsures()
{
    static int Many = 0;
    return Many;
}
bool EnsureFailed(const char* Expression, const char* File, int Line)
{
    std::fprintf(stderr, "ensure failed: %s (%s:%d)\n", Expression, File, Line);
    ++FailedEnsures();
    return false;
}
TArray<FLogLine>& LogLines()
{
    static TArray<FLogLine> Lines;
    return Lines;
}
void LogLine(const FLogCategoryBase& Category, ELogVerbosity::Type Verbosity, const FString& Text)
{
    const std::lock_guard<std::mutex> Lock(LogMutex);
    LogLines().Add({Category.GetCategoryName().ToString(), Verbosity, Text});
    if (Verbosity == ELogVerbosity::Fatal)
    {
        CheckFailed(FTCHARToUTF8(*Text).Get(), "UE_LOG(Fatal)", 0);
    }
    if (std::getenv("STUB_LOG") != nullptr)
    {
        std::fprintf(stderr, "%s: %s\n", FTCHARToUTF8(*Category.GetCategoryName().ToString()).Get(), FTCHARToUTF8(*Text).Get());
    }
}
FString& ProjectFolder()
{
    static FString Folder(UTF8_TO_TCHAR((fs::temp_directory_path() / "StubProject").string().c_str()));
    return Folder;
}
FString& PlayerFolder()
{
    static FString Folder;
    return Folder;
}
int32 RunGameTasks()
{
    int32 Many = 0;
    for (;;)
    {
        TUniqueFunction<void()> Next;
        {
            const std::lock_guard<std::mutex> Lock(TaskMutex);
            if (Tasks().empty())
            {
                return Many;
            }
            Next = std::move(Tasks().front());
            Tasks().pop_front();
        }
        Next();
        ++Many;
    }
}

std::u16string Utf16(std::string_view Text)
{
    std::u16string Made;
    for (std::size_t At = 0; At < Text.size();)
    {
        const unsigned char First = static_cast<unsigned char>(Text[At]);
        const std::size_t Length = First < 0x80 ? 1 : (First >> 5) == 6 ? 2 : (First >> 4) == 14 ? 3 : (First >> 3) == 30 ? 4 : 0;
        char32_t Code = Length == 0 ? 0xFFFD : Length == 1 ? First : First & (0xFFu >> (Length + 1));
        bool bGood = Length != 0 && At + Length <= Text.size();
        for (std::size_t More = 1; bGood && More < Length; ++More)
        {
            const unsigned char Next = static_cast<unsigned char>(Text[At + More]);
            bGood = (Next >> 6) == 2;
            Code = (Code << 6) | (Next & 0x3Fu);
        }
        if (!bGood)
        {
            Made += u'\uFFFD';
            ++At;
            continue;
        }
        At += Length;
        if (Code < 0x10000)
        {
            Made += static_cast<char16_t>(Code);
        }
        else
        {
            Made += static_cast<char16_t>(0xD800 + ((Code - 0x10000) >> 10));
            Made += static_cast<char16_t>(0xDC00 + ((Code - 0x10000) & 0x3FF));
        }
    }
    return Made;
}
std::string Utf8(std::u16string_view Text)
{
    std::string Made;
    for (std::size_t At = 0; At < Text.size(); ++At)
    {
        char32_t Code = Text[At];
        if (Code >= 0xD800 && Code < 0xDC00 && At + 1 < Text.size() && Text[At + 1] >= 0xDC00 && Text[At + 1] < 0xE000)
        {
            Code = 0x10000 + ((Code - 0xD800) << 10) + (Text[++At] - 0xDC00u);
        }
        else if (Code >= 0xD800 && Code < 0xE000)
        {
            Code = '?';
        }
        if (Code < 0x80)
        {
            Made += static_cast<char>(Code);
        }
        else if (Code < 0x800)
        {
            Made += static_cast<char>(0xC0 | (Code >> 6));
            Made += static_cast<char>(0x80 | (Code & 0x3F));
        }
        else if (Code < 0x10000)
        {
            Made += static_cast<char>(0xE0 | (Code >> 12));
            Made += static_cast<char>(0x80 | ((Code >> 6) & 0x3F));
            Made += static_cast<char>(0x80 | (Code & 0x3F));
        }
        else
        {
            Made += static_cast<char>(0xF0 | (Code >> 18));
            Made += static_cast<char>(0x80 | ((Code >> 12) & 0x3F));
            Made += static_cast<char>(0x80 | ((Code >> 6) & 0x3F));
            Made += static_cast<char>(0x80 | (Code & 0x3F));
        }
    }
    return Made;
}

std::u16string Format(const TCHAR* Pattern, const FFormatArgument* Arguments, std::size_t Many)
{
    std::u16string Made;
    std::size_t Next = 0;
    const auto Take = [&]() -> const FFormatArgument&
    {
        check(Next < Many);
        return Arguments[Next++];
    };
    for (const TCHAR* At = Pattern; *At != 0; ++At)
    {
        if (*At != '%')
        {
            Made += *At;
            continue;
        }
        if (*++At == '%')
        {
            Made += u'%';
            continue;
        }
        std::string Spec = "%";
        while (*At != 0 && (FChar::IsDigit(*At) || *At == '.' || *At == '-' || *At == '+' || *At == ' ' || *At == '#' || *At == '*'))
        {
            Spec += *At == '*' ? std::to_string(Take().Whole) : std::string(1, static_cast<char>(*At));
            ++At;
        }
        while (*At == 'l' || *At == 'h' || *At == 'z')
        {
            ++At;
        }
        const char Kind = static_cast<char>(*At);
        char Buffer[512];
        Buffer[0] = 0;
        const FFormatArgument& Argument = Take();
        switch (Kind)
        {
        case 'd':
        case 'i':
            check(Argument.Kind == FFormatArgument::Signed || Argument.Kind == FFormatArgument::Unsigned);
            std::snprintf(Buffer, sizeof Buffer, (Spec + "lld").c_str(), Argument.Whole);
            break;
        case 'u':
        case 'x':
        case 'X':
        {
            check(Argument.Kind == FFormatArgument::Signed || Argument.Kind == FFormatArgument::Unsigned);
            unsigned long long Whole = static_cast<unsigned long long>(Argument.Whole);
            if (Argument.Size < 8)
            {
                Whole &= (1ull << (Argument.Size * 8)) - 1;
            }
            std::snprintf(Buffer, sizeof Buffer, (Spec + "ll" + Kind).c_str(), Whole);
            break;
        }
        case 'f':
        case 'g':
        case 'e':
        case 'G':
            check(Argument.Kind == FFormatArgument::Real);
            std::snprintf(Buffer, sizeof Buffer, (Spec + Kind).c_str(), Argument.Fraction);
            break;
        case 'p':
            std::snprintf(Buffer, sizeof Buffer, "%p", Argument.Where);
            break;
        case 'c':
            Made += static_cast<char16_t>(Argument.Whole);
            break;
        case 's':
        {
            check(Argument.Kind == FFormatArgument::Text);
            std::u16string Text = Argument.Where == nullptr ? u"(null)" : static_cast<const TCHAR*>(Argument.Where);
            const std::size_t Dot = Spec.find('.');
            if (Dot != std::string::npos)
            {
                Text = Text.substr(0, static_cast<std::size_t>(std::atoi(Spec.c_str() + Dot + 1)));
            }
            Made += Text;
            break;
        }
        default:
            CheckFailed("Printf knows no such format", FTCHARToUTF8(Pattern).Get(), 0);
        }
        Made += Utf16(Buffer);
    }
    check(Next == Many);
    return Made;
}
} // namespace StubEngine

// ---- FCString, FString, FText

static std::string Plain(const TCHAR* Text)
{
    return StubEngine::Utf8(Text == nullptr ? std::u16string_view() : std::u16string_view(Text));
}
static FString Shown(const std::string& Text)
{
    return FString(StubEngine::Utf16(Text).c_str());
}
int32 FCString::Atoi(const TCHAR* Text)
{
    return static_cast<int32>(std::strtol(Plain(Text).c_str(), nullptr, 10));
}
int64 FCString::Atoi64(const TCHAR* Text)
{
    return std::strtoll(Plain(Text).c_str(), nullptr, 10);
}
uint64 FCString::Strtoui64(const TCHAR* Text, TCHAR** End, int32 Base)
{
    const std::string Kept = Plain(Text);
    char* Stop = nullptr;
    const uint64 Value = std::strtoull(Kept.c_str(), &Stop, Base);
    if (End != nullptr)
    {
        *End = const_cast<TCHAR*>(Text) + (Stop - Kept.c_str());
    }
    return Value;
}
float FCString::Atof(const TCHAR* Text)
{
    return static_cast<float>(Atod(Text));
}
double FCString::Atod(const TCHAR* Text)
{
    return std::strtod(Plain(Text).c_str(), nullptr);
}
int32 FString::Find(const FString& Part, ESearchCase::Type Case, ESearchDir::Type Direction, int32 StartPosition) const
{
    const FString Where = Case == ESearchCase::IgnoreCase ? ToLower() : *this;
    const FString What = Case == ESearchCase::IgnoreCase ? Part.ToLower() : Part;
    const std::size_t Found = Direction == ESearchDir::FromStart
        ? Where.Text.find(What.Text, StartPosition == INDEX_NONE ? 0 : static_cast<std::size_t>(StartPosition))
        : Where.Text.rfind(What.Text,
              StartPosition == INDEX_NONE || StartPosition < What.Len() ? std::u16string::npos
                                                                       : static_cast<std::size_t>(StartPosition - What.Len()));
    return Found == std::u16string::npos ? INDEX_NONE : static_cast<int32>(Found);
}
FString FString::Replace(const TCHAR* From, const TCHAR* To, ESearchCase::Type Case) const
{
    FString Made;
    const int32 Length = FCString::Strlen(From);
    int32 At = 0;
    for (int32 Found = Find(From, Case); Found != INDEX_NONE && Length > 0; Found = Find(From, Case, ESearchDir::FromStart, At))
    {
        Made += Mid(At, Found - At) + To;
        At = Found + Length;
    }
    return Made + Mid(At);
}
int32 FString::ParseIntoArray(TArray<FString>& Out, const TCHAR* Delimiter, bool bCullEmpty) const
{
    Out.Reset();
    FString Rest = *this;
    FString LeftPart;
    while (Rest.Split(Delimiter, &LeftPart, &Rest))
    {
        if (!bCullEmpty || !LeftPart.IsEmpty())
        {
            Out.Add(LeftPart);
        }
    }
    if (!bCullEmpty || !Rest.IsEmpty())
    {
        Out.Add(Rest);
    }
    return Out.Num();
}
int32 FString::ParseIntoArrayLines(TArray<FString>& Out, bool bCullEmpty) const
{
    return Replace(TEXT("\r\n"), TEXT("\n")).Replace(TEXT("\r"), TEXT("\n")).ParseIntoArray(Out, TEXT("\n"), bCullEmpty);
}
FString FString::ReplaceCharWithEscapedChar() const
{
    return Replace(TEXT("\\"), TEXT("\\\\")).Replace(TEXT("\n"), TEXT("\\n")).Replace(TEXT("\""), TEXT("\\\""));
}
FString FString::SanitizeFloat(double Number, int32 MinFractionalDigits)
{
    FString Made = FString::Printf(TEXT("%f"), Number);
    int32 Dot = INDEX_NONE;
    if (Made.FindChar('.', Dot))
    {
        int32 Keep = Made.Len();
        while (Keep > Dot + 1 + MinFractionalDigits && Made[Keep - 1] == '0')
        {
            --Keep;
        }
        Made = Made.Left(MinFractionalDigits == 0 && Keep == Dot + 1 ? Dot : Keep);
    }
    return Made == TEXT("-0") ? FString(TEXT("0")) : Made;
}
FString FString::ChrN(int32 Many, TCHAR Character)
{
    FString Made;
    for (int32 Index = 0; Index < Many; ++Index)
    {
        Made += Character;
    }
    return Made;
}
static FText Filled(const FText& Pattern, const std::function<const FFormatArgumentValue*(const FString&)>& Find)
{
    const FString& Text = Pattern.ToString();
    FString Made;
    for (int32 At = 0; At < Text.Len(); ++At)
    {
        if (Text[At] == '`' && At + 1 < Text.Len())
        {
            Made += Text[++At];
            continue;
        }
        const int32 Stop = Text[At] == '{' ? Text.Find(TEXT("}"), ESearchCase::CaseSensitive, ESearchDir::FromStart, At) : INDEX_NONE;
        const FFormatArgumentValue* Found = Stop == INDEX_NONE ? nullptr : Find(Text.Mid(At + 1, Stop - At - 1).TrimStartAndEnd());
        if (Found == nullptr)
        {
            Made += Text[At];
            continue;
        }
        Made += Found->Text;
        At = Stop;
    }
    return FText::FromString(Made);
}
FText FText::Format(FText Pattern, const FFormatOrderedArguments& Arguments)
{
    return Filled(Pattern,
        [&Arguments](const FString& Name)
        {
            const int32 Index = Name.IsNumeric() ? FCString::Atoi(*Name) : INDEX_NONE;
            return Arguments.IsValidIndex(Index) ? &Arguments[Index] : nullptr;
        });
}
FText FText::Format(FText Pattern, const FFormatNamedArguments& Arguments)
{
    return Filled(Pattern, [&Arguments](const FString& Name) { return Arguments.Find(Name); });
}
uint64 FDelegateHandle::Next()
{
    static std::atomic<uint64> Last{0};
    return ++Last;
}

// ---- Colours, time, guids

const FColor FColor::White(255, 255, 255), FColor::Black(0, 0, 0), FColor::Red(255, 0, 0), FColor::Green(0, 255, 0),
    FColor::Yellow(255, 255, 0);
const FLinearColor FLinearColor::White(1, 1, 1), FLinearColor::Gray(0.5f, 0.5f, 0.5f), FLinearColor::Black(0, 0, 0),
    FLinearColor::Transparent(0, 0, 0, 0), FLinearColor::Red(1, 0, 0), FLinearColor::Green(0, 1, 0), FLinearColor::Blue(0, 0, 1),
    FLinearColor::Yellow(1, 1, 0);
static float Linear(uint8 Value)
{
    const float Part = static_cast<float>(Value) / 255.0f;
    return Part <= 0.04045f ? Part / 12.92f : std::pow((Part + 0.055f) / 1.055f, 2.4f);
}
FLinearColor::FLinearColor(const FColor& Color)
    : R(Linear(Color.R))
    , G(Linear(Color.G))
    , B(Linear(Color.B))
    , A(static_cast<float>(Color.A) / 255.0f)
{
}
FColor FLinearColor::ToFColor(const bool bSRGB) const
{
    const auto Byte = [bSRGB](float Value)
    {
        const float Part = FMath::Clamp(Value, 0.0f, 1.0f);
        const float Shown = !bSRGB ? Part : Part <= 0.0031308f ? Part * 12.92f : std::pow(Part, 1.0f / 2.4f) * 1.055f - 0.055f;
        return static_cast<uint8>(std::floor(Shown * 255.0f + 0.5f));
    };
    return FColor(Byte(R), Byte(G), Byte(B), static_cast<uint8>(std::floor(FMath::Clamp(A, 0.0f, 1.0f) * 255.0f + 0.5f)));
}
FLinearColor FColor::ReinterpretAsLinear() const
{
    return FLinearColor(static_cast<float>(R) / 255.0f, static_cast<float>(G) / 255.0f, static_cast<float>(B) / 255.0f,
        static_cast<float>(A) / 255.0f);
}
FColor FColor::FromHex(const FString& Hex)
{
    const FString Text = Hex.StartsWith(TEXT("#")) ? Hex.Mid(1) : Hex;
    const auto Byte = [&Text](int32 At) { return static_cast<uint8>(std::strtoul(Plain(*Text.Mid(At, 2)).c_str(), nullptr, 16)); };
    return Text.Len() == 6 ? FColor(Byte(0), Byte(2), Byte(4))
        : Text.Len() == 8  ? FColor(Byte(0), Byte(2), Byte(4), Byte(6))
                           : FColor(0, 0, 0, 0);
}
static constexpr int64 UnixTicks = 621355968000000000;
FDateTime FDateTime::UtcNow()
{
    const auto Passed = std::chrono::system_clock::now().time_since_epoch();
    return FDateTime(UnixTicks + std::chrono::duration_cast<std::chrono::nanoseconds>(Passed).count() / 100);
}
FDateTime FDateTime::Now()
{
    return UtcNow();
}
int64 FDateTime::ToUnixTimestamp() const
{
    return (Ticks - UnixTicks) / 10000000;
}
FString FDateTime::ToString(const TCHAR* Pattern) const
{
    const std::time_t Seconds = static_cast<std::time_t>(ToUnixTimestamp());
    std::tm Parts{};
    gmtime_r(&Seconds, &Parts);
    char Buffer[256];
    std::strftime(Buffer, sizeof Buffer, Plain(Pattern).c_str(), &Parts);
    return Shown(Buffer);
}
FGuid FGuid::NewGuid()
{
    static std::atomic<uint32> Last{0};
    FGuid Made;
    Made.A = static_cast<uint32>(::getpid());
    Made.B = 0x5AB5AB;
    Made.C = static_cast<uint32>(FPlatformTime::Cycles64());
    Made.D = ++Last;
    return Made;
}
static double PassedSeconds = 0;
void StubEngine::PassTime(double Seconds)
{
    PassedSeconds += Seconds;
}
double FPlatformTime::Seconds()
{
    return PassedSeconds + std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}
uint64 FPlatformTime::Cycles64()
{
    return static_cast<uint64>(std::chrono::steady_clock::now().time_since_epoch().count());
}
uint32 FPlatformTime::Cycles()
{
    return static_cast<uint32>(Cycles64());
}
double FApp::GetCurrentTime()
{
    return FPlatformTime::Seconds();
}

// ---- Paths and files

static fs::path Native(const FString& Path)
{
    return fs::path(Plain(*Path));
}
static FString Folder(const TCHAR* Name)
{
    // As the engine has them: from its own folder on, with ../ in front, where the path is not made whole.
    const FString Whole = StubEngine::ProjectFolder() / Name;
    const fs::path Made = Native(Whole).lexically_relative(fs::current_path());
    return Made.empty() ? Whole : Shown(Made.string());
}
FString FPaths::ProjectDir()
{
    return Folder(TEXT(""));
}
FString FPaths::ProjectContentDir()
{
    return Folder(TEXT("Content/"));
}
FString FPaths::ProjectConfigDir()
{
    return Folder(TEXT("Config/"));
}
FString FPaths::ProjectSavedDir()
{
    return Folder(TEXT("Saved/"));
}
FString FPaths::ProjectIntermediateDir()
{
    return Folder(TEXT("Intermediate/"));
}
FString FPaths::ProjectPluginsDir()
{
    return Folder(TEXT("Plugins/"));
}
FString FPaths::ProjectPersistentDownloadDir()
{
    return Folder(TEXT("PersistentDownloadDir"));
}
FString FPaths::ProjectLogDir()
{
    return Folder(TEXT("Saved/Logs/"));
}
FString FPaths::ProjectUserDir()
{
    return Folder(TEXT(""));
}
FString FPaths::EngineDir()
{
    return StubEngine::ProjectFolder() / TEXT("../Engine/");
}
FString FPaths::RootDir()
{
    return StubEngine::ProjectFolder() / TEXT("../");
}
FString FPaths::LaunchDir()
{
    return Shown(fs::current_path().string()) / TEXT("");
}
static int32 LastSlash(const FString& Path)
{
    int32 A = INDEX_NONE;
    int32 B = INDEX_NONE;
    Path.FindLastChar('/', A);
    Path.FindLastChar('\\', B);
    return FMath::Max(A, B);
}
FString FPaths::GetPath(const FString& Path)
{
    const int32 At = LastSlash(Path);
    return At == INDEX_NONE ? FString() : Path.Left(At);
}
FString FPaths::GetCleanFilename(const FString& Path)
{
    return Path.Mid(LastSlash(Path) + 1);
}
FString FPaths::GetPathLeaf(const FString& Path)
{
    return GetCleanFilename(Path.EndsWith(TEXT("/")) ? Path.LeftChop(1) : Path);
}
FString FPaths::GetBaseFilename(const FString& Path, bool bRemovePath)
{
    const FString Name = bRemovePath ? GetCleanFilename(Path) : Path;
    int32 Dot = INDEX_NONE;
    return Name.FindLastChar('.', Dot) && Dot > LastSlash(Name) ? Name.Left(Dot) : Name;
}
FString FPaths::GetExtension(const FString& Path, bool bIncludeDot)
{
    const FString Name = GetCleanFilename(Path);
    int32 Dot = INDEX_NONE;
    return Name.FindLastChar('.', Dot) ? Name.Mid(bIncludeDot ? Dot : Dot + 1) : FString();
}
FString FPaths::ChangeExtension(const FString& Path, const FString& New)
{
    return GetExtension(Path).IsEmpty() ? Path : SetExtension(Path, New);
}
FString FPaths::SetExtension(const FString& Path, const FString& New)
{
    return GetBaseFilename(Path, false) + (New.IsEmpty() || New.StartsWith(TEXT(".")) ? New : TEXT(".") + New);
}
bool FPaths::FileExists(const FString& Path)
{
    std::error_code Error;
    return fs::is_regular_file(Native(Path), Error);
}
bool FPaths::DirectoryExists(const FString& Path)
{
    std::error_code Error;
    return fs::is_directory(Native(Path), Error);
}
bool FPaths::IsRelative(const FString& Path)
{
    return !(Path.StartsWith(TEXT("/")) || Path.StartsWith(TEXT("\\")) || (Path.Len() > 1 && Path[1] == ':'));
}
bool FPaths::IsUnderDirectory(const FString& Path, const FString& Directory)
{
    const FString Root = ConvertRelativePathToFull(Directory);
    const FString Full = ConvertRelativePathToFull(Path);
    return Full.StartsWith(Root.EndsWith(TEXT("/")) ? Root : Root + TEXT("/")) || Full == Root;
}
void FPaths::NormalizeFilename(FString& Path)
{
    Path = Path.Replace(TEXT("\\"), TEXT("/"));
}
void FPaths::NormalizeDirectoryName(FString& Path)
{
    NormalizeFilename(Path);
    if (Path.Len() > 1)
    {
        Path.RemoveFromEnd(TEXT("/"));
    }
}
bool FPaths::CollapseRelativeDirectories(FString& Path)
{
    const bool bSlash = Path.EndsWith(TEXT("/"));
    Path = Shown(Native(Path).lexically_normal().string());
    if (!bSlash && Path.Len() > 1)
    {
        Path.RemoveFromEnd(TEXT("/"));
    }
    return true;
}
bool FPaths::MakePathRelativeTo(FString& Path, const TCHAR* RelativeTo)
{
    // The engine takes what stands behind the last slash of RelativeTo for a file.
    const FString Base = GetPath(ConvertRelativePathToFull(FString(RelativeTo)));
    const fs::path Made = Native(ConvertRelativePathToFull(Path)).lexically_relative(Native(Base));
    if (Made.empty())
    {
        return false;
    }
    Path = Shown(Made.string());
    return true;
}
FString FPaths::ConvertRelativePathToFull(const FString& Path)
{
    return ConvertRelativePathToFull(Shown(fs::current_path().string()), Path);
}
FString FPaths::ConvertRelativePathToFull(const FString& Base, const FString& Path)
{
    FString Full = IsRelative(Path) ? Base / Path : Path;
    NormalizeFilename(Full);
    CollapseRelativeDirectories(Full);
    return Full;
}
bool FPaths::IsSamePath(const FString& A, const FString& B)
{
    return ConvertRelativePathToFull(A).Equals(ConvertRelativePathToFull(B), ESearchCase::CaseSensitive);
}
IFileManager& IFileManager::Get()
{
    static IFileManager Only;
    return Only;
}
bool IFileManager::Delete(const TCHAR* Name, bool RequireExists, bool, bool)
{
    std::error_code Error;
    return fs::remove(Native(Name), Error) || (!RequireExists && !Error);
}
bool IFileManager::DeleteDirectory(const TCHAR* Path, bool RequireExists, bool Tree)
{
    std::error_code Error;
    const bool bGone = Tree ? fs::remove_all(Native(Path), Error) > 0 : fs::remove(Native(Path), Error);
    return !Error && (bGone || !RequireExists);
}
bool IFileManager::MakeDirectory(const TCHAR* Path, bool Tree)
{
    std::error_code Error;
    Tree ? fs::create_directories(Native(Path), Error) : fs::create_directory(Native(Path), Error);
    return fs::is_directory(Native(Path), Error);
}
bool IFileManager::Move(const TCHAR* Dest, const TCHAR* Src, bool Replace, bool, bool, bool)
{
    std::error_code Error;
    if (!Replace && fs::exists(Native(Dest), Error))
    {
        return false;
    }
    fs::create_directories(Native(Dest).parent_path(), Error);
    fs::rename(Native(Src), Native(Dest), Error);
    return !Error;
}
uint32 IFileManager::Copy(const TCHAR* Dest, const TCHAR* Src, bool Replace, bool, bool)
{
    std::error_code Error;
    fs::create_directories(Native(Dest).parent_path(), Error);
    fs::copy_file(Native(Src), Native(Dest),
        Replace ? fs::copy_options::overwrite_existing : fs::copy_options::skip_existing, Error);
    return Error ? 1 : 0; // COPY_OK is 0
}
bool IFileManager::FileExists(const TCHAR* Name)
{
    return FPaths::FileExists(Name);
}
bool IFileManager::DirectoryExists(const TCHAR* Path)
{
    return FPaths::DirectoryExists(Path);
}
int64 IFileManager::FileSize(const TCHAR* Name)
{
    std::error_code Error;
    const auto Size = fs::file_size(Native(Name), Error);
    return Error ? INDEX_NONE : static_cast<int64>(Size);
}
FDateTime IFileManager::GetTimeStamp(const TCHAR* Name)
{
    std::error_code Error;
    const auto Time = fs::last_write_time(Native(Name), Error);
    return Error ? FDateTime::MinValue() : FDateTime(UnixTicks + Time.time_since_epoch().count() / 100);
}
bool IFileManager::IsReadOnly(const TCHAR* Name)
{
    return ::access(Plain(Name).c_str(), W_OK) != 0;
}
static bool Fits(const FString& Name, const FString& Pattern)
{
    if (Pattern.IsEmpty() || Pattern == TEXT("*") || Pattern == TEXT("*.*"))
    {
        return true;
    }
    return Pattern.StartsWith(TEXT("*")) ? Name.EndsWith(Pattern.Mid(1)) : Name == Pattern;
}
void IFileManager::FindFiles(TArray<FString>& Names, const TCHAR* Filename, bool Files, bool Directories)
{
    std::error_code Error;
    const FString Where = FPaths::DirectoryExists(Filename) ? FString(Filename) : FPaths::GetPath(Filename);
    const FString Pattern = FPaths::DirectoryExists(Filename) ? FString() : FPaths::GetCleanFilename(Filename);
    for (const fs::directory_entry& Entry : fs::directory_iterator(Native(Where), Error))
    {
        const FString Name = Shown(Entry.path().filename().string());
        if (Fits(Name, Pattern) && (Entry.is_directory() ? Directories : Files))
        {
            Names.Add(Name);
        }
    }
    Names.Sort();
}
void IFileManager::FindFilesRecursive(TArray<FString>& Names, const TCHAR* Start, const TCHAR* Filename, bool Files,
    bool Directories, bool bClear)
{
    if (bClear)
    {
        Names.Reset();
    }
    std::error_code Error;
    for (const fs::directory_entry& Entry : fs::recursive_directory_iterator(Native(Start), Error))
    {
        if (Fits(Shown(Entry.path().filename().string()), Filename) && (Entry.is_directory() ? Directories : Files))
        {
            Names.Add(Shown(Entry.path().string()));
        }
    }
    Names.Sort();
}
FString IFileManager::ConvertToAbsolutePathForExternalAppForRead(const TCHAR* Name)
{
    return FPaths::ConvertRelativePathToFull(Name);
}
FString IFileManager::ConvertToAbsolutePathForExternalAppForWrite(const TCHAR* Name)
{
    return FPaths::ConvertRelativePathToFull(Name);
}
bool FFileHelper::LoadFileToArray(TArray<uint8>& Result, const TCHAR* Filename, uint32)
{
    std::FILE* File = std::fopen(Plain(Filename).c_str(), "rb");
    Result.Reset();
    if (File == nullptr || FPaths::DirectoryExists(Filename))
    {
        if (File != nullptr)
        {
            std::fclose(File);
        }
        return false;
    }
    uint8 Buffer[65536];
    for (std::size_t Read = std::fread(Buffer, 1, sizeof Buffer, File); Read > 0; Read = std::fread(Buffer, 1, sizeof Buffer, File))
    {
        Result.Append(Buffer, static_cast<int32>(Read));
    }
    std::fclose(File);
    return true;
}
bool FFileHelper::LoadFileToString(FString& Result, const TCHAR* Filename)
{
    TArray<uint8> Bytes;
    if (!LoadFileToArray(Bytes, Filename))
    {
        return false;
    }
    std::string_view Text(reinterpret_cast<const char*>(Bytes.GetData()), static_cast<std::size_t>(Bytes.Num()));
    if (Text.substr(0, 3) == "\xEF\xBB\xBF")
    {
        Text.remove_prefix(3);
    }
    const std::u16string Made = StubEngine::Utf16(Text);
    Result = FString(static_cast<int32>(Made.size()), Made.data());
    return true;
}
bool FFileHelper::SaveArrayToFile(const TArray<uint8>& Array, const TCHAR* Filename, IFileManager*, uint32)
{
    std::error_code Error;
    fs::create_directories(Native(Filename).parent_path(), Error); // the engine's file manager makes folders too
    std::FILE* File = std::fopen(Plain(Filename).c_str(), "wb");
    if (File == nullptr)
    {
        return false;
    }
    const std::size_t Written = std::fwrite(Array.GetData(), 1, static_cast<std::size_t>(Array.Num()), File);
    return std::fclose(File) == 0 && Written == static_cast<std::size_t>(Array.Num());
}
bool FFileHelper::SaveStringToFile(const FString& String, const TCHAR* Filename, EEncodingOptions Encoding, IFileManager* Manager,
    uint32 Flags)
{
    const FTCHARToUTF8 Text(*String, String.Len());
    TArray<uint8> Bytes;
    bool bAscii = true;
    for (TCHAR Character : String)
    {
        bAscii = bAscii && Character < 0x80;
    }
    if (Encoding == EEncodingOptions::ForceUnicode || (Encoding == EEncodingOptions::AutoDetect && !bAscii))
    {
        // UTF-16 with its mark: what a caller who forgot the encoding gets.
        Bytes.Add(0xFF);
        Bytes.Add(0xFE);
        Bytes.Append(reinterpret_cast<const uint8*>(*String), String.Len() * 2);
        return SaveArrayToFile(Bytes, Filename, Manager, Flags);
    }
    if (Encoding == EEncodingOptions::ForceUTF8)
    {
        Bytes.Append(reinterpret_cast<const uint8*>("\xEF\xBB\xBF"), 3);
    }
    Bytes.Append(reinterpret_cast<const uint8*>(Text.Get()), Text.Length());
    return SaveArrayToFile(Bytes, Filename, Manager, Flags);
}

// ---- The process

void* FPlatformProcess::GetDllHandle(const TCHAR* Filename)
{
    return ::dlopen(Plain(Filename).c_str(), RTLD_NOW | RTLD_LOCAL);
}
void FPlatformProcess::FreeDllHandle(void* Handle)
{
    ::dlclose(Handle);
}
void* FPlatformProcess::GetDllExport(void* Handle, const TCHAR* Name)
{
    return ::dlsym(Handle, Plain(Name).c_str());
}
uint32 FPlatformProcess::GetCurrentProcessId()
{
    return static_cast<uint32>(::getpid());
}
void FPlatformProcess::Sleep(float Seconds)
{
    std::this_thread::sleep_for(std::chrono::duration<float>(Seconds));
}
static const TCHAR* Kept(std::u16string& Where, const std::string& Text)
{
    Where = StubEngine::Utf16(Text);
    return Where.c_str();
}
const TCHAR* FPlatformProcess::BaseDir()
{
    static std::u16string Text;
    return Kept(Text, (fs::read_symlink("/proc/self/exe").parent_path() / "").string());
}
const TCHAR* FPlatformProcess::ExecutablePath()
{
    static std::u16string Text;
    return Kept(Text, fs::read_symlink("/proc/self/exe").string());
}
const TCHAR* FPlatformProcess::ComputerName()
{
    return TEXT("stub");
}
const TCHAR* FPlatformProcess::UserDir()
{
    static std::u16string Text;
    return Kept(Text, std::getenv("HOME") == nullptr ? "/" : std::getenv("HOME"));
}
void FPlatformProcess::LaunchURL(const TCHAR*, const TCHAR*, FString*) {}
void FPlatformProcess::ExploreFolder(const TCHAR*) {}
FString FPlatformMisc::GetEnvironmentVariable(const TCHAR* Name)
{
    const char* Value = std::getenv(Plain(Name).c_str());
    return Value == nullptr ? FString() : Shown(Value);
}
void FPlatformMisc::SetEnvironmentVar(const TCHAR* Name, const TCHAR* Value)
{
    ::setenv(Plain(Name).c_str(), Plain(Value).c_str(), 1);
}
void FPlatformMisc::RequestExit(bool) {}
int32 FPlatformMisc::NumberOfCores()
{
    return static_cast<int32>(std::thread::hardware_concurrency());
}
bool& StubRunningCommandlet()
{
    static bool bRunning = false;
    return bRunning;
}
bool IsInGameThread()
{
    return std::this_thread::get_id() == StubEngine::GameThread;
}
bool IsEngineExitRequested()
{
    return false;
}
FString& FCommandLine::StubText()
{
    static FString Text;
    return Text;
}
bool FParse::Param(const TCHAR* Stream, const TCHAR* Param)
{
    TArray<FString> Words;
    FString(Stream).ParseIntoArray(Words, TEXT(" "));
    return Words.ContainsByPredicate([Param](const FString& Word) { return Word == FString(TEXT("-")) + Param; });
}
bool FParse::Value(const TCHAR* Stream, const TCHAR* Match, FString& Value, bool)
{
    const FString Text(Stream);
    const int32 At = Text.Find(Match);
    if (At == INDEX_NONE)
    {
        return false;
    }
    const FString Rest = Text.Mid(At + FCString::Strlen(Match));
    FString Found;
    Value = Rest.Split(TEXT(" "), &Found, nullptr) ? Found : Rest;
    return true;
}
FSimpleMulticastDelegate FCoreDelegates::OnPreExit, FCoreDelegates::OnPostEngineInit;
static FConfigCacheIni StubConfig;
FConfigCacheIni* GConfig = &StubConfig;
FString GGameIni = TEXT("Game.ini");
FString GEditorPerProjectIni = TEXT("EditorPerProject.ini");
TArray<FText>& FMessageDialog::StubShown()
{
    static TArray<FText> Texts;
    return Texts;
}
EAppReturnType::Type& FMessageDialog::StubAnswer()
{
    static EAppReturnType::Type Answer = EAppReturnType::Ok;
    return Answer;
}
EAppReturnType::Type FMessageDialog::Open(EAppMsgType::Type, const FText& Message)
{
    StubShown().Add(Message);
    return StubAnswer();
}
FTSTicker& FTSTicker::GetCoreTicker()
{
    static FTSTicker Only;
    return Only;
}
FTSTicker::FDelegateHandle FTSTicker::AddTicker(const FTickerDelegate& Delegate, float Delay)
{
    TSharedRef<FElement> Made = MakeShared<FElement>();
    Made->Delegate = Delegate;
    Made->Delay = Delay;
    Made->Left = Delay;
    Elements.Add(Made);
    return Made;
}
void FTSTicker::RemoveTicker(FDelegateHandle Handle)
{
    const TSharedPtr<FElement> Found = Handle.Pin();
    if (Found.IsValid())
    {
        Found->bRemoved = true;
        if (GetCoreTicker().bTicking)
        {
            return;
        }
        GetCoreTicker().Elements.RemoveAll([&Found](const TSharedPtr<FElement>& One) { return One == Found; });
    }
}
void FTSTicker::Tick(float DeltaTime)
{
    // Whoever is called may add and remove; what is removed stays in its place until all are called.
    bTicking = true;
    const int32 Many = Elements.Num();
    for (int32 Index = 0; Index < Many; ++Index)
    {
        const TSharedPtr<FElement> One = Elements[Index];
        if (One->bRemoved || (One->Left -= DeltaTime) > 0.0f)
        {
            continue;
        }
        One->Left = One->Delay;
        if (!One->Delegate.IsBound() || !One->Delegate.Execute(DeltaTime))
        {
            One->bRemoved = true;
        }
    }
    bTicking = false;
    Elements.RemoveAll([](const TSharedPtr<FElement>& One) { return One->bRemoved; });
}
void AsyncTask(ENamedThreads::Type Thread, TUniqueFunction<void()> Function)
{
    if (Thread == ENamedThreads::GameThread)
    {
        const std::lock_guard<std::mutex> Lock(StubEngine::TaskMutex);
        StubEngine::Tasks().push_back(std::move(Function));
        return;
    }
    StubAsync(EAsyncExecution::Thread, std::move(Function));
}
void StubAsync(EAsyncExecution Execution, TUniqueFunction<void()> Function)
{
    if (Execution == EAsyncExecution::TaskGraphMainThread)
    {
        AsyncTask(ENamedThreads::GameThread, std::move(Function));
        return;
    }
    std::thread([Kept = std::make_shared<TUniqueFunction<void()>>(std::move(Function))] { (*Kept)(); }).detach();
}

// ---- Modules

namespace
{
struct FStubModule
{
    FName Name;
    IModuleInterface* (*Make)() = nullptr;
    std::unique_ptr<IModuleInterface> Made;
};
std::vector<std::unique_ptr<FStubModule>>& StubModules()
{
    static auto* All = new std::vector<std::unique_ptr<FStubModule>>;
    return *All;
}
FStubModule* StubModule(FName Name)
{
    for (const std::unique_ptr<FStubModule>& One : StubModules())
    {
        if (One->Name == Name)
        {
            return One.get();
        }
    }
    return nullptr;
}
} // namespace
FModuleManager& FModuleManager::Get()
{
    static FModuleManager Only;
    return Only;
}
bool FModuleManager::StubRegister(const TCHAR* Name, IModuleInterface* (*Make)())
{
    StubModules().push_back(std::make_unique<FStubModule>());
    StubModules().back()->Name = FName(Name);
    StubModules().back()->Make = Make;
    return true;
}
IModuleInterface* FModuleManager::GetModule(const FName Name)
{
    FStubModule* Found = StubModule(Name);
    return Found == nullptr ? nullptr : Found->Made.get();
}
bool FModuleManager::IsModuleLoaded(const FName Name) const
{
    return Get().GetModule(Name) != nullptr;
}
IModuleInterface* FModuleManager::LoadModule(const FName Name)
{
    FStubModule* Found = StubModule(Name);
    if (Found != nullptr && !Found->Made)
    {
        Found->Made.reset(Found->Make());
        Found->Made->StartupModule();
    }
    return Found == nullptr ? nullptr : Found->Made.get();
}
void FModuleManager::StubUnload(const FName Name)
{
    FStubModule* Found = StubModule(Name);
    if (Found != nullptr && Found->Made)
    {
        Found->Made->ShutdownModule();
        Found->Made.reset();
    }
}

// ---- JSON

double FJsonValue::AsNumber() const
{
    double Number = 0;
    TryGetNumber(Number);
    return Number;
}
FString FJsonValue::AsString() const
{
    FString Text;
    TryGetString(Text);
    return Text;
}
bool FJsonValue::AsBool() const
{
    bool bTrue = false;
    TryGetBool(bTrue);
    return bTrue;
}
const TArray<TSharedPtr<FJsonValue>>& FJsonValue::AsArray() const
{
    static const TArray<TSharedPtr<FJsonValue>> Empty;
    const TArray<TSharedPtr<FJsonValue>>* Found = &Empty;
    TryGetArray(Found);
    return *Found;
}
const TSharedPtr<FJsonObject>& FJsonValue::AsObject() const
{
    static const TSharedPtr<FJsonObject> Empty = MakeShared<FJsonObject>();
    const TSharedPtr<FJsonObject>* Found = &Empty;
    TryGetObject(Found);
    return *Found;
}
template <typename T>
static bool Whole(const FJsonValue& Value, T& Out)
{
    double Number = 0;
    if (!Value.TryGetNumber(Number) || !(Number >= static_cast<double>(std::numeric_limits<T>::min())) ||
        !(Number <= static_cast<double>(std::numeric_limits<T>::max())))
    {
        return false;
    }
    // As in the engine: rounded, and of 64 bits only what a double holds.
    const double Rounded = std::floor(Number + 0.5);
    Out = Rounded >= 9223372036854775807.0 ? std::numeric_limits<T>::max() : static_cast<T>(Rounded);
    return true;
}
bool FJsonValue::TryGetNumber(int32& Out) const
{
    return Whole(*this, Out);
}
bool FJsonValue::TryGetNumber(int64& Out) const
{
    return Whole(*this, Out);
}
bool FJsonValueString::TryGetNumber(double& Out) const
{
    if (!Value.IsNumeric())
    {
        return false;
    }
    Out = FCString::Atod(*Value);
    return true;
}
bool FJsonValueString::TryGetBool(bool& Out) const
{
    Out = Value.ToBool();
    return true;
}
bool FJsonValueNumberString::TryGetNumber(double& Out) const
{
    Out = FCString::Atod(*Value);
    return true;
}
bool FJsonValue::CompareEqual(const FJsonValue& A, const FJsonValue& B)
{
    if (A.Type != B.Type)
    {
        return false;
    }
    switch (A.Type)
    {
    case EJson::Number:
        return A.AsNumber() == B.AsNumber();
    case EJson::String:
        return A.AsString() == B.AsString();
    case EJson::Boolean:
        return A.AsBool() == B.AsBool();
    case EJson::Array:
    {
        const auto& X = A.AsArray();
        const auto& Y = B.AsArray();
        for (int32 Index = 0; Index < X.Num() && X.Num() == Y.Num(); ++Index)
        {
            if (!CompareEqual(*X[Index], *Y[Index]))
            {
                return false;
            }
        }
        return X.Num() == Y.Num();
    }
    case EJson::Object:
    {
        const auto& X = A.AsObject()->Values;
        const auto& Y = B.AsObject()->Values;
        for (const auto& Pair : X)
        {
            const TSharedPtr<FJsonValue>* Other = Y.Find(Pair.Key);
            if (Other == nullptr || !CompareEqual(*Pair.Value, **Other))
            {
                return false;
            }
        }
        return X.Num() == Y.Num();
    }
    default:
        return true;
    }
}
TSharedPtr<FJsonValue> FJsonObject::TryGetField(const FString& Name) const
{
    return Values.FindRef(Name);
}
bool FJsonObject::HasField(const FString& Name) const
{
    const TSharedPtr<FJsonValue>* Field = Values.Find(Name);
    return Field != nullptr && Field->IsValid();
}
void FJsonObject::SetField(const FString& Name, const TSharedPtr<FJsonValue>& Value)
{
    Values.Add(Name, Value);
}
void FJsonObject::RemoveField(const FString& Name)
{
    Values.Remove(Name);
}
double FJsonObject::GetNumberField(const FString& Name) const
{
    return GetField<EJson::None>(Name)->AsNumber();
}
int32 FJsonObject::GetIntegerField(const FString& Name) const
{
    return static_cast<int32>(GetNumberField(Name));
}
bool FJsonObject::TryGetNumberField(const FString& Name, double& Out) const
{
    const TSharedPtr<FJsonValue> Field = TryGetField(Name);
    return Field.IsValid() && Field->TryGetNumber(Out);
}
bool FJsonObject::TryGetNumberField(const FString& Name, float& Out) const
{
    double Number = 0;
    const bool bGood = TryGetNumberField(Name, Number);
    if (bGood)
    {
        Out = static_cast<float>(Number);
    }
    return bGood;
}
bool FJsonObject::TryGetNumberField(const FString& Name, int32& Out) const
{
    const TSharedPtr<FJsonValue> Field = TryGetField(Name);
    return Field.IsValid() && Field->TryGetNumber(Out);
}
bool FJsonObject::TryGetNumberField(const FString& Name, int64& Out) const
{
    const TSharedPtr<FJsonValue> Field = TryGetField(Name);
    return Field.IsValid() && Field->TryGetNumber(Out);
}
void FJsonObject::SetNumberField(const FString& Name, double Number)
{
    SetField(Name, MakeShared<FJsonValueNumber>(Number));
}
FString FJsonObject::GetStringField(const FString& Name) const
{
    return GetField<EJson::None>(Name)->AsString();
}
bool FJsonObject::TryGetStringField(const FString& Name, FString& Out) const
{
    const TSharedPtr<FJsonValue> Field = TryGetField(Name);
    return Field.IsValid() && Field->TryGetString(Out);
}
bool FJsonObject::TryGetStringArrayField(const FString& Name, TArray<FString>& Out) const
{
    const TArray<TSharedPtr<FJsonValue>>* Items = nullptr;
    if (!TryGetArrayField(Name, Items))
    {
        return false;
    }
    for (const TSharedPtr<FJsonValue>& Item : *Items)
    {
        FString Text;
        if (!Item->TryGetString(Text))
        {
            return false;
        }
        Out.Add(Text);
    }
    return true;
}
void FJsonObject::SetStringField(const FString& Name, const FString& Value)
{
    SetField(Name, MakeShared<FJsonValueString>(Value));
}
bool FJsonObject::GetBoolField(const FString& Name) const
{
    return GetField<EJson::None>(Name)->AsBool();
}
bool FJsonObject::TryGetBoolField(const FString& Name, bool& Out) const
{
    const TSharedPtr<FJsonValue> Field = TryGetField(Name);
    return Field.IsValid() && Field->TryGetBool(Out);
}
void FJsonObject::SetBoolField(const FString& Name, bool bValue)
{
    SetField(Name, MakeShared<FJsonValueBoolean>(bValue));
}
const TArray<TSharedPtr<FJsonValue>>& FJsonObject::GetArrayField(const FString& Name) const
{
    static const TArray<TSharedPtr<FJsonValue>> Empty;
    const TArray<TSharedPtr<FJsonValue>>* Items = nullptr;
    return TryGetArrayField(Name, Items) ? *Items : Empty;
}
bool FJsonObject::TryGetArrayField(const FString& Name, const TArray<TSharedPtr<FJsonValue>>*& Out) const
{
    const TSharedPtr<FJsonValue>* Field = Values.Find(Name);
    return Field != nullptr && Field->IsValid() && (*Field)->TryGetArray(Out);
}
void FJsonObject::SetArrayField(const FString& Name, const TArray<TSharedPtr<FJsonValue>>& Array)
{
    SetField(Name, MakeShared<FJsonValueArray>(Array));
}
const TSharedPtr<FJsonObject>& FJsonObject::GetObjectField(const FString& Name) const
{
    static const TSharedPtr<FJsonObject> Empty = MakeShared<FJsonObject>();
    const TSharedPtr<FJsonObject>* Found = nullptr;
    return TryGetObjectField(Name, Found) ? *Found : Empty;
}
bool FJsonObject::TryGetObjectField(const FString& Name, const TSharedPtr<FJsonObject>*& Out) const
{
    const TSharedPtr<FJsonValue>* Field = Values.Find(Name);
    return Field != nullptr && Field->IsValid() && static_cast<const FJsonValue&>(**Field).TryGetObject(Out);
}
bool FJsonObject::TryGetObjectField(const FString& Name, TSharedPtr<FJsonObject>*& Out)
{
    TSharedPtr<FJsonValue>* Field = Values.Find(Name);
    return Field != nullptr && Field->IsValid() && (*Field)->TryGetObject(Out);
}
void FJsonObject::SetObjectField(const FString& Name, const TSharedPtr<FJsonObject>& Object)
{
    if (Object.IsValid())
    {
        SetField(Name, MakeShared<FJsonValueObject>(Object));
    }
    else
    {
        SetField(Name, MakeShared<FJsonValueNull>());
    }
}
FString StubEngine::QuotedJson(const FString& Text)
{
    FString Made = TEXT("\"");
    for (TCHAR Character : Text)
    {
        switch (Character)
        {
        case '\\':
            Made += TEXT("\\\\");
            break;
        case '\n':
            Made += TEXT("\\n");
            break;
        case '\t':
            Made += TEXT("\\t");
            break;
        case '\b':
            Made += TEXT("\\b");
            break;
        case '\f':
            Made += TEXT("\\f");
            break;
        case '\r':
            Made += TEXT("\\r");
            break;
        case '"':
            Made += TEXT("\\\"");
            break;
        default:
            if (Character >= 32)
            {
                Made += Character;
            }
            else
            {
                Made += FString::Printf(TEXT("\\u%04x"), static_cast<int32>(Character));
            }
        }
    }
    return Made + TEXT("\"");
}
TJsonReader<TCHAR>::TJsonReader(FString InText)
    : Text(MoveTemp(InText))
{
}
bool TJsonReader<TCHAR>::Fail(const TCHAR* Message)
{
    ErrorMessage = FString::Printf(TEXT("%s Line: %u Ch: %u"), Message, Line, Column);
    return false;
}
void TJsonReader<TCHAR>::Skip()
{
    while (At < Text.Len() && (Text[At] == ' ' || Text[At] == '\t' || Text[At] == '\n' || Text[At] == '\r'))
    {
        ++Column;
        if (Text[At++] == '\n')
        {
            ++Line;
            Column = 0;
        }
    }
}
bool TJsonReader<TCHAR>::ReadText(FString& Out)
{
    Out.Reset();
    for (++At; At < Text.Len(); ++At)
    {
        TCHAR Character = Text[At];
        if (Character == '"')
        {
            ++At;
            return true;
        }
        if (Character < 32)
        {
            return Fail(TEXT("Invalid control character in string."));
        }
        if (Character == '\\')
        {
            static const FString Marks(TEXT("\"\\/bfnrt"));
            static const FString Stand(TEXT("\"\\/\b\f\n\r\t"));
            int32 Found = INDEX_NONE;
            if (++At >= Text.Len())
            {
                break;
            }
            if (Text[At] == 'u')
            {
                uint32 Code = 0;
                for (int32 Digit = 0; Digit < 4; ++Digit)
                {
                    if (++At >= Text.Len() || !FChar::IsHexDigit(Text[At]))
                    {
                        return Fail(TEXT("Invalid hexadecimal digit."));
                    }
                    const TCHAR Low = FChar::ToLower(Text[At]);
                    Code = Code * 16 + static_cast<uint32>(FChar::IsDigit(Low) ? Low - '0' : Low - 'a' + 10);
                }
                Character = static_cast<TCHAR>(Code);
            }
            else if (Marks.FindChar(Text[At], Found))
            {
                Character = Stand[Found];
            }
            else
            {
                return Fail(TEXT("Bad Json escaped char."));
            }
        }
        Out += Character;
    }
    return Fail(TEXT("String token abruptly ended."));
}
bool TJsonReader<TCHAR>::ReadNext(EJsonNotation& Notation)
{
    if (!ErrorMessage.IsEmpty())
    {
        Notation = EJsonNotation::Error;
        return false;
    }
    if (bFinished)
    {
        Skip();
        if (At < Text.Len())
        {
            Fail(TEXT("Unexpected additional input found."));
            Notation = EJsonNotation::Error;
            return true;
        }
        return false;
    }
    if (!Next(Notation))
    {
        Notation = EJsonNotation::Error;
    }
    else if (Inside.IsEmpty())
    {
        bFinished = true;
    }
    return true;
}
bool TJsonReader<TCHAR>::Next(EJsonNotation& Notation)
{
    Identifier.Reset();
    Skip();
    if (At >= Text.Len())
    {
        return Fail(TEXT("Improperly formatted."));
    }
    const bool bObject = !Inside.IsEmpty() && Inside.Last();
    if (!Inside.IsEmpty())
    {
        if (Text[At] == (bObject ? '}' : ']'))
        {
            ++At;
            Inside.Pop();
            bAfterValue = true;
            Notation = bObject ? EJsonNotation::ObjectEnd : EJsonNotation::ArrayEnd;
            return true;
        }
        if (bAfterValue)
        {
            if (Text[At] != ',')
            {
                return Fail(TEXT("Comma expected."));
            }
            ++At;
            Skip();
        }
        if (bObject)
        {
            if (At >= Text.Len() || Text[At] != '"' || !ReadText(Identifier))
            {
                return Fail(TEXT("String expected."));
            }
            Skip();
            if (At >= Text.Len() || Text[At] != ':')
            {
                return Fail(TEXT("Colon expected."));
            }
            ++At;
            Skip();
        }
    }
    if (At >= Text.Len())
    {
        return Fail(TEXT("Value expected."));
    }
    bAfterValue = true;
    const TCHAR First = Text[At];
    if (First == '{' || First == '[')
    {
        ++At;
        Inside.Add(First == '{');
        bAfterValue = false;
        Notation = First == '{' ? EJsonNotation::ObjectStart : EJsonNotation::ArrayStart;
        return true;
    }
    if (Inside.IsEmpty() && Text.Len() == 0)
    {
        return Fail(TEXT("Open Curly or Square Brace token expected."));
    }
    if (First == '"')
    {
        Notation = EJsonNotation::String;
        return ReadText(StringValue);
    }
    if (First == '-' || FChar::IsDigit(First))
    {
        const int32 From = At;
        const auto Digits = [this]
        {
            const int32 Start = At;
            while (At < Text.Len() && FChar::IsDigit(Text[At]))
            {
                ++At;
            }
            return At > Start;
        };
        At += First == '-' ? 1 : 0;
        const int32 Lead = At;
        bool bGood = Digits() && (At == Lead + 1 || Text[Lead] != '0');
        if (bGood && At < Text.Len() && Text[At] == '.')
        {
            ++At;
            bGood = Digits();
        }
        if (bGood && At < Text.Len() && (Text[At] == 'e' || Text[At] == 'E'))
        {
            ++At;
            At += At < Text.Len() && (Text[At] == '+' || Text[At] == '-') ? 1 : 0;
            bGood = Digits();
        }
        if (!bGood)
        {
            return Fail(TEXT("Poorly formed Json Number Token."));
        }
        StringValue = Text.Mid(From, At - From);
        NumberValue = FCString::Atod(*StringValue);
        Notation = EJsonNotation::Number;
        return true;
    }
    const auto Word = [this](const TCHAR* Expected)
    {
        const bool bFound = Text.Mid(At, FCString::Strlen(Expected)).Equals(Expected);
        At += bFound ? FCString::Strlen(Expected) : 0;
        return bFound;
    };
    if (Word(TEXT("true")) || Word(TEXT("false")))
    {
        BoolValue = Text[At - 2] == 'u';
        Notation = EJsonNotation::Boolean;
        return true;
    }
    if (Word(TEXT("null")))
    {
        Notation = EJsonNotation::Null;
        return true;
    }
    return Fail(TEXT("Invalid Json Token."));
}
static bool SkipUntil(TJsonReader<TCHAR>& Reader, EJsonNotation Start, EJsonNotation Stop)
{
    int32 Depth = 1;
    EJsonNotation Notation;
    while (Depth > 0 && Reader.ReadNext(Notation) && Notation != EJsonNotation::Error)
    {
        Depth += Notation == Start ? 1 : Notation == Stop ? -1 : 0;
    }
    return Depth == 0;
}
bool TJsonReader<TCHAR>::SkipObject()
{
    return SkipUntil(*this, EJsonNotation::ObjectStart, EJsonNotation::ObjectEnd);
}
bool TJsonReader<TCHAR>::SkipArray()
{
    return SkipUntil(*this, EJsonNotation::ArrayStart, EJsonNotation::ArrayEnd);
}
static bool ReadInto(TJsonReader<TCHAR>& Reader, EJsonNotation Notation, FJsonSerializer::EFlags Options, TSharedPtr<FJsonValue>& Out)
{
    switch (Notation)
    {
    case EJsonNotation::Boolean:
        Out = MakeShared<FJsonValueBoolean>(Reader.GetValueAsBoolean());
        return true;
    case EJsonNotation::String:
        Out = MakeShared<FJsonValueString>(Reader.GetValueAsString());
        return true;
    case EJsonNotation::Number:
        if (Options == FJsonSerializer::EFlags::StoreNumbersAsStrings)
        {
            Out = MakeShared<FJsonValueNumberString>(Reader.GetValueAsNumberString());
        }
        else
        {
            Out = MakeShared<FJsonValueNumber>(Reader.GetValueAsNumber());
        }
        return true;
    case EJsonNotation::Null:
        Out = MakeShared<FJsonValueNull>();
        return true;
    case EJsonNotation::ArrayStart:
    case EJsonNotation::ObjectStart:
    {
        const bool bObject = Notation == EJsonNotation::ObjectStart;
        TArray<TSharedPtr<FJsonValue>> Items;
        TSharedRef<FJsonObject> Object = MakeShared<FJsonObject>();
        EJsonNotation Next;
        while (Reader.ReadNext(Next))
        {
            if (Next == (bObject ? EJsonNotation::ObjectEnd : EJsonNotation::ArrayEnd))
            {
                if (bObject)
                {
                    Out = MakeShared<FJsonValueObject>(Object);
                }
                else
                {
                    Out = MakeShared<FJsonValueArray>(Items);
                }
                return true;
            }
            const FString Name = Reader.GetIdentifier();
            TSharedPtr<FJsonValue> Item;
            if (!ReadInto(Reader, Next, Options, Item))
            {
                return false;
            }
            Items.Add(Item);
            if (bObject)
            {
                Object->SetField(Name, Item);
            }
        }
        return false;
    }
    default:
        return false;
    }
}
bool FJsonSerializer::Read(TJsonReader<TCHAR>& Reader, EFlags Options, TSharedPtr<FJsonValue>& Out)
{
    EJsonNotation Notation;
    return Reader.ReadNext(Notation) && ReadInto(Reader, Notation, Options, Out) &&
        !(Reader.ReadNext(Notation) && Notation == EJsonNotation::Error);
}
