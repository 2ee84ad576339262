// A workflow's file, which an edit changes no more than it must.
#pragma once

#include "Core/CoreApi.h"
#include "Core/Json.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace Parley
{

/// A .workflow.json file. One that is not edited comes back to the byte. An edited one keeps its byte order mark, line
/// ends, indentation, the order of fields, unknown fields and the spelling of numbers; its white space is that of
/// `parley`, a line for each value.
class PARLEY_CORE_API WorkflowDocument
{
public:
    /// The largest file, in bytes: what a sidecar takes in one message unless it is told otherwise.
    static constexpr std::size_t MaxBytes = 8388608;

    /// The workflow. Replace it by what an edit returned, or change it in place.
    Json Root = Json::Object();

    /// A document for a workflow that was in no file yet; it will be indented by two blanks.
    WorkflowDocument() = default;
    explicit WorkflowDocument(Json Workflow);

    /// Reads a file's bytes. False: the fault says what is wrong and where, and the document is as it was.
    static bool Parse(const JsonCodec& Codec, std::string_view Bytes, WorkflowDocument& Out, std::string& Fault);

    /// Reads a file; its path is UTF-8. False: the fault names the file.
    static bool Load(const JsonCodec& Codec, const std::string& Path, WorkflowDocument& Out, std::string& Fault);

    /// The file's bytes, byte order mark included.
    std::string ToText(const JsonCodec& Codec) const;

    /// Writes the file, whole or not at all; a file that has these bytes already is not touched (`Written` tells). False:
    /// the fault says why, and the file is as it was. A read-only file is refused, so that version control is asked first.
    bool Save(const JsonCodec& Codec, const std::string& Path, bool& Written, std::string& Fault) const;

private:
    std::string LineEnd = "\n";
    std::string Step = "  ";
    std::string Suffix = "\n";
    bool HasMark = false;
    std::string Original;
    Json OriginalRoot;
};

} // namespace Parley
