// Lambdas that escape: they are run some day, or never.
#include <algorithm>

#include "tests/oracle/interpreter/machine.h"

namespace dtype_guard::oracle {
namespace {
using flow::Op;
using Kind = Value::Kind;

bool uses(const Instruction& each, flow::ValueId value) {
  return each.place.base == value || std::any_of(each.args.begin(), each.args.end(),
                                                 [&](const auto& given) { return given.value == value; });
}
}  // namespace

bool Machine::is_closure(const Value& value) const {
  return value.is(Kind::kObject) && objects_[value.id].kind == Object::Kind::kClosure;
}

// What no instruction uses a front end lost sight of.
bool Machine::is_lost(const Function& code, const Instruction& made) {
  return std::none_of(code.blocks.begin(), code.blocks.end(), [&](const flow::Block& block) {
    return std::any_of(block.instructions.begin(), block.instructions.end(), [&](const Instruction& each) {
      const bool is_probe = each.op == Op::kSink && each.name == "probe";
      return !is_probe && uses(each, made.result);
    });
  });
}

// By code that is not there, with tensors of any dtype: the engine takes them for what the setting hands in.
// A thread of its own does not have the autocast of the one that made the lambda.
void Machine::run_some_day(const Value& closure) {
  const Function* body = find(objects_[closure.id].type.view());
  if (body && body->foreign) return;  // evaluated where it is called, and nowhere else
  if (!choices_.pick(2)) return;
  if (!body) throw Stop{End::kOpen, "no closure"};
  constexpr Dtype kDtypes[] = {Dtype::kFloat32, Dtype::kFloat16, Dtype::kBFloat16};
  std::vector<Value> arguments = {closure};
  for (const flow::Parameter& each : body->parameters) {
    const bool is_tensor = each.kind == flow::ParameterKind::kTensor;
    if (is_tensor && kDtypes[choices_.pick(std::size(kDtypes))] != world_.inputs)
      throw Stop{End::kAssumedAway, "a lambda that escapes is handed what the setting does not hand in"};
    arguments.push_back(input(each));
  }
  const auto autocast = autocast_;
  if (body->parameters.empty() && choices_.pick(2)) autocast_.front().second.on = false;
  const Instruction* const running = running_;
  call(*body, std::move(arguments));
  running_ = running;
  autocast_ = autocast;
}

}  // namespace dtype_guard::oracle
