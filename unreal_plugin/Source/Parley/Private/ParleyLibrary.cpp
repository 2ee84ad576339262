// ZeroMQ's library as the module has loaded it.
#include "ParleyLibrary.h"

#include <utility>

namespace Parley
{

namespace ParleyLibraryLocal
{

struct FLoaded
{
    std::shared_ptr<const ZmqApi> Api;
    FString Trouble = TEXT("Parley's module is not loaded.");
};

FLoaded& Loaded()
{
    static FLoaded One;
    return One;
}

} // namespace ParleyLibraryLocal

std::shared_ptr<const ZmqApi> GetLibrary()
{
    return ParleyLibraryLocal::Loaded().Api;
}

FString GetLibraryTrouble()
{
    return ParleyLibraryLocal::Loaded().Trouble;
}

void SetLibrary(std::shared_ptr<const ZmqApi> Api, const FString& Trouble)
{
    ParleyLibraryLocal::Loaded().Api = std::move(Api);
    ParleyLibraryLocal::Loaded().Trouble = Trouble;
}

} // namespace Parley
