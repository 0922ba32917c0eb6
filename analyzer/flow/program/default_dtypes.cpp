#include "analyzer/flow/program/default_dtypes.h"

#include <map>
#include <variant>

#include "analyzer/flow/ir/module_code.h"
#include "analyzer/flow/program/run_behind.h"

namespace dtype_guard::flow {
namespace {

bool sets_another_for_good(const Function& function) {
  if (function.foreign || function.key.starts_with(kEntered)) return false;
  std::map<ValueId, const Instruction*> made;
  int sets = 0, others = 0;
  bool asks = false;
  for (const Block& block : function.blocks) {
    for (const Instruction& each : block.instructions) {
      if (each.result) made[each.result] = &each;
      asks = asks || (each.op == Op::kOperator && each.name == kDefaultDtype);
      if (each.op != Op::kSetDefaultDtype || each.args.empty()) continue;
      ++sets;
      const auto by = made.find(each.args[0].value);
      const Dtype* known = by == made.end() ? nullptr : std::get_if<Dtype>(&by->second->constant);
      if (!known || *known != Dtype::kFloat32) ++others;
    }
  }
  const bool restores = sets > 1 && (asks || others < sets);
  return others > 0 && !restores;
}

}  // namespace

std::vector<bool> DefaultDtypes::find() const {
  std::vector<std::uint32_t> setters;
  for (std::uint32_t i = 0; i < index_.module().functions.size(); ++i)
    if (sets_another_for_good(index_.function(i))) setters.push_back(i);
  return setters.empty() ? std::vector<bool>() : run_behind(index_, callers_, setters);
}

bool DefaultDtypes::may_differ_for(std::uint32_t function) const {
  if (!differ_) differ_ = find();
  return !differ_->empty() && (*differ_)[function];
}

}  // namespace dtype_guard::flow
