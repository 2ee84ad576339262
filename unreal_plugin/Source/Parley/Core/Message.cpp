// Where the table of the messages' base class lives.
#include "Core/Message.h"

namespace Parley
{

Message::~Message() = default;

} // namespace Parley
