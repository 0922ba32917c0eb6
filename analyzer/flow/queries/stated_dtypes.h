// Libraries whose tensors have the dtype that the code says, ggml: no setting chose it and no default, so
// what breaks a call of theirs breaks it in every run. That something beside it is half is no evidence, for
// their calls take float32 as well; none is needed.
#pragma once

#include "analyzer/flow/engine/sink_record.h"

namespace dtype_guard::flow {

// Of what arrived at the recorded call.
bool is_told_by_code(const Alternative& arrived, const SinkRecord& record);

}  // namespace dtype_guard::flow
