// SNew and the macros of a widget's arguments.
// Source: CesiumGS/cesium-unreal Source/CesiumEditor/Private/CesiumDegreesMinutesSecondsEditor.h (SLATE_BEGIN_ARGS,
// SLATE_END_ARGS), VoxelPlugin/VoxelCore Source/VoxelCoreEditor/Public/SVoxelDetailWidgets.h (SLATE_DEFAULT_SLOT)
#pragma once

#include "Widgets/SWidget.h"

#include <tuple>

#define SNew(WidgetType, ...) StubEngine::Maker<WidgetType>(TEXT(#WidgetType), ##__VA_ARGS__) <<= WidgetType::FArguments()
#define SAssignNew(ExposeAs, WidgetType, ...) \
    StubEngine::Maker<WidgetType>(TEXT(#WidgetType), ##__VA_ARGS__).Expose(ExposeAs) <<= WidgetType::FArguments()

#define SLATE_BEGIN_ARGS(InWidgetType) \
public: \
    struct FArguments : public TSlateBaseNamedArgs<InWidgetType> \
    { \
        typedef FArguments WidgetArgsType; \
        typedef InWidgetType WidgetType; \
        FArguments()
#define SLATE_END_ARGS() \
    }; \
    FArguments StubArgs; \
    void StubKeep(const FArguments& Args) \
    { \
        StubArgs = Args; \
    }

#define SLATE_ARGUMENT(ArgType, ArgName) \
    ArgType _##ArgName{}; \
    WidgetArgsType& ArgName(ArgType InArg) \
    { \
        _##ArgName = InArg; \
        return static_cast<WidgetArgsType&>(*this); \
    }
#define SLATE_ARGUMENT_DEFAULT(ArgType, ArgName) SLATE_ARGUMENT(ArgType, ArgName)
#define STUB_ATTRIBUTE(Args, AttrType, AttrName) \
    TAttribute<AttrType> _##AttrName; \
    Args& AttrName(TAttribute<AttrType> InAttribute) \
    { \
        _##AttrName = InAttribute; \
        return static_cast<Args&>(*this); \
    } \
    template <typename StubF> \
    Args& AttrName##_Lambda(StubF&& Callable) \
    { \
        _##AttrName = TAttribute<AttrType>::Create(TDelegate<AttrType()>::CreateLambda(std::forward<StubF>(Callable))); \
        return static_cast<Args&>(*this); \
    } \
    template <typename StubO, typename StubM> \
    Args& AttrName(StubO* Object, StubM Method) \
    { \
        _##AttrName = TAttribute<AttrType>::Create(TDelegate<AttrType()>::CreateSP(Object, Method)); \
        return static_cast<Args&>(*this); \
    } \
    template <typename StubO, typename StubM> \
    Args& AttrName##_Raw(StubO* Object, StubM Method) \
    { \
        _##AttrName = TAttribute<AttrType>::Create(TDelegate<AttrType()>::CreateRaw(Object, Method)); \
        return static_cast<Args&>(*this); \
    }
#define SLATE_ATTRIBUTE(AttrType, AttrName) STUB_ATTRIBUTE(WidgetArgsType, AttrType, AttrName)
#define SLATE_EVENT(DelegateType, EventName) \
    DelegateType _##EventName; \
    WidgetArgsType& EventName(const DelegateType& InDelegate) \
    { \
        _##EventName = InDelegate; \
        return static_cast<WidgetArgsType&>(*this); \
    } \
    template <typename StubF, typename... StubV> \
    WidgetArgsType& EventName##_Lambda(StubF&& Callable, StubV... Payload) \
    { \
        _##EventName = DelegateType::CreateLambda(std::forward<StubF>(Callable), Payload...); \
        return static_cast<WidgetArgsType&>(*this); \
    } \
    template <typename StubO, typename StubM, typename... StubV> \
    WidgetArgsType& EventName(StubO* Object, StubM Method, StubV... Payload) \
    { \
        _##EventName = DelegateType::CreateSP(Object, Method, Payload...); \
        return static_cast<WidgetArgsType&>(*this); \
    } \
    template <typename StubO, typename StubM, typename... StubV> \
    WidgetArgsType& EventName##_Raw(StubO* Object, StubM Method, StubV... Payload) \
    { \
        _##EventName = DelegateType::CreateRaw(Object, Method, Payload...); \
        return static_cast<WidgetArgsType&>(*this); \
    } \
    template <typename StubF, typename... StubV> \
    WidgetArgsType& EventName##_Static(StubF* Function, StubV... Payload) \
    { \
        _##EventName = DelegateType::CreateStatic(Function, Payload...); \
        return static_cast<WidgetArgsType&>(*this); \
    }
#define SLATE_DEFAULT_SLOT(DeclarationType, SlotName) \
    TSharedPtr<SWidget> _##SlotName; \
    WidgetArgsType& operator[](const TSharedRef<SWidget>& InChild) \
    { \
        _##SlotName = InChild; \
        return static_cast<WidgetArgsType&>(*this); \
    } \
    StubEngine::TNamedSlot<WidgetArgsType> SlotName() \
    { \
        return {static_cast<WidgetArgsType&>(*this), _##SlotName}; \
    }
#define SLATE_NAMED_SLOT(DeclarationType, SlotName) \
    TSharedPtr<SWidget> _##SlotName; \
    StubEngine::TNamedSlot<WidgetArgsType> SlotName() \
    { \
        return {static_cast<WidgetArgsType&>(*this), _##SlotName}; \
    }
#define SLATE_SLOT_ARGUMENT(SlotType, SlotName) \
    TArray<typename SlotType::FSlotArguments> _##SlotName; \
    WidgetArgsType& operator+(const typename SlotType::FSlotArguments& InSlot) \
    { \
        _##SlotName.Add(InSlot); \
        return static_cast<WidgetArgsType&>(*this); \
    }

namespace StubEngine
{
/// What a slot of a widget's arguments gives back.
template <typename Args>
struct TNamedSlot
{
    Args& Owner;
    TSharedPtr<SWidget>& Slot;
    Args& operator[](const TSharedRef<SWidget>& Child)
    {
        Slot = Child;
        return Owner;
    }
};
} // namespace StubEngine

// Source: VoxelPlugin/VoxelCore Source/VoxelCore/Public/VoxelMinimal/VoxelMacros.h
template <typename InWidgetType>
struct TSlateBaseNamedArgs
{
    TAttribute<bool> _IsEnabled;
    TAttribute<EVisibility> _Visibility;
    TAttribute<FText> _ToolTipText;

#define STUB_BASE_ATTRIBUTE(AttrType, AttrName) \
    template <typename W = InWidgetType> \
    typename W::FArguments& AttrName(TAttribute<AttrType> InAttribute) \
    { \
        _##AttrName = InAttribute; \
        return static_cast<typename W::FArguments&>(*this); \
    } \
    template <typename F, typename W = InWidgetType> \
    typename W::FArguments& AttrName##_Lambda(F&& Callable) \
    { \
        _##AttrName = TAttribute<AttrType>::Create(TDelegate<AttrType()>::CreateLambda(std::forward<F>(Callable))); \
        return static_cast<typename W::FArguments&>(*this); \
    } \
    template <typename O, typename M, typename W = InWidgetType> \
    typename W::FArguments& AttrName(O* Object, M Method) \
    { \
        _##AttrName = TAttribute<AttrType>::Create(TDelegate<AttrType()>::CreateSP(Object, Method)); \
        return static_cast<typename W::FArguments&>(*this); \
    }
    STUB_BASE_ATTRIBUTE(bool, IsEnabled)
    STUB_BASE_ATTRIBUTE(EVisibility, Visibility)
    STUB_BASE_ATTRIBUTE(FText, ToolTipText)
};

namespace StubEngine
{
/// What SNew stands for.
template <typename W, typename... R>
class TMaker
{
public:
    TMaker(const TCHAR* InType, R... InRequired)
        : Type(InType)
        , Required(InRequired...)
    {
    }
    template <typename E>
    TMaker& Expose(TSharedPtr<E>& Into)
    {
        Exposed = [&Into](const TSharedRef<W>& Made) { Into = Made; };
        return *this;
    }
    TSharedRef<W> operator<<=(const typename W::FArguments& Args)
    {
        TSharedRef<W> Made = MakeShared<W>();
        Made->StubType = Type;
        Made->StubEnabled = Args._IsEnabled;
        Made->StubVisibility = Args._Visibility;
        Made->StubToolTip = Args._ToolTipText;
        if (Exposed)
        {
            Exposed(Made);
        }
        Made->StubKeep(Args);
        std::apply([&](auto&... More) { Made->Construct(Args, More...); }, Required);
        return Made;
    }

private:
    const TCHAR* Type;
    std::tuple<R...> Required;
    std::function<void(const TSharedRef<W>&)> Exposed;
};
template <typename W, typename... R>
TMaker<W, R...> Maker(const TCHAR* Type, R... Required)
{
    return TMaker<W, R...>(Type, Required...);
}
} // namespace StubEngine
