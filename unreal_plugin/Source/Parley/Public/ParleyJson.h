// JSON between the engine and the core: the codec, and FJsonObject to Parley::Json and back.
#pragma once

#include "CoreMinimal.h"
#include "Core/Json.h"
#include "Dom/JsonObject.h"
#include "Dom/JsonValue.h"
#include "ParleyText.h"

#include <memory>

namespace Parley
{

/// The codec over the engine's JSON reader, for whoever outlives a call. Threading: any thread, several at once.
PARLEY_API std::shared_ptr<const JsonCodec> EngineCodec();

/// Reads one JSON text. False: `Fault` says what is wrong and where, and `Out` is null.
PARLEY_API bool JsonFromText(const FString& Text, Json& Out, FString& Fault);

/// Writes JSON; `bPretty`: as `parley` writes files.
PARLEY_API FString JsonToText(const Json& Value, bool bPretty = false);

/// The engine's objects for a value; numbers keep their spelling.
PARLEY_API TSharedRef<FJsonValue> ToEngineValue(const Json& Value);
/// Null where it is no object.
PARLEY_API TSharedPtr<FJsonObject> ToEngineObject(const Json& Value);

/// A value of the engine's objects; numbers keep their spelling where they have one.
PARLEY_API Json FromEngine(const FJsonValue& Value);
PARLEY_API Json FromEngine(const FJsonObject& Object);

} // namespace Parley
