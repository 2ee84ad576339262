// UExporter.
// Source: dev.epicgames.com/documentation/unreal-engine/API/Runtime/Engine/Exporters/UExporter/ExportBinary?application_version=5.1
#pragma once

#include "UObject/Object.h"

class FFeedbackContext;

// Source: dev.epicgames.com/documentation/en-us/unreal-engine/API/Runtime/Engine/UExporter (the class),
// CSharpForUnrealEngine5/CsToCpp Compiler/GameFramework5_2/GameFramework/Source/Engine/Exporters/UExporter.cs (its fields in 5.2)
class UExporter : public UObject
{
    STUB_CLASS_BODY(UExporter, UObject)
    TSubclassOf<UObject> SupportedClass;
    TArray<FString> FormatExtension;
    TArray<FString> FormatDescription;
    int32 PreferredFormatIndex = 0;
    uint8 bText = 0;
    virtual bool ExportBinary(
        UObject* Object, const TCHAR* Type, FArchive& Ar, FFeedbackContext* Warn, int32 FileIndex = 0, uint32 PortFlags = 0)
    {
        return false;
    }
};
