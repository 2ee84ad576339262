// USoundClass.
// Source: dev.epicgames.com/documentation/en-us/unreal-engine/API/Runtime/Engine/USoundClass
#pragma once

#include "UObject/Object.h"

// Source: dev.epicgames.com/documentation/en-us/unreal-engine/API/Runtime/Engine/USoundClass
class ENGINE_API USoundClass : public UObject
{
    STUB_CLASS_BODY(USoundClass, UObject)
};
