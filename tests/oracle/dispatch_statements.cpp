// Statements of generated programs whose callee, or the way that goes on, is decided where they run: by the
// class of an object, by what a field holds, by what throws.
#include "tests/oracle/receivers.h"
#include "tests/oracle/statements.h"

namespace dtype_guard::oracle {
namespace {
using flow::Op;
using flow::ValueId;
constexpr const char* kHook = "hook";  // a field that holds a function

const char* base_of(const char* receiver) { return receiver == kReceivers[2] ? kReceivers[0] : receiver; }
}  // namespace

ValueId Program::receiver() {
  const ValueId there = writer_.some(Type::kReceiver);
  if (there && !random_.one_in(3)) return there;
  const char* type = random_.of(kReceivers);
  const ValueId out = writer_.value(Type::kReceiver, Op::kObject, type);
  receivers_[out] = base_of(type);
  writer_.store(field_of(out, kHeld), tensor());
  return out;
}

void Program::run_method(ValueId object) {
  const std::string method = random_.of(kMethods);
  const ValueId given = tensor();
  Args args = {{"", object}, {random_.one_in(4) ? "x" : "", given}};
  std::string name(flow::kAttributeCall);
  const auto base = receivers_.find(object);
  if (base != receivers_.end() && random_.one_in(3)) {  // as C++ has it: of a known base, all by position
    name = std::string(flow::kVirtualCall) + method + "::" + base->second + "_" + method;
    args[1].name.clear();
    if (method == kWithFlag) args.push_back({"", writer_.constant(random_.one_in(2))});
  } else {
    name += random_.one_in(4) ? "__call__" : method;
  }
  writer_.value(Type::kTensor, Op::kCall, std::move(name), std::move(args));
}

void Program::dispatched() {
  const ValueId object = receiver();
  const bool has_lambda = !callees_.empty() && callees_.front().is_lambda && !callees_.front().has_flag;
  if (!has_lambda || !random_.one_in(3)) return run_method(object);
  // A function that a field holds, by the name of the field or as what it is.
  const ValueId held = tensor();
  const ValueId closure =
      writer_.value(Type::kState, Op::kClosure, callees_.front().key, {{"captured", held}});
  const ValueId given = tensor();
  if (random_.one_in(2)) {
    writer_.store(field_of(object, kHook), closure);
    writer_.value(Type::kTensor, Op::kCall, std::string(flow::kAttributeCall) + kHook,
                  {{"", object}, {"", given}});
  } else {
    writer_.value(Type::kTensor, Op::kCall, std::string(flow::kAttributeCall) + "__call__",
                  {{"", closure}, {"", given}});
  }
}

// By position, by name, and what a list or a dictionary holds.
void Program::gathered() {
  const ValueId first = tensor();
  Args args = {{"", first}};
  if (random_.one_in(2)) args.push_back({"", tensor()});
  if (random_.one_in(2)) args.push_back({"*", list_of_tensors()});
  if (random_.one_in(3)) {
    args.push_back({random_.one_in(2) ? kHeld : "b", tensor()});
  } else if (random_.one_in(2)) {
    args.push_back({"**", dictionary()});
  }
  writer_.value(Type::kTensor, Op::kCall, kGather, std::move(args));
}

// A cast whose result is not used, or no cast.
void Program::discarded() {
  const ValueId given = random_.one_in(3) ? tensor() : converted();
  writer_.add(Op::kDiscard, {}, {{"", given}});
}

// What stands in the handler is done in place of what throws, or after a part of it.
void Program::attempt(int depth) {
  const ValueId throws = writer_.value(Type::kState, Op::kOperator, std::string(flow::kMayThrow));
  const flow::BlockId handler = writer_.new_block(), body = writer_.new_block(), after = writer_.new_block();
  writer_.branch(throws, handler, body);
  const std::size_t scope = writer_.scope();
  for (const flow::BlockId each : {body, handler}) {
    writer_.go_on_in(each);
    statements(1 + static_cast<int>(random_.below(2)), depth + 1);
    if (random_.one_in(2)) assign();
    writer_.jump(after);
    writer_.leave(scope);
  }
  writer_.go_on_in(after);
  writer_.load(writer_.variables[0].first, place_of(writer_.variables[0].second));
}

// A loop that is taken to run: its condition holds at first.
void Program::entered_loop(int depth) {
  const ValueId holds = condition();
  const flow::BlockId body = writer_.new_block(), after = writer_.new_block();
  const ValueId entered =
      writer_.value(Type::kState, Op::kOperator, std::string(flow::kLoopEntered), {{"", holds}});
  writer_.branch(entered, body, after);
  const std::size_t scope = writer_.scope();
  writer_.go_on_in(body);
  statements(1 + static_cast<int>(random_.below(2)), depth + 1);
  assign();
  const ValueId more = writer_.value(Type::kBool, Op::kOperator, std::string(flow::kMoreElements));
  writer_.branch(more, body, after);
  writer_.leave(scope);
  writer_.go_on_in(after);
  writer_.load(writer_.variables[0].first, place_of(writer_.variables[0].second));
}

void Program::rare(int depth) {
  const bool may_nest = depth < recipe_.most_depth;
  switch (random_.below(recipe_.shape == Shape::kStraight    ? 10
                        : recipe_.shape == Shape::kBranching ? 12
                                                             : 15)) {
    case 0:
    case 1:
    case 2:
      return library();
    case 3:
    case 4:
    case 5:
      return keyed();
    case 6:
      return dispatched();
    case 7:
      return gathered();
    case 8:
      return discarded();
    case 9:
      return part();
    case 10:
    case 11:
      return may_nest ? either(depth) : keyed();
    case 12:
      return may_nest && atoms_.take() ? attempt(depth) : keyed();
    case 13:
      return may_nest && atoms_.take() ? entered_loop(depth) : keyed();
    default:
      if (!atoms_.take()) return keyed();
      writer_.offer(Type::kTensor, writer_.constant(flow::Unknown{}));
  }
}

}  // namespace dtype_guard::oracle
