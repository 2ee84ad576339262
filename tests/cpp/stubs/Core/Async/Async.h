// AsyncTask and Async. Tasks for the game thread wait until StubEngine::RunGameTasks().
// Source: gtreshchev/RuntimeAudioImporter Source/RuntimeAudioImporter/Private/RuntimeAudioImporterLibrary.cpp (AsyncTask),
// getnamo/Llama-Unreal Source/LlamaCore/Private/LlamaNative.cpp
#pragma once

#include "Async/TaskGraphInterfaces.h"
#include "CoreMinimal.h"

CORE_API void AsyncTask(ENamedThreads::Type Thread, TUniqueFunction<void()> Function);

namespace StubEngine
{
/// Runs what waits for the game thread; how many.
CORE_API int32 RunGameTasks();
} // namespace StubEngine

// Source: CesiumGS/cesium-unreal Source/CesiumRuntime/Private/Tests/SubLevels.spec.cpp
enum class EAsyncExecution
{
    TaskGraph,
    TaskGraphMainThread,
    Thread,
    ThreadIfForkSafe,
    ThreadPool,
};
CORE_API void StubAsync(EAsyncExecution Execution, TUniqueFunction<void()> Function);
template <typename F>
void Async(EAsyncExecution Execution, F&& Function)
{
    StubAsync(Execution, TUniqueFunction<void()>(std::forward<F>(Function)));
}
