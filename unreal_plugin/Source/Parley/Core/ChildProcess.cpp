// What all started programs have in common.
#include "Core/ChildProcess.h"

namespace Parley
{

ChildOutput::~ChildOutput() = default;

ChildProcess::~ChildProcess() = default;

} // namespace Parley
