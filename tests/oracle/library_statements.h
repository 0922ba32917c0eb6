// The class that a root is a method of, made of library modules.
#pragma once

#include <string>

#include "tests/oracle/constructors.h"

namespace dtype_guard::oracle {

Members add_library_model(flow::Module& module, const std::string& name, Random& random, int& line);

}  // namespace dtype_guard::oracle
