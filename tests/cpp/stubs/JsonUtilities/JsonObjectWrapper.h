// FJsonObjectWrapper: a JSON object in a property.
// Source: dev.epicgames.com/documentation/unreal-engine/API/Runtime/JsonUtilities/FJsonObjectWrapper?application_version=5.3
#pragma once

#include "Dom/JsonObject.h"
#include "UObject/Class.h"

#define JSONUTILITIES_API DLLEXPORT

// Source: NotYetGames/DlgSystem Source/DlgSystem/IO/DlgJsonWriter.cpp
struct JSONUTILITIES_API FJsonObjectWrapper
{
    static UScriptStruct* StaticStruct();
    FString JsonString;
    TSharedPtr<FJsonObject> JsonObject;
    bool JsonObjectToString(FString& Str) const;
    bool JsonObjectFromString(const FString& Str);
    explicit operator bool() const { return JsonObject.IsValid(); }
};
