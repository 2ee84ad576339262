// The log category.
#include "ParleyLog.h"

DEFINE_LOG_CATEGORY(LogParley);
