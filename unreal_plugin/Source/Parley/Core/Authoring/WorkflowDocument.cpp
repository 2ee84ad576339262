// The bodies of WorkflowDocument.h.
#include "Core/Authoring/WorkflowDocument.h"

#include "Core/Authoring/Authoring.h"
#include "Core/Authoring/ParamChecks.h"
#include "Core/Generated/Protocol.h"
#include "Core/Numbers.h"
#include "Core/Utf8.h"
#include "Core/WholeFile.h"

#include <algorithm>
#include <cstdint>
#include <utility>

static_assert(Parley::WorkflowDocument::MaxBytes == Parley::Protocol::MaxJsonBytes, "as the sidecar has it");

namespace Parley::WorkflowDocumentLocal
{

constexpr std::string_view Mark = "\xEF\xBB\xBF";
constexpr std::string_view White = " \t\r\n";

std::string_view FileName(std::string_view Path) noexcept
{
    const std::size_t Slash = Path.find_last_of("/\\");
    return Slash == std::string_view::npos ? Path : Path.substr(Slash + 1);
}

std::string TooLarge(std::uint64_t Bytes)
{
    return "it has " + Numbers::Of(Bytes) + " bytes; a workflow has at most " + Numbers::Of(WorkflowDocument::MaxBytes)
        + ", is this the right file?";
}

/// The codec's two blanks a level and line ends, as this file has them. Texts hold no raw line end.
std::string LaidOut(std::string_view Pretty, std::string_view LineEnd, std::string_view Step)
{
    std::string Made;
    for (std::size_t Line = 0; Line < Pretty.size();)
    {
        const std::size_t Begin = (std::min)(Pretty.find_first_not_of(' ', Line), Pretty.size());
        const std::size_t End = (std::min)(Pretty.find('\n', Begin), Pretty.size());
        for (std::size_t Level = 0; Level < (Begin - Line) / 2; ++Level)
        {
            Made += Step;
        }
        Made += Pretty.substr(Begin, End - Begin);
        Line = End + 1;
        if (Line < Pretty.size())
        {
            Made += LineEnd;
        }
    }
    return Made;
}

} // namespace Parley::WorkflowDocumentLocal

namespace Parley
{

WorkflowDocument::WorkflowDocument(Json Workflow)
    : Root(std::move(Workflow))
{
}

bool WorkflowDocument::Parse(
    const JsonCodec& Codec, std::string_view Bytes, WorkflowDocument& Out, std::string& Fault)
{
    if (Bytes.size() > MaxBytes)
    {
        Fault = WorkflowDocumentLocal::TooLarge(Bytes.size());
        return false;
    }
    const std::string_view First = Bytes.substr(0, 2);
    if (First == "\xFF\xFE" || First == "\xFE\xFF")
    {
        Fault = "it is UTF-16; save it as UTF-8";
        return false;
    }
    const std::size_t Wrong = Utf8::FindFault(Bytes);
    if (Wrong != std::string_view::npos)
    {
        const auto Lines = std::count(Bytes.begin(), Bytes.begin() + static_cast<std::ptrdiff_t>(Wrong), '\n');
        Fault = "line " + Numbers::Of(Lines + 1)
            + ", column 1: the bytes of this line are not UTF-8; save the file as UTF-8";
        return false;
    }
    WorkflowDocument Made;
    Made.HasMark = Bytes.substr(0, WorkflowDocumentLocal::Mark.size()) == WorkflowDocumentLocal::Mark;
    const std::string_view Text = Bytes.substr(Made.HasMark ? WorkflowDocumentLocal::Mark.size() : 0);
    if (!Codec.Read(Text, Made.Root, Fault))
    {
        return false;
    }
    if (!Made.Root.IsObject())
    {
        Fault = "a workflow is a JSON object, in { }; this is "
            + (Made.Root.IsArray() ? std::string("a list") : ParamChecks::Brief(Made.Root));
        return false;
    }
    if (Authoring::IsTooDeep(Made.Root))
    {
        Fault = "the JSON is nested deeper than " + Numbers::Of(Authoring::MaxDepth) + " levels";
        return false;
    }
    const std::size_t Line = Text.find('\n');
    Made.LineEnd = Line != std::string_view::npos && Line > 0 && Text[Line - 1] == '\r' ? "\r\n" : "\n";
    const std::size_t Inside = Text.find_first_not_of(WorkflowDocumentLocal::White, Text.find('{') + 1);
    const std::size_t Indent = Text.find_last_of('\n', Inside);
    const bool HasLines = Indent != std::string_view::npos && Indent > Text.find('{') && Indent + 1 < Inside;
    Made.Step.assign(HasLines ? Text.substr(Indent + 1, Inside - Indent - 1) : "  ");
    Made.Suffix.assign(Text.substr(Text.find_last_not_of(WorkflowDocumentLocal::White) + 1));
    Made.Original.assign(Bytes);
    Made.OriginalRoot = Made.Root;
    Out = std::move(Made);
    return true;
}

bool WorkflowDocument::Load(
    const JsonCodec& Codec, const std::string& Path, WorkflowDocument& Out, std::string& Fault)
{
    std::string Bytes;
    std::uint64_t Size = 0;
    bool IsRead = WholeFile::Read(Path, MaxBytes, Bytes, Size, Fault);
    if (IsRead && Size > MaxBytes)
    {
        Fault = WorkflowDocumentLocal::TooLarge(Size);
        IsRead = false;
    }
    if (!IsRead || !Parse(Codec, Bytes, Out, Fault))
    {
        Fault = std::string(WorkflowDocumentLocal::FileName(Path)) + ": " + Fault;
        return false;
    }
    return true;
}

std::string WorkflowDocument::ToText(const JsonCodec& Codec) const
{
    if (!Original.empty() && Authoring::IsSame(Root, OriginalRoot))
    {
        return Original;
    }
    std::string Text(HasMark ? WorkflowDocumentLocal::Mark : "");
    Text += WorkflowDocumentLocal::LaidOut(Codec.Write(Root, true), LineEnd, Step);
    Text += Suffix;
    return Text;
}

bool WorkflowDocument::Save(
    const JsonCodec& Codec, const std::string& Path, bool& Written, std::string& Fault) const
{
    return WholeFile::Replace(Path, ToText(Codec), Written, Fault);
}

} // namespace Parley
