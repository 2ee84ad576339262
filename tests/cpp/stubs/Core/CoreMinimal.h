// What nearly every file of a plugin starts with.
// Source: MothCocoon/FlowGraph Source/Flow/Public/FlowOwnerFunctionParams.h
#pragma once

#include "CoreTypes.h"

#include "Misc/AssertionMacros.h"

#include "Containers/Array.h"
#include "Containers/ArrayView.h"
#include "Containers/Map.h"
#include "Containers/Set.h"
#include "Containers/StringConv.h"
#include "Containers/UnrealString.h"
#include "Delegates/Delegate.h"
#include "Internationalization/Text.h"
#include "Logging/LogMacros.h"
#include "Math/Color.h"
#include "Math/UnrealMathUtility.h"
#include "Math/Vector.h"
#include "Math/Vector2D.h"
#include "Misc/CString.h"
#include "Misc/DateTime.h"
#include "Misc/Guid.h"
#include "Misc/Optional.h"
#include "Templates/Function.h"
#include "Templates/SharedPointer.h"
#include "Templates/TypeHash.h"
#include "Templates/UniquePtr.h"
#include "UObject/NameTypes.h"

// Names of CoreUObject that CoreMinimal.h declares.
class UObject;
class UClass;
class UPackage;
class FProperty;
template <typename T>
struct TObjectPtr;
template <class T>
class TSubclassOf;
