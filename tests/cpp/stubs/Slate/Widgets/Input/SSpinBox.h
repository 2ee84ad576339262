// SSpinBox.
// Source: CesiumGS/cesium-unreal Source/CesiumEditor/Private/CesiumDegreesMinutesSecondsEditor.cpp (SNew(SSpinBox<double>))
#pragma once

#include "Fonts/SlateFontInfo.h"
#include "Widgets/DeclarativeSyntaxSupport.h"

// Source: CesiumGS/cesium-unreal Source/CesiumEditor/Private/CesiumDegreesMinutesSecondsEditor.cpp
template <typename NumericType>
class SSpinBox : public SWidget
{
public:
    typedef TDelegate<void(NumericType)> FOnValueChanged;
    typedef TDelegate<void(NumericType, ETextCommit::Type)> FOnValueCommitted;
    SLATE_BEGIN_ARGS(SSpinBox<NumericType>) {}
        SLATE_ATTRIBUTE(NumericType, Value)
        SLATE_ATTRIBUTE(TOptional<NumericType>, MinValue)
        SLATE_ATTRIBUTE(TOptional<NumericType>, MaxValue)
        SLATE_ATTRIBUTE(TOptional<NumericType>, MinSliderValue)
        SLATE_ATTRIBUTE(TOptional<NumericType>, MaxSliderValue)
        SLATE_ATTRIBUTE(NumericType, Delta)
        SLATE_ATTRIBUTE(FSlateFontInfo, Font)
        SLATE_EVENT(FOnValueChanged, OnValueChanged)
        SLATE_EVENT(FOnValueCommitted, OnValueCommitted)
    SLATE_END_ARGS()
    void Construct(const FArguments&) {}
    NumericType GetValue() const { return StubArgs._Value.Get(); }
    void StubCommit(NumericType Value, ETextCommit::Type How)
    {
        if (IsEnabled())
        {
            StubArgs._OnValueCommitted.ExecuteIfBound(Value, How);
        }
    }
};
