// FVector and FRotator.
// Source: CesiumGS/cesium-unreal Source/CesiumRuntime/Private/CesiumGeoreference.cpp
#pragma once

#include "HAL/Platform.h"

#include <cmath>

// Source: CesiumGS/cesium-unreal Source/CesiumRuntime/Private/CesiumGeoreference.cpp
struct FVector
{
    double X = 0, Y = 0, Z = 0;
    FVector() = default;
    constexpr FVector(double InX, double InY, double InZ)
        : X(InX)
        , Y(InY)
        , Z(InZ)
    {
    }
    static const FVector ZeroVector;
    FVector operator-(const FVector& O) const { return FVector(X - O.X, Y - O.Y, Z - O.Z); }
    FVector operator+(const FVector& O) const { return FVector(X + O.X, Y + O.Y, Z + O.Z); }
    double Size() const { return std::sqrt(X * X + Y * Y + Z * Z); }
    static double Dist(const FVector& A, const FVector& B) { return (A - B).Size(); }
    static double DistSquared(const FVector& A, const FVector& B) { return (A - B).Size() * (A - B).Size(); }
    bool operator==(const FVector& O) const { return X == O.X && Y == O.Y && Z == O.Z; }
};
inline const FVector FVector::ZeroVector{};

// Source: CesiumGS/cesium-unreal Source/CesiumRuntime/Private/CesiumGeoreference.cpp
struct FRotator
{
    double Pitch = 0, Yaw = 0, Roll = 0;
    FRotator() = default;
    constexpr FRotator(double InPitch, double InYaw, double InRoll)
        : Pitch(InPitch)
        , Yaw(InYaw)
        , Roll(InRoll)
    {
    }
    static const FRotator ZeroRotator;
};
inline const FRotator FRotator::ZeroRotator{};
