// How the library learns that `dtype-san attach` has put it here: the thread that loads it carries the
// address of a mailbox in its name.
#pragma once

#include "sanitizer/protocol/mailbox.h"

namespace dtype_guard::san {

// Of the thread that runs the library's constructors; nullptr when the library was loaded in any other way.
Mailbox* joining_mailbox();

}  // namespace dtype_guard::san
