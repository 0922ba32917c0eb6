#include "tests/oracle/statements.h"

namespace dtype_guard::oracle {
namespace {
using flow::Op;
using flow::ValueId;
}  // namespace

void Program::begin() {
  for (int i = 0; i < 2; ++i) writer_.store(writer_.variable(Type::kTensor), tensor());
  if (recipe_.shape == Shape::kStraight) return;
  if (random_.one_in(2)) writer_.store(writer_.variable(Type::kBool), atom());
  if (random_.one_in(4)) writer_.store(writer_.variable(Type::kDtype), dtype());
}

void Program::statements(int count, int depth) {
  for (int i = 0; i < count; ++i) statement(depth);
}

void Program::statement(int depth) {
  const bool may_nest = depth < recipe_.most_depth;
  switch (random_.below(recipe_.shape == Shape::kStraight    ? 12
                        : recipe_.shape == Shape::kBranching ? 18
                                                             : 24)) {
    case 0:
    case 1:
    case 2:
      operation();
      return;
    case 3:
      converted();
      return;
    case 4:
      return assign();
    case 5:
      return call();
    case 6:
      return list();
    case 7:
      return random_.one_in(2) ? object() : buffer();
    case 8:
      return random_.one_in(2) ? reference() : in_place();
    case 9:
      return may_nest ? autocast(depth) : assign();
    case 10:
      return random_.one_in(3) ? default_dtype() : module_object();
    case 11:
      return random_.one_in(3) ? sink() : assign();
    case 12:
    case 13:
    case 14:
    case 15:
      return may_nest ? choose(depth) : assign();
    case 16:
      return check();
    case 17:
      return assign();
    case 18:
    case 19:
      return may_nest ? loop(depth) : assign();
    case 20:
    case 21:
      return call_unknown();
    default:
      return may_nest ? choose(depth) : assign();
  }
}

void Program::assign() {
  const auto [type, variable] = random_.of(writer_.variables);
  if (random_.one_in(2)) {
    writer_.load(type, place_of(variable));
    return;
  }
  const ValueId given = type == Type::kTensor ? (random_.one_in(2) ? operation() : tensor())
                        : type == Type::kBool
                            ? (recipe_.shape == Shape::kStraight ? writer_.constant(true) : condition())
                            : dtype();
  writer_.store(place_of(variable), given);
}

// Both arms store the same variable, or one of them ends the function.
void Program::choose(int depth) {
  const ValueId asked = condition();
  const flow::BlockId yes = writer_.new_block(), no = writer_.new_block(), after = writer_.new_block();
  writer_.branch(asked, yes, no);
  const std::size_t scope = writer_.scope();
  const bool ends = random_.one_in(12);
  for (const flow::BlockId arm : {yes, no}) {
    writer_.go_on_in(arm);
    if (arm == yes || random_.one_in(2)) {
      statements(1 + static_cast<int>(random_.below(2)), depth + 1);
      if (random_.one_in(2)) assign();
    }
    if (arm == yes && ends) {
      writer_.add(Op::kUnreachable);
    } else {
      writer_.jump(after);
    }
    writer_.leave(scope);
  }
  writer_.go_on_in(after);
  writer_.load(writer_.variables[0].first, place_of(writer_.variables[0].second));
}

void Program::loop(int depth) {
  const flow::BlockId head = writer_.new_block(), body = writer_.new_block(), after = writer_.new_block();
  writer_.jump(head);
  writer_.go_on_in(head);
  const std::size_t scope = writer_.scope();
  const ValueId more = writer_.value(Type::kBool, Op::kOperator, std::string(flow::kMoreElements));
  writer_.leave(scope);
  writer_.branch(more, body, after);
  writer_.go_on_in(body);
  statements(1 + static_cast<int>(random_.below(2)), depth + 1);
  assign();
  writer_.leave(scope);
  writer_.jump(random_.one_in(3) ? after : head);
  writer_.go_on_in(after);
  writer_.load(writer_.variables[0].first, place_of(writer_.variables[0].second));
}

void Program::call() {
  if (callees_.empty()) return assign();
  const Callee& callee = random_.of(callees_);
  Args args;
  if (callee.is_lambda)
    args.push_back({"", writer_.value(Type::kState, Op::kClosure, callee.key, {{"captured", tensor()}})});
  args.push_back({"", callee.by_reference
                          ? writer_.address(place_of(writer_.variables[random_.below(2)].second))
                          : tensor()});
  if (callee.has_flag)
    args.push_back({"", recipe_.shape == Shape::kStraight ? writer_.constant(true) : condition()});
  writer_.value(Type::kTensor, Op::kCall, callee.is_lambda ? "" : callee.key, std::move(args));
}

}  // namespace dtype_guard::oracle
