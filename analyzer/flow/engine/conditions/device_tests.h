// device == "mps": the analysis is of one device, on which code for another accelerator is not run.
#pragma once

#include <string_view>

#include "analyzer/flow/values/values.h"

namespace dtype_guard::flow {

// Whether a text that is not known is compared with another accelerator's name. Not with "cpu": what is
// offloaded is there while the model runs elsewhere.
bool names_another_device(const Value& a, const Value& b, std::string_view device);

}  // namespace dtype_guard::flow
