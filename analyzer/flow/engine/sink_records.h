// The calls that have a contract, with what arrived at each: one record for a call in a context, the last
// that was made. Products of matrices that are not known to be part of attention are kept apart, until a
// softmax of what they gave goes into another product.
#pragma once

#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "analyzer/flow/engine/sink_record.h"
#include "analyzer/flow/values/symbols.h"

namespace dtype_guard::flow {

class SinkRecords {
 public:
  void add(SinkRecord record);
  void add_other_product(SinkRecord record);
  // The marks of products whose softmax went into another product.
  void note_attention(SymbolSetId marks, SymbolSets& symbols);
  SymbolSetId marks_of_attention() const { return marks_of_attention_; }
  // In the order of the source; of the other products those that `begins_attention`.
  std::vector<SinkRecord> all(const std::function<bool(const SinkRecord&)>& begins_attention) const;

 private:
  using Place = std::pair<ContextId, const Instruction*>;
  std::map<Place, SinkRecord> records_, other_products_;
  SymbolSetId marks_of_attention_ = 0;
};

}  // namespace dtype_guard::flow
