// Weak references to kernels that no library has: without us they are NULL, with us the loader binds them to
// our exported name. Those of the objects present at start are set back, so that a program that tests for a
// kernel gets the answer it would get without us.
#pragma once

namespace dtype_guard::san {

void forget_absent_kernels();

}  // namespace dtype_guard::san
