#include "analyzer/flow/program/demanded_dtype.h"

#include <algorithm>
#include <map>
#include <vector>

#include "analyzer/flow/program/consulted.h"

namespace dtype_guard::flow {
namespace {
// What the block that every call goes through says of one parameter.
class Demand {
 public:
  Demand(const Function& code, std::size_t parameter, DtypeSet accepted)
      : accepted_(accepted), parameter_(static_cast<std::int64_t>(parameter)) {
    for (const Instruction& each : code.blocks.front().instructions) look_at(each);
  }
  bool made() const { return made_; }

 private:
  enum class Part : std::uint8_t { kNone, kOperand, kItsDtype, kAccepted, kAsked };

  Part of(const Argument& argument) const { return look_up(values_, argument.value); }
  static Part look_up(const std::map<std::uint32_t, Part>& in, std::uint32_t id) {
    const auto found = in.find(id);
    return found == in.end() ? Part::kNone : found->second;
  }

  Part part(const Instruction& each) const {
    const bool variable = !each.place.base && each.place.path.empty();
    switch (each.op) {
      case Op::kParam: {
        const auto* position = std::get_if<std::int64_t>(&each.constant);
        return position && *position == parameter_ ? Part::kOperand : Part::kNone;
      }
      case Op::kConst: {
        const auto* dtype = std::get_if<Dtype>(&each.constant);
        return dtype && accepted_.contains(*dtype) ? Part::kAccepted : Part::kNone;
      }
      case Op::kLoad:
        return variable ? look_up(variables_, each.place.variable) : Part::kNone;
      case Op::kCopy:
        return of(each.args[0]);
      case Op::kDtypeOf:
        return of(each.args[0]) == Part::kOperand ? Part::kItsDtype : Part::kNone;
      case Op::kOperator:
        return each.args.size() == 2 ? question(each) : Part::kNone;
      default:
        return Part::kNone;
    }
  }
  Part question(const Instruction& each) const {
    const Part left = of(each.args[0]), right = of(each.args[1]);
    const bool dtypes = (left == Part::kItsDtype && right == Part::kAccepted) ||
                        (left == Part::kAccepted && right == Part::kItsDtype);
    const bool both = left == Part::kAsked && right == Part::kAsked;
    const bool one = left == Part::kAsked || right == Part::kAsked;
    const bool asked = (each.name == "eq" && dtypes) || (each.name == "logical_or" && both) ||
                       (each.name == "logical_and" && one);
    return asked ? Part::kAsked : Part::kNone;
  }

  void look_at(const Instruction& each) {
    if (each.op == Op::kStore && !each.place.base && each.place.path.empty())
      variables_[each.place.variable] = of(each.args[0]);
    if (each.op == Op::kAddress && !each.place.base)  // it may be changed through that
      variables_[each.place.variable] = Part::kNone;
    made_ = made_ || (each.op == Op::kAssume && of(each.args[0]) == Part::kAsked);
    if (each.result) values_[each.result] = part(each);
  }

  const DtypeSet accepted_;
  const std::int64_t parameter_;
  std::map<std::uint32_t, Part> values_;
  std::map<std::uint32_t, Part> variables_;
  bool made_ = false;
};
}  // namespace

bool demands(const FunctionIndex& index, const Instruction& call, std::size_t parameter, DtypeSet accepted) {
  const std::vector<std::uint32_t> bodies = index.may_run(call);
  return !bodies.empty() && std::all_of(bodies.begin(), bodies.end(), [&](std::uint32_t body) {
    Consulted::note_body(body);
    const Function& code = index.function(body);
    const std::size_t object = call.args.size() - std::min(call.args.size(), code.parameters.size());
    return Demand(code, parameter + object, accepted).made();
  });
}

}  // namespace dtype_guard::flow
