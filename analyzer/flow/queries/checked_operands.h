// Whether a check of two tensors' dtypes is attention's matter: by the code, one of them goes on to a call
// that has a contract, or to a product beside a softmax. The check ends the path, so no evaluation says it.
#pragma once

#include "analyzer/flow/engine/sink_record.h"
#include "analyzer/flow/program/program.h"

namespace dtype_guard::flow {

bool concerns_attention(const SinkRecord& check, const Program& program);

}  // namespace dtype_guard::flow
