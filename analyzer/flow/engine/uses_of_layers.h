// What a call makes of a layer's result. A layer with a wide input may be kept wide by what loads the model.
// Not where its result meets a half value in a call that wants both equal: that breaks either way.
#pragma once

#include <vector>

#include "analyzer/flow/engine/sink_record.h"
#include "analyzer/flow/values/symbols.h"

namespace dtype_guard::flow {

// A layer's record, by the mark that its result carries.
struct MarkedLayer {
  SinkRecord* record = nullptr;
  SymbolSets::Symbol mark = 0;
};

// Of each layer with a wide input: whether its result, not cast, comes to such a call beside a half operand
// to which no layer with a wide input leads.
void note_layers_that_must_suit(std::vector<MarkedLayer> layers, const std::vector<SinkRecord>& calls,
                                const SymbolSets& symbols);

}  // namespace dtype_guard::flow
