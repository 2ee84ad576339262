// Moving, swapping and the small base classes.
// Source: gtreshchev/RuntimeAudioImporter Source/RuntimeAudioImporter/Private/RuntimeAudioImporterLibrary.cpp (MoveTemp)
#pragma once

#include "HAL/Platform.h"

template <class T>
constexpr std::remove_reference_t<T>&& MoveTemp(T&& Value) noexcept
{
    // As in the engine: moving from a const or from an rvalue is a mistake.
    static_assert(std::is_lvalue_reference_v<T>, "MoveTemp called on an rvalue");
    static_assert(!std::is_const_v<std::remove_reference_t<T>>, "MoveTemp called on a const object");
    return static_cast<std::remove_reference_t<T>&&>(Value);
}

template <class T>
constexpr std::remove_reference_t<T>&& MoveTempIfPossible(T&& Value) noexcept
{
    return static_cast<std::remove_reference_t<T>&&>(Value);
}

template <class T>
constexpr T&& Forward(std::remove_reference_t<T>& Value) noexcept
{
    return static_cast<T&&>(Value);
}

template <class T>
constexpr T&& Forward(std::remove_reference_t<T>&& Value) noexcept
{
    return static_cast<T&&>(Value);
}

template <class T>
constexpr T CopyTemp(T& Value)
{
    return const_cast<const T&>(Value);
}

template <class T>
void Swap(T& A, T& B)
{
    T Kept = static_cast<T&&>(A);
    A = static_cast<T&&>(B);
    B = static_cast<T&&>(Kept);
}

template <class A, class B>
using TIsDerivedFrom = std::is_base_of<B, A>;

// Source: JonasReich/OpenUnrealUtilities Source/OUURuntime/Public/FlowControl/SharedLock.h
class FNoncopyable
{
protected:
    FNoncopyable() = default;
    ~FNoncopyable() = default;

private:
    FNoncopyable(const FNoncopyable&) = delete;
    FNoncopyable& operator=(const FNoncopyable&) = delete;
};

// Source: JonasReich/OpenUnrealUtilities Source/OUURuntime/Public/Templates/ScopedAssign.h
template <typename RefType, typename AssignedType = RefType>
struct TGuardValue : private FNoncopyable
{
    [[nodiscard]] TGuardValue(RefType& ReferenceValue, const AssignedType& NewValue)
        : RefValue(ReferenceValue)
        , OriginalValue(ReferenceValue)
    {
        RefValue = NewValue;
    }
    ~TGuardValue() { RefValue = OriginalValue; }

private:
    RefType& RefValue;
    RefType OriginalValue;
};

// Source: VoxelPlugin/VoxelCore Source/VoxelCore/Public/VoxelMinimal/Utilities/VoxelTypeUtilities.h
enum EForceInit
{
    ForceInit,
    ForceInitToZero
};

// Source: VoxelPlugin/VoxelCore Source/VoxelCore/Public/VoxelMinimal/VoxelDependencyCollector.h
enum ENoInit
{
    NoInit
};
