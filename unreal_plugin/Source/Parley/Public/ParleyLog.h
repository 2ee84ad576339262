// The log category of everything that Parley says in the output log.
#pragma once

#include "CoreMinimal.h"

PARLEY_API DECLARE_LOG_CATEGORY_EXTERN(LogParley, Log, All);
