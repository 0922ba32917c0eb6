// What goes through the operator table and is watched like a call that has a contract: layers, stores, and
// attention that is written by hand.
#include <algorithm>

#include "analyzer/flow/engine/sinks/sinks.h"
#include "analyzer/flow/operators/contractions.h"
#include "analyzer/flow/operators/layers.h"
#include "analyzer/flow/operators/stores.h"
#include "rules/operators/library_names.h"

namespace dtype_guard::flow {
namespace {
using Kind = Alternative::Kind;

// The two of a product, without what is added to it.
std::vector<std::string_view> factors(const Operator& op) {
  std::vector<std::string_view> out(op.promoting.begin(), op.promoting.end());
  std::erase(out, summand_of(op.name));
  return out;
}

std::vector<std::string_view> roles_of(const Api& api) {
  std::vector<std::string_view> out;
  for (const Operand& each : api.operands) out.emplace_back(each.role);
  return out;
}

// There are many layers, and nearly all get what they take: those are not worth a record.
bool may_differ(const std::vector<Alternative>& a, const std::vector<Alternative>& b) {
  const auto is_floating_tensor = [](const Alternative& each) {
    return each.kind == Kind::kTensor && is_floating(each.dtype);
  };
  return std::any_of(a.begin(), a.end(), [&](const Alternative& one) {
    return is_floating_tensor(one) && std::any_of(b.begin(), b.end(), [&](const Alternative& other) {
             return is_floating_tensor(other) && other.dtype != one.dtype;
           });
  });
}

}  // namespace

// Where an index may be a mask, a source of one value on the CPU is filled in, whatever its dtype: that may
// be what has no dimensions, and what was made for the purpose. What may be no tensor may name a slice.
bool Sinks::may_take_any_dtype(const std::vector<Input>& inputs, std::string_view source) const {
  const auto is_tensor = [](const Alternative& each) { return each.kind == Kind::kTensor; };
  const auto is_integers = [](const Alternative& each) {
    return each.kind == Kind::kTensor && is_integral(each.dtype) && each.dtype != Dtype::kUInt8;
  };
  const auto is_made = [&](const Alternative& each) {
    const Origin* origin = origins_.find(each.origin);
    const Operator* op = origin ? find_operator(origin->op) : nullptr;
    const std::vector<const Step*> path = origins_.path(each.trail);
    return op && (op->result == ResultRule::kFactory || op->result == ResultRule::kFactoryFromValue) &&
           std::all_of(path.begin(), path.end(),
                       [&](const Step* step) { return step->instruction == origin->instruction; });
  };
  const auto is_large = [&](const Alternative& each) {
    return each.kind == Kind::kTensor && each.rank.min > 0 && !is_made(each);
  };
  bool may_be_mask = false, may_be_one = false;
  for (const Input& each : inputs) {
    const std::vector<Alternative>& all = each.alternatives;
    if (is_named(Named::kIndexOfStore, each.argument)) {
      if (!std::all_of(all.begin(), all.end(), is_tensor)) return true;
      may_be_mask = may_be_mask || !std::all_of(all.begin(), all.end(), is_integers);
    }
    if (each.argument == source) may_be_one = may_be_one || !std::all_of(all.begin(), all.end(), is_large);
  }
  return may_be_mask && may_be_one;
}

// Attention that is written by hand, among what goes through the operator table: products of matrices, and
// stores into what may be a cache.
void Sinks::record_operator(const Activation& activation, const Instruction& instruction, const Operator& op,
                            const std::vector<Input>& inputs, ContextId at, const State& state) {
  const Api* store = store_contract(op);
  const Api* layer = layer_contract(op);
  const Api* api = store ? store : layer ? layer : product_contract(op.name, instruction, activation.info);
  if (!api || is_contradicted(state)) return;
  const std::vector<std::string_view> watched = store || layer ? roles_of(*api) : factors(op);
  std::vector<const Input*> pair;
  for (const Input& each : inputs) {
    if (std::find(watched.begin(), watched.end(), each.argument) != watched.end()) pair.push_back(&each);
  }
  if (pair.size() != 2 || (store && may_take_any_dtype(inputs, watched.back()))) return;
  if (layer && !may_differ(pair[0]->alternatives, pair[1]->alternatives))
    return effects_.sinks().forget(at, instruction);
  std::uint8_t lineage = kNoLineage;
  for (const Input* each : pair) {
    for (const Alternative& one : each->alternatives) {
      lineage |= one.lineage;
      if (!store && (one.lineage & kScores)) effects_.sinks().note_attention(one.products, symbols_);
    }
  }
  SinkRecord record = record_of(*api, activation, instruction, state);
  record.context = at;
  for (std::size_t i = 0; i < pair.size(); ++i) {
    std::vector<Alternative> alternatives = arriving(pair[i]->alternatives, record.guards, symbols_);
    for (Alternative& each : alternatives) {
      if (each.kind != Kind::kTensor && each.kind != Kind::kNone) each.kind = Kind::kUnknown;
    }
    record.operands.push_back({api->operands[i].role, std::move(alternatives)});
  }
  if (store) {
    record.place = SinkPlace::kStore;
    effects_.sinks().add_store(std::move(record));
  } else if (layer) {
    record.place = SinkPlace::kLayer;
    effects_.sinks().note_layer(ids_.symbol(at, &instruction, kOperatorMark), symbols_);
    effects_.sinks().add(std::move(record));
  } else if (is_of_attention(lineage)) {
    effects_.sinks().add(std::move(record));
  } else {
    effects_.sinks().add_other_product(std::move(record));
  }
}

namespace {
// With the layer's own mark, and those of the layers before it.
Value marked_by_layers(const Value& result, const std::vector<Input>& inputs, SymbolSetId own,
                       SymbolSetId of_layers, SymbolSets& symbols) {
  SymbolSetId marks = own;
  for (const Input& input : inputs) {
    for (const Alternative& each : input.alternatives)
      marks = symbols.unite(marks, symbols.intersect(each.products, of_layers));
  }
  if (!marks) return result;
  std::vector<Alternative> all = result.alternatives();
  for (Alternative& each : all) each.products = symbols.unite(each.products, marks);
  return Value(std::move(all));
}

Value unmarked(const Value& result, SymbolSetId marks, SymbolSets& symbols) {
  std::vector<Alternative> all = result.alternatives();
  for (Alternative& each : all) each.products = symbols.without(each.products, marks);
  return Value(std::move(all));
}
}  // namespace

// What comes of a product or store carries its mark, by which it is known when it turns out to be part of
// attention. A product's own replaces what its inputs had. A cast takes what a layer gives whatever it is.
Value Sinks::marked(const Activation& activation, const Instruction& instruction, const Operator& op,
                    const std::vector<Input>& inputs, ContextId at, const Value& result) {
  if (layer_contract(op)) {
    const auto own = ids_.known_symbol(at, &instruction, kOperatorMark);
    const SymbolSetId mark = own ? symbols_.of(*own) : 0;
    return marked_by_layers(result, inputs, mark, effects_.sinks().marks_of_layers(), symbols_);
  }
  if (op.result == ResultRule::kCast) return unmarked(result, effects_.sinks().marks_of_layers(), symbols_);
  const bool store = store_contract(op) != nullptr;
  if (!store && !product_contract(op.name, instruction, activation.info)) return result;
  const SymbolSetId mark = ids_.symbol(activation.context, &instruction, kOperatorMark);
  std::vector<Alternative> all = result.alternatives();
  for (Alternative& each : all) {
    each.products = store ? symbols_.unite(each.products, mark) : mark;
    if (!store) each.lineage |= kProduct;  // also where it would throw
  }
  return Value(std::move(all));
}

}  // namespace dtype_guard::flow
