#include "tests/oracle/statements.h"

namespace dtype_guard::oracle {
namespace {
using flow::Op;
using flow::ValueId;
}  // namespace

void Program::begin() {
  for (int i = 0; i < 2; ++i) writer_.store(writer_.variable(Type::kTensor), tensor());
  if (random_.one_in(3)) writer_.store(writer_.variable(Type::kObject), holder());
  if (recipe_.shape == Shape::kStraight) return;
  if (random_.one_in(2)) writer_.store(writer_.variable(Type::kBool), atom());
  if (random_.one_in(4)) writer_.store(writer_.variable(Type::kDtype), dtype());
}

void Program::statements(int count, int depth) {
  for (int i = 0; i < count; ++i) statement(depth);
}

void Program::statement(int depth) {
  const bool may_nest = depth < recipe_.most_depth;
  if (recipe_.is_rare && random_.one_in(2)) return rare(depth);
  if (self_ && random_.one_in(4)) return member();
  if (recipe_.promotes && random_.one_in(2))
    return may_nest && recipe_.shape != Shape::kStraight && random_.one_in(2) ? guarded() : promotion();
  switch (random_.below(recipe_.shape == Shape::kStraight    ? 12
                        : recipe_.shape == Shape::kBranching ? 20
                                                             : 26)) {
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
      return may_nest ? either(depth) : assign();
    case 20:
    case 21:
      return may_nest && atoms_.take() ? loop(depth) : assign();
    case 22:
    case 23:
      return atoms_.take() ? call_unknown() : assign();
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
  const ValueId given = type == Type::kTensor   ? (random_.one_in(2) ? operation() : tensor())
                        : type == Type::kObject ? holder()
                        : type == Type::kBool
                            ? (recipe_.shape == Shape::kStraight ? writer_.constant(true) : condition())
                            : dtype();
  writer_.store(place_of(variable), given);
}

// A half tensor with a table that was made in float32, and the call that gets what comes of it.
void Program::promotion() {
  constexpr const char* kNames[] = {"mul", "add", "sub", "div"};
  const ValueId half = tensor();
  const ValueId wide = writer_.value(Type::kTensor, Op::kOperator, "ones", {{"", shape()}});
  const ValueId out =
      writer_.value(Type::kTensor, Op::kOperator, random_.of(kNames), {{"", half}, {"", wide}});
  if (random_.one_in(2)) return;
  const char* api = random_.one_in(3) ? "sdpa" : "flash";
  writer_.value(Type::kTensor, Op::kSink, api,
                {{"q", random_.one_in(2) ? out : half}, {"k", out}, {"v", random_.one_in(2) ? out : half}});
}

// What is widened under one question goes to a call under another, which may exclude the first, or ask for
// the dtype.
void Program::guarded() {
  const auto [type, variable] = writer_.variables[random_.below(2)];
  const ValueId number = writer_.some(Type::kInteger);
  const auto asked = [&] {
    constexpr const char* kComparisons[] = {"eq", "lt", "ge", "ne"};
    if (!number || random_.one_in(3)) return condition();
    const ValueId limit = writer_.constant(static_cast<std::int64_t>(random_.below(3)));
    return writer_.value(Type::kBool, Op::kOperator, random_.of(kComparisons), {{"", number}, {"", limit}});
  };
  const auto under = [&](ValueId question, const auto& statement) {
    const flow::BlockId yes = writer_.new_block(), after = writer_.new_block();
    writer_.branch(question, yes, after);
    const std::size_t scope = writer_.scope();
    writer_.go_on_in(yes);
    statement();
    writer_.jump(after);
    writer_.leave(scope);
    writer_.go_on_in(after);
  };
  under(asked(), [&] {
    const ValueId half = writer_.load(Type::kTensor, place_of(variable));
    const ValueId wide = writer_.value(Type::kTensor, Op::kOperator, "ones", {{"", shape()}});
    writer_.store(place_of(variable),
                  writer_.value(Type::kTensor, Op::kOperator, "mul", {{"", half}, {"", wide}}));
  });
  const ValueId out = writer_.load(Type::kTensor, place_of(variable));
  const ValueId own = writer_.value(Type::kDtype, Op::kDtypeOf, {}, {{"", out}});
  const bool asks_dtype = random_.one_in(3);
  const ValueId second = asks_dtype
                             ? writer_.value(Type::kBool, Op::kOperator, random_.one_in(2) ? "eq" : "ne",
                                             {{"", own}, {"", dtype()}})
                             : asked();
  under(second, [&] {
    writer_.value(Type::kTensor, Op::kSink, "flash", {{"q", out}, {"k", out}, {"v", out}});
  });
}

// One of its own block, so that it is there only where that is run.
ValueId Program::arm(Type type) {
  if (type == Type::kTensor && random_.one_in(2)) return operation();
  const auto [reference, variable] = writer_.variables[random_.below(2)];
  const ValueId there = type == Type::kTensor      ? tensor()
                        : type == Type::kObject    ? holder()
                        : type == Type::kList      ? list_of_tensors()
                        : type == Type::kReference ? writer_.address(place_of(variable))
                        : type == Type::kLayer     ? layer()
                        : type == Type::kReceiver
                            ? (random_.one_in(6) ? writer_.constant(flow::None{}) : receiver())
                        : type == Type::kDictionary ? dictionary()
                        : type == Type::kText       ? text()
                                                    : dtype();
  const ValueId out = writer_.value(type, Op::kCopy, {}, {{"", there}});
  if (receivers_.contains(there)) receivers_[out] = receivers_[there];
  return out;
}

// The value of `f ? a : b`, or of `a or b`, whose first part was there before the branch. What is written
// through one of several things may be seen in each of them.
void Program::either(int depth) {
  constexpr Type kTypes[] = {Type::kTensor, Type::kTensor, Type::kObject,
                             Type::kList,   Type::kDtype,  Type::kReference};
  constexpr Type kRareTypes[] = {Type::kLayer, Type::kReceiver, Type::kDictionary, Type::kText};
  const bool is_rare = recipe_.is_rare && random_.one_in(2);
  const Type type = is_rare ? random_.of(kRareTypes) : random_.of(kTypes);
  const bool is_or = random_.one_in(4);
  ValueId first = is_or ? arm(type) : 0;
  const ValueId asked = condition();
  const flow::BlockId yes = is_or ? 0 : writer_.new_block(), no = writer_.new_block();
  const flow::BlockId after = writer_.new_block();
  writer_.branch(asked, is_or ? after : yes, no);
  const std::size_t scope = writer_.scope();
  const auto one = [&](flow::BlockId block) {
    writer_.go_on_in(block);
    if (random_.one_in(4)) statement(depth + 1);
    const ValueId out = arm(type);
    writer_.jump(after);
    writer_.leave(scope);
    return out;
  };
  if (!is_or) first = one(yes);
  const ValueId second = one(no);
  writer_.go_on_in(after);
  const ValueId out = writer_.value(type, Op::kPhi, {}, {{"", first}, {"", second}});
  const auto base = receivers_.find(first), other = receivers_.find(second);
  const bool has_base = base != receivers_.end() && other != receivers_.end();
  if (has_base && base->second == other->second) receivers_[out] = std::string(base->second);
  if (type == Type::kObject || type == Type::kList || type == Type::kReference) through(type, out);
  if (type == Type::kLayer) run_layer(out);
  if (type == Type::kReceiver) run_method(out);
  if (type == Type::kDictionary || type == Type::kText) keyed();
}

void Program::through(Type type, ValueId one) {
  const auto place = [&](ValueId of) {
    flow::Place behind;
    behind.base = of;
    return type == Type::kObject ? field_of(of, random_.one_in(2) ? "a" : "b")
           : type == Type::kList ? cell_of(of, flow::Place::Step::Kind::kCell)
                                 : behind;
  };
  if (!random_.one_in(3)) writer_.store(place(one), tensor());
  writer_.load(Type::kTensor, place(random_.one_in(2) ? one : writer_.some(type)));
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
