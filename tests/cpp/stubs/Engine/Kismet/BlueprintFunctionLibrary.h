// UBlueprintFunctionLibrary.
// Source: ufna/VaRest Source/VaRest/Public/VaRestLibrary.h
#pragma once

#include "UObject/Object.h"

// Source: ufna/VaRest Source/VaRest/Public/VaRestLibrary.h
class ENGINE_API UBlueprintFunctionLibrary : public UObject
{
    STUB_CLASS_BODY(UBlueprintFunctionLibrary, UObject)
};
