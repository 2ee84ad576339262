// How a dialog is written, and cut into pieces.
#include "Core/DialogMirror.h"

#include <string>
#include <utility>

namespace Parley
{

namespace DialogMirrorLocal
{

constexpr int Version = 1;

Json Piece(const Json* Document, std::vector<Json> Turns, bool IsLast)
{
    if (Document == nullptr)
    {
        return Json::Array(std::move(Turns));
    }
    Json Made = Json::Object();
    for (const JsonMember& Field : Document->Members())
    {
        if (Field.Name != "interactions" && (IsLast || Field.Name != "summary"))
        {
            Made.Set(Field.Name, Field.Value);
        }
    }
    Made.Set("interactions", Json::Array(std::move(Turns)));
    if (!IsLast)
    {
        Made.Set("summary", Json());
    }
    return Made;
}

} // namespace DialogMirrorLocal

Json DialogCopy::ToJson() const
{
    std::vector<Json> Turns;
    Turns.reserve(Interactions.size());
    for (const std::shared_ptr<const Messages::Interaction>& Turn : Interactions)
    {
        Turns.push_back(Turn->ToJson());
    }
    Json Document = Json::Object();
    Document.Set("version", Json::Integer(DialogMirrorLocal::Version));
    Document.Set("interactions", Json::Array(std::move(Turns)));
    Document.Set("summary", Summary ? Summary->ToJson() : Json());
    return Document;
}

std::vector<Json> DialogMirror::Split(Json Dialog, const JsonCodec& Codec)
{
    std::vector<Json> Pieces;
    const bool IsDocument = Dialog.IsObject();
    Json* Found = IsDocument ? Dialog.Find("interactions") : &Dialog;
    if (Found == nullptr || !Found->IsArray())
    {
        Pieces.push_back(std::move(Dialog));
        return Pieces;
    }
    std::vector<Json> Turns = std::move(Found->Items());
    std::vector<Json> Piece;
    std::size_t Used = 0;
    for (Json& Turn : Turns)
    {
        const std::size_t Size = Codec.Write(Turn).size() + 1;
        if (Used + Size > PieceBytes && !Piece.empty())
        {
            Pieces.push_back(DialogMirrorLocal::Piece(IsDocument ? &Dialog : nullptr, std::move(Piece), false));
            Piece.clear();
            Used = 0;
        }
        Piece.push_back(std::move(Turn));
        Used += Size;
    }
    Pieces.push_back(DialogMirrorLocal::Piece(IsDocument ? &Dialog : nullptr, std::move(Piece), true));
    return Pieces;
}

void DialogMirror::Add(const Messages::Interaction& Interaction)
{
    Now.Interactions.push_back(std::make_shared<const Messages::Interaction>(Interaction));
}

} // namespace Parley
