// A borrowed thread has to be put back even if this command is killed. So it is borrowed by a child in a
// process group of its own, which no signal to this command or its terminal reaches. This command waits for
// it; when a signal is to end this command, the child puts the thread back first, and so it does when this
// command is killed. What is left is a SIGKILL to just that child, within the pause.
#pragma once

#include <functional>
#include <string>

namespace dtype_guard::san {

// What `work` gives, done by a child. An AttachError of it is thrown here.
std::string by_own_child(const std::function<std::string()>& work);

}  // namespace dtype_guard::san
