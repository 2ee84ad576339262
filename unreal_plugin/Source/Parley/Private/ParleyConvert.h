// Values of the core as values of the engine, and back.
#pragma once

#include "CoreMinimal.h"
#include "Core/Generated/Messages.h"
#include "Core/Json.h"
#include "Dom/JsonObject.h"
#include "Generated/ParleyMessages.h"
#include "ParleyJson.h"
#include "ParleyText.h"

#include <map>
#include <string>
#include <type_traits>
#include <vector>

namespace Parley
{

inline void Convert(const std::string& From, FString& To)
{
    To = ToFString(From);
}

inline void Convert(const FString& From, std::string& To)
{
    To = ToUtf8(From);
}

/// Free JSON is a text in properties. An empty object is the empty text.
PARLEY_API void Convert(const Json& From, FString& To);
/// What is no JSON goes as a text: whoever wants an object refuses it and says where.
PARLEY_API void Convert(const FString& From, Json& To);

PARLEY_API void Convert(const std::map<std::string, std::string>& From, TArray<FParleyNamedText>& To);
PARLEY_API void Convert(const TArray<FParleyNamedText>& From, std::map<std::string, std::string>& To);

template <class F, class T, std::enable_if_t<std::is_arithmetic<F>::value && std::is_arithmetic<T>::value, int> = 0>
void Convert(F From, T& To)
{
    To = static_cast<T>(From);
}

/// The members of both are the same.
template <class F, class T, std::enable_if_t<std::is_enum<F>::value && std::is_enum<T>::value, int> = 0>
void Convert(F From, T& To)
{
    To = static_cast<T>(From);
}

/// A record of the core.
template <class F, class T>
auto Convert(const F& From, T& To) -> decltype(To.ToCore(), void())
{
    To = T(From);
}

/// A record of the engine.
template <class F, class T>
auto Convert(const F& From, T& To) -> decltype(To = From.ToCore(), void())
{
    To = From.ToCore();
}

template <class F, class T>
void Convert(const std::vector<F>& From, TArray<T>& To)
{
    To.Reset(static_cast<int32>(From.size()));
    for (const F& Item : From)
    {
        Convert(Item, To.Emplace_GetRef());
    }
}

template <class F, class T>
void Convert(const TArray<F>& From, std::vector<T>& To)
{
    To.clear();
    To.reserve(static_cast<std::size_t>(From.Num()));
    for (const F& Item : From)
    {
        Convert(Item, To.emplace_back());
    }
}

/// An object, which the messages always are.
PARLEY_API TSharedRef<FJsonObject> ToEngine(const Json& Object);

/// Reads a USTRUCT by way of the struct of the core that it stands for.
template <class C, class T>
bool FromEngineAs(const FJsonObject& Body, T& Out, FString& Fault)
{
    C Core;
    std::string Wrong;
    const bool bRead = C::FromJson(FromEngine(Body), Core, Wrong);
    Fault = ToFString(Wrong);
    Out = bRead ? T(Core) : T();
    return bRead;
}

} // namespace Parley
