// Cast and its family.
// Source: MothCocoon/FlowGraph Source/Flow/Private/FlowAsset.cpp (Cast, CastChecked), NotYetGames/DlgSystem
// Source/DlgSystem/DlgContext.cpp
#pragma once

#include "UObject/Object.h"

namespace StubEngine
{
template <typename T, typename = void>
struct TIsInterface : std::false_type
{
};
template <typename T>
struct TIsInterface<T, std::void_t<typename T::UClassType>> : std::true_type
{
};
} // namespace StubEngine

template <typename To>
To* Cast(const UObject* Object)
{
    UObject* Some = const_cast<UObject*>(Object);
    if constexpr (StubEngine::TIsInterface<To>::value)
    {
        return Some == nullptr ? nullptr : static_cast<To*>(Some->StubInterface(To::UClassType::StaticClass()));
    }
    else
    {
        return Some != nullptr && Some->IsA(To::StaticClass()) ? static_cast<To*>(Some) : nullptr;
    }
}
template <typename To, typename From>
To* Cast(const TObjectPtr<From>& Object)
{
    return Cast<To>(static_cast<const UObject*>(Object.Get()));
}
template <typename To, typename From>
To* Cast(const TWeakObjectPtr<From>& Object)
{
    return Cast<To>(static_cast<const UObject*>(Object.Get()));
}
template <typename To>
To* CastChecked(const UObject* Object)
{
    To* Made = Cast<To>(Object);
    check(Made != nullptr);
    return Made;
}
template <typename To, typename From>
To* CastChecked(const TObjectPtr<From>& Object)
{
    return CastChecked<To>(static_cast<const UObject*>(Object.Get()));
}
template <typename To>
To* ExactCast(UObject* Object)
{
    return Object != nullptr && Object->GetClass() == To::StaticClass() ? static_cast<To*>(Object) : nullptr;
}
