// The calls that have a contract, with what arrived at each: one record for a call in a context, the last
// that was made. Kept apart are products of matrices that are not known to be part of attention, until a
// softmax of what they gave goes into another product, and stores, until what they wrote arrives at one of
// the calls.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "analyzer/flow/engine/sink_record.h"
#include "analyzer/flow/values/symbols.h"

namespace dtype_guard::flow {

class SinkRecords {
 public:
  void add(SinkRecord record);
  void add_other_product(SinkRecord record);
  void add_store(SinkRecord record);
  void add(const SinkRecords& others, SymbolSets& symbols);
  // Of a check that passes after all, or a value that leaves as it came.
  void forget(ContextId context, const Instruction& instruction);
  // What a check said of an input holds before the check as well: that inputs are guessed is so at the calls
  // which a run may have passed on its way to the check.
  void note_guessed(ContextId context, const Instruction* check, const Guards& guards, bool is_repeated);
  // Of layers that may refuse their input; they pass through other layers.
  void note_layer(SymbolSetId mark, SymbolSets& symbols);
  SymbolSetId marks_of_layers() const { return marks_of_layers_; }
  // The marks of products whose softmax went into another product.
  void note_attention(SymbolSetId marks, SymbolSets& symbols);
  // In the order of the source. `mark` is that of a product's or store's result.
  using MarkOf = std::function<std::optional<SymbolSets::Symbol>(const SinkRecord&)>;
  std::vector<SinkRecord> all(const SymbolSets& symbols, const MarkOf& mark) const;

 private:
  using Place = std::pair<ContextId, const Instruction*>;
  struct Guessed {
    Guards guards;  // on the way to the check
    bool is_repeated = false;
    bool excludes(const Guards& others) const;
  };
  std::map<Place, SinkRecord> records_, other_products_, stores_;
  std::map<Place, Guessed> guessed_;
  SymbolSetId marks_of_attention_ = 0, marks_of_layers_ = 0;
};

}  // namespace dtype_guard::flow
