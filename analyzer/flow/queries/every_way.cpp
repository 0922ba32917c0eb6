// Where each of two operands is one thing only, on every way to the call, it does not matter what decided
// that it is.
#include <algorithm>

#include "analyzer/flow/queries/query.h"

namespace dtype_guard::flow {
namespace {
bool is_one(const SinkOperand& operand, const SinkRecord& record, const SymbolSets& symbols) {
  if (operand.alternatives.size() != 1) return false;
  const Alternative& only = operand.alternatives.front();
  return only.kind == Alternative::Kind::kTensor && only.dtype != Dtype::kUndefined && !only.uncertain &&
         !symbols.demands(only.symbols, Nature::kKeyword) &&
         relation(only.symbols, record.guards, symbols) < SymbolSets::Relation::kContradict;
}
}  // namespace

bool differs_on_every_way(const Defect& defect, const SymbolSets& symbols) {
  const bool rests_on_unknown = defect.origin && defect.origin->kind == Origin::Kind::kPromotion &&
                                defect.origin->before == Dtype::kUndefined;
  const auto differs = [&](const SinkOperand* other) {
    // Which half type it is, is the setting's choice.
    return is_one(*other, *defect.record, symbols) &&
           !(is_half(other->alternatives.front().dtype) && is_half(defect.alternative.dtype));
  };
  return !rests_on_unknown && is_one(*defect.arrived, *defect.record, symbols) &&
         std::any_of(defect.differs_from.begin(), defect.differs_from.end(), differs);
}

}  // namespace dtype_guard::flow
