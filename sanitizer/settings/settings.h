// The options of this process, read once from its environment (or from `dtype-san attach`), and the library's
// few words to the user. Unlike Process they survive a fork: a child runs under the same options.
#pragma once

#include <string_view>

#include "sanitizer/settings/options.h"

namespace dtype_guard::san {

// Reads DTYPE_SAN_OPTIONS at the first use (a constructor of another library may call a kernel before ours
// runs).
const Options& settings();

// RANK, SLURM_PROCID, OMPI_COMM_WORLD_RANK or PMI_RANK, the first that is a number; empty without one.
std::string_view rank_text();
// In which a relative `journal` lies, wherever the program goes later; empty where that is absolute.
std::string_view start_folder();
// The host's name, fit for a file name.
std::string_view host_name();
// Whether `dtype-san run` started exactly this process.
bool is_launched_command();

// Whether this is a fork of the process that loaded the library, or one that the command of `dtype-san run`
// started.
bool is_child();

// Whether `dtype-san attach` has put the library into this process, as it ran.
bool was_joined();

// Descriptor 2 is the standard error now; if it is another file later, nothing is written there. Once in a
// process.
void remember_error_output();

// One line "dtype-san: TEXT" to log_path or stderr.
void say(std::string_view text);

}  // namespace dtype_guard::san
