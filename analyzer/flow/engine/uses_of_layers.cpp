#include "analyzer/flow/engine/uses_of_layers.h"

#include <algorithm>

#include "analyzer/flow/operators/contractions.h"
#include "rules/contracts/roles.h"

namespace dtype_guard::flow {
namespace {
bool is_wide(const Alternative& each) {
  return each.kind == Alternative::Kind::kTensor && is_floating(each.dtype) && !is_half(each.dtype);
}

// Of operands like these all must be of one dtype.
bool is_input(const SinkRecord& call, const SinkOperand& operand) {
  const bool is_one = role_kind(operand.role) == RoleKind::kInput || is_product(*call.api);
  return is_one && !operand.alternatives.empty();
}

template <typename Wanted>
bool all_of(const SinkOperand& operand, const Wanted& wanted) {
  return std::all_of(operand.alternatives.begin(), operand.alternatives.end(), wanted);
}

class Uses {
 public:
  Uses(const std::vector<MarkedLayer>& wide, const SymbolSets& symbols) : wide_(wide), symbols_(symbols) {}

  bool must_suit(SymbolSets::Symbol mark, const SinkRecord& call) const {
    const auto& all = call.operands;
    const bool arrives = std::any_of(all.begin(), all.end(), [&](const SinkOperand& operand) {
      return is_input(call, operand) &&
             all_of(operand, [&](const Alternative& each) { return symbols_.has(each.products, mark); });
    });
    return arrives && std::any_of(all.begin(), all.end(), [&](const SinkOperand& operand) {
             return is_input(call, operand) &&
                    all_of(operand, [&](const Alternative& each) { return is_half_beside(each); });
           });
  }

 private:
  // What a layer with a wide input gives is of the dtype that is in question.
  bool is_half_beside(const Alternative& each) const {
    if (each.kind != Alternative::Kind::kTensor || !is_half(each.dtype)) return false;
    return std::none_of(wide_.begin(), wide_.end(),
                        [&](const MarkedLayer& layer) { return symbols_.has(each.products, layer.mark); });
  }

  const std::vector<MarkedLayer>& wide_;
  const SymbolSets& symbols_;
};
}  // namespace

void note_layers_that_must_suit(std::vector<MarkedLayer> wide, const std::vector<SinkRecord>& calls,
                                const SymbolSets& symbols) {
  std::erase_if(wide, [](const MarkedLayer& layer) {
    const std::vector<Alternative>& given = layer.record->operands.front().alternatives;
    return std::none_of(given.begin(), given.end(), is_wide);
  });
  const Uses uses(wide, symbols);
  for (const MarkedLayer& layer : wide) {
    layer.record->must_suit = std::any_of(calls.begin(), calls.end(), [&](const SinkRecord& call) {
      // Under autocast the call makes its operands equal.
      return call.place == SinkPlace::kCall && !call.autocast.may_be_on && uses.must_suit(layer.mark, call);
    });
  }
}

}  // namespace dtype_guard::flow
