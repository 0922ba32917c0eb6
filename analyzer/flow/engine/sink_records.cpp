#include "analyzer/flow/engine/sink_records.h"

#include <algorithm>
#include <tuple>

namespace dtype_guard::flow {

void SinkRecords::add(SinkRecord record) {
  const Place place(record.context, record.instruction);
  records_.insert_or_assign(place, std::move(record));
}

void SinkRecords::add_other_product(SinkRecord record) {
  const Place place(record.context, record.instruction);
  other_products_.insert_or_assign(place, std::move(record));
}

void SinkRecords::note_attention(SymbolSetId marks, SymbolSets& symbols) {
  marks_of_attention_ = symbols.unite(marks_of_attention_, marks);
}

std::vector<SinkRecord> SinkRecords::all(
    const std::function<bool(const SinkRecord&)>& begins_attention) const {
  std::vector<SinkRecord> out;
  for (const auto& [where, record] : records_) out.push_back(record);
  for (const auto& [where, record] : other_products_) {
    if (!records_.contains(where) && begins_attention(record)) out.push_back(record);
  }
  // Addresses order the map; the report must not depend on them.
  const auto place = [](const SinkRecord& each) {
    const SourceRange& range = each.instruction->range;
    return std::tuple(each.function, range.line, range.column, each.instruction->result, each.context);
  };
  std::sort(out.begin(), out.end(),
            [&](const SinkRecord& a, const SinkRecord& b) { return place(a) < place(b); });
  return out;
}

}  // namespace dtype_guard::flow
