#include "analyzer/flow/engine/sink_records.h"

#include <algorithm>
#include <tuple>

#include "analyzer/flow/engine/uses_of_layers.h"
#include "rules/contracts/roles.h"

namespace dtype_guard::flow {

bool is_known(const SinkOperand& operand) {
  const auto known = [](const Alternative& each) {
    return each.kind == Alternative::Kind::kNone ||
           (each.kind == Alternative::Kind::kTensor && each.dtype != Dtype::kUndefined);
  };
  return !operand.alternatives.empty() &&
         std::all_of(operand.alternatives.begin(), operand.alternatives.end(), known);
}

void SinkRecords::add(SinkRecord record) {
  const Place place(record.context, record.instruction);
  records_.insert_or_assign(place, std::move(record));
}

void SinkRecords::add_other_product(SinkRecord record) {
  const Place place(record.context, record.instruction);
  other_products_.insert_or_assign(place, std::move(record));
}

void SinkRecords::add_store(SinkRecord record) {
  const Place place(record.context, record.instruction);
  stores_.insert_or_assign(place, std::move(record));
}

void SinkRecords::add(const SinkRecords& others, SymbolSets& symbols) {
  records_.insert(others.records_.begin(), others.records_.end());
  other_products_.insert(others.other_products_.begin(), others.other_products_.end());
  stores_.insert(others.stores_.begin(), others.stores_.end());
  guessed_.insert(others.guessed_.begin(), others.guessed_.end());
  note_attention(others.marks_of_attention_, symbols);
  note_layer(others.marks_of_layers_, symbols);
}

void SinkRecords::forget(ContextId context, const Instruction& instruction) {
  records_.erase({context, &instruction});
}

void SinkRecords::note_guessed(ContextId context, const Instruction* check, const Guards& guards,
                               bool is_repeated) {
  guessed_.insert_or_assign(Place(context, check), Guessed{guards, is_repeated});
}

// A run takes one way of a branch only, but for a branch that it comes to again.
bool SinkRecords::Guessed::excludes(const Guards& others) const {
  const auto are_opposite = [](const Guard& a, const Guard& b) {
    return a.context == b.context && a.block == b.block && a.taken != b.taken && !a.on_some_ways &&
           !b.on_some_ways && !a.leaves_a_loop && !b.leaves_a_loop;
  };
  return !is_repeated && std::any_of(guards.begin(), guards.end(), [&](const Guard& mine) {
    return std::any_of(others.begin(), others.end(),
                       [&](const Guard& other) { return are_opposite(mine, other); });
  });
}

void SinkRecords::note_layer(SymbolSetId mark, SymbolSets& symbols) {
  marks_of_layers_ = symbols.unite(marks_of_layers_, mark);
}

void SinkRecords::note_attention(SymbolSetId marks, SymbolSets& symbols) {
  marks_of_attention_ = symbols.unite(marks_of_attention_, marks);
}

namespace {
// Whether something that carries the mark arrived at one of the calls, in what is wanted of it.
template <typename Wanted>
bool arrives(SymbolSets::Symbol mark, const std::vector<SinkRecord>& calls, const SymbolSets& symbols,
             const Wanted& wanted) {
  return std::any_of(calls.begin(), calls.end(), [&](const SinkRecord& call) {
    return std::any_of(call.operands.begin(), call.operands.end(), [&](const SinkOperand& operand) {
      return wanted(operand) &&
             std::any_of(operand.alternatives.begin(), operand.alternatives.end(),
                         [&](const Alternative& each) { return symbols.has(each.products, mark); });
    });
  });
}
}  // namespace

std::vector<SinkRecord> SinkRecords::all(const SymbolSets& symbols, const MarkOf& mark) const {
  std::vector<SinkRecord> out;
  for (const auto& [where, record] : records_) out.push_back(record);
  for (const auto& [where, record] : other_products_) {
    const auto own = records_.contains(where) ? std::nullopt : mark(record);
    if (own && symbols.has(marks_of_attention_, *own)) out.push_back(record);
  }
  const auto is_mask = [](const SinkOperand& each) { return role_kind(each.role) == RoleKind::kMask; };
  std::vector<MarkedLayer> layers;
  for (SinkRecord& record : out) {
    const auto own = record.place == SinkPlace::kLayer ? mark(record) : std::nullopt;
    record.makes_bias =
        own && (symbols.has(marks_of_attention_, *own) || arrives(*own, out, symbols, is_mask));
    if (own) layers.push_back({&record, *own});
  }
  note_layers_that_must_suit(layers, out, symbols);
  const auto any = [](const SinkOperand&) { return true; };
  const bool has_calls = std::any_of(out.begin(), out.end(),
                                     [](const SinkRecord& each) { return each.place == SinkPlace::kCall; });
  std::vector<SinkRecord> stores;
  for (const auto& [where, record] : stores_) {
    const auto own = mark(record);
    const bool is_seen = own && arrives(*own, out, symbols, any);
    if (!is_seen && !has_calls) continue;
    stores.push_back(record);
    if (!is_seen) stores.back().place = SinkPlace::kOtherStore;
  }
  out.insert(out.end(), stores.begin(), stores.end());
  for (SinkRecord& record : out) {
    record.others_are_guessed =
        record.others_are_guessed || std::any_of(guessed_.begin(), guessed_.end(), [&](const auto& each) {
          return !each.second.excludes(record.guards);
        });
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
