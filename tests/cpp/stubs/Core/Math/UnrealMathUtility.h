// FMath.
// Source: MothCocoon/FlowGraph Source/FlowEditor/Private/Graph/FlowGraphConnectionDrawingPolicy.cpp
#pragma once

#include "HAL/Platform.h"

#include <cmath>

#define SMALL_NUMBER (1.e-8f)
#define KINDA_SMALL_NUMBER (1.e-4f)
#define UE_SMALL_NUMBER (1.e-8f)
#define UE_KINDA_SMALL_NUMBER (1.e-4f)

// Source: VoxelPlugin/VoxelCore Source/VoxelCore/Private/VoxelMinimal/VoxelBox.cpp
struct FMath
{
    template <class T>
    static constexpr T Min(T A, T B)
    {
        return B < A ? B : A;
    }
    template <class T>
    static constexpr T Max(T A, T B)
    {
        return A < B ? B : A;
    }
    template <class T>
    static constexpr T Clamp(T Value, T Low, T High)
    {
        return Max(Min(Value, High), Low);
    }
    template <class T>
    static constexpr T Abs(T Value)
    {
        return Value < T(0) ? -Value : Value;
    }
    template <class T>
    static constexpr T Square(T Value)
    {
        return Value * Value;
    }
    template <class T, class U>
    static constexpr T Lerp(T A, T B, U Alpha)
    {
        return static_cast<T>(A + Alpha * (B - A));
    }
    template <class T>
    static constexpr T DivideAndRoundUp(T A, T B)
    {
        return (A + B - 1) / B;
    }
    static int32 RoundToInt(float Value) { return static_cast<int32>(std::floor(Value + 0.5f)); }
    static int64 RoundToInt(double Value) { return static_cast<int64>(std::floor(Value + 0.5)); }
    static int32 RoundToInt32(double Value) { return static_cast<int32>(std::floor(Value + 0.5)); }
    static int32 FloorToInt(float Value) { return static_cast<int32>(std::floor(Value)); }
    static int64 FloorToInt(double Value) { return static_cast<int64>(std::floor(Value)); }
    static int32 FloorToInt32(double Value) { return static_cast<int32>(std::floor(Value)); }
    static int32 CeilToInt(float Value) { return static_cast<int32>(std::ceil(Value)); }
    static int64 CeilToInt(double Value) { return static_cast<int64>(std::ceil(Value)); }
    static int32 CeilToInt32(double Value) { return static_cast<int32>(std::ceil(Value)); }
    static int32 TruncToInt(float Value) { return static_cast<int32>(Value); }
    static float RoundToFloat(float Value) { return std::floor(Value + 0.5f); }
    static float Sqrt(float Value) { return std::sqrt(Value); }
    static double Sqrt(double Value) { return std::sqrt(Value); }
    static float Pow(float A, float B) { return std::pow(A, B); }
    static float Sin(float Value) { return std::sin(Value); }
    static float Cos(float Value) { return std::cos(Value); }
    static float Fmod(float A, float B) { return std::fmod(A, B); }
    static bool IsNearlyEqual(float A, float B, float Tolerance = UE_SMALL_NUMBER) { return std::fabs(A - B) <= Tolerance; }
    static bool IsNearlyEqual(double A, double B, double Tolerance = 1.e-8) { return std::fabs(A - B) <= Tolerance; }
    static bool IsNearlyZero(float A, float Tolerance = UE_SMALL_NUMBER) { return std::fabs(A) <= Tolerance; }
    static bool IsNearlyZero(double A, double Tolerance = 1.e-8) { return std::fabs(A) <= Tolerance; }
    static bool IsFinite(float A) { return std::isfinite(A); }
    static bool IsFinite(double A) { return std::isfinite(A); }
    static bool IsNaN(double A) { return std::isnan(A); }
};
