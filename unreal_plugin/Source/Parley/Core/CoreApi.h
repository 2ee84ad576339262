// What the core hands to other modules: nothing outside the engine, PARLEY_API inside of it.
#pragma once

#if defined(PARLEY_API)
#define PARLEY_CORE_API PARLEY_API
#else
#define PARLEY_CORE_API
#endif
