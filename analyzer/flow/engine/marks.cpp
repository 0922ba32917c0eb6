// What the rules want to know beyond dtypes: steps that a value passed through and that mean something to
// one of them, and the checks of a dtype that were passed on the way.
#include <algorithm>

#include "analyzer/flow/engine/engine.h"

namespace dtype_guard::flow {
namespace {
using Kind = Alternative::Kind;

bool is_known_tensor(const Alternative& each) {
  return each.kind == Kind::kTensor && each.dtype != Dtype::kUndefined;
}

// What the instruction casts its first argument for: a cast, or an operator such as `to` or `half`.
bool is_cast(const Instruction& instruction) {
  if (instruction.args.empty()) return false;
  if (instruction.op == Op::kCast) return true;
  const Operator* op = instruction.op == Op::kOperator ? find_operator(instruction.name) : nullptr;
  return op && op->result == ResultRule::kCast && !op->in_place;
}

// Enough for any function that people write; generated ones must not make every state long.
constexpr std::size_t kMaxTests = 64;
void add(State& state, const PassedTest& test) {
  const auto at = std::lower_bound(state.tests.begin(), state.tests.end(), test);
  const bool known = at != state.tests.end() && !(test < *at);
  if (!known && state.tests.size() < kMaxTests) state.tests.insert(at, test);
}

bool reaches(const Function& function, BlockId from, BlockId to, BlockId without) {
  std::vector<bool> seen(function.blocks.size());
  std::vector<BlockId> work = {from};
  while (!work.empty()) {
    const BlockId block = work.back();
    work.pop_back();
    if (block >= seen.size() || block == without || seen[block]) continue;
    if (block == to) return true;
    seen[block] = true;
    const auto& instructions = function.blocks[block].instructions;
    if (instructions.empty()) continue;
    work.insert(work.end(), instructions.back().targets.begin(), instructions.back().targets.end());
  }
  return false;
}
}  // namespace

// What a handle or a reference to a tensor leads to; another value as it is.
Value Engine::shared_contents(const State& state, const Value& given) const {
  const Alternative* one = given.single();
  if (!one || (one->kind != Kind::kHandle && one->kind != Kind::kReference)) return given;
  const HeapObject* object = state.find(one->object);
  if (!object) return given;
  const auto cell = object->cells.find(one->kind == Kind::kHandle ? HeapObject::kContents : one->key);
  return cell == object->cells.end() ? given : cell->second;
}

namespace {
// Tensors of a known dtype among these, each place once.
std::vector<Alternative> known_tensors(const std::vector<Value>& elements) {
  std::vector<Alternative> out;
  for (const Value& element : elements) {
    for (const Alternative& each : element) {
      const auto is_same = [&](const Alternative& other) { return same_place_in_order(each, other); };
      if (is_known_tensor(each) && std::none_of(out.begin(), out.end(), is_same)) out.push_back(each);
    }
  }
  return out;
}

// With what came from where one of these did, whatever it has met since, no longer certain.
std::optional<Value> doubted(const Value& value, const std::vector<Alternative>& tensors) {
  const auto is_one = [&](const Alternative& each) {
    return is_known_tensor(each) && !each.uncertain &&
           std::any_of(tensors.begin(), tensors.end(),
                       [&](const Alternative& other) { return same_place_in_order(each, other); });
  };
  if (std::none_of(value.begin(), value.end(), is_one)) return std::nullopt;
  return weakened(value);
}
}  // namespace

// `for (t : {q, k, v}) if (!is_half(t)) return false;`: which of them was asked is not known, and what comes
// behind is not known to come with one that is not.
void Engine::doubt_elements(State& state, const std::vector<Value>& elements) {
  const std::vector<Alternative> tensors = known_tensors(elements);
  if (tensors.empty()) return;
  std::vector<std::pair<std::size_t, Value>> values;
  state.values.visit_where([](const NoSummary&) { return true; },
                           [&](std::size_t id, const Value& each) {
                             if (auto out = doubted(each, tensors)) values.emplace_back(id, *out);
                             return true;
                           });
  for (const auto& [id, value] : values) state.values.change(id) = value;
  std::vector<std::tuple<HeapId, Key, Value>> cells;
  state.heap.visit_where([](const HeldValues&) { return true; },
                         [&](std::size_t id, const HeapPointer& object) {
                           if (!object) return true;
                           for (const auto& [key, cell] : object->cells) {
                             if (auto out = doubted(cell, tensors))
                               cells.emplace_back(static_cast<HeapId>(id), key, *out);
                           }
                           return true;
                         });
  for (const auto& [id, key, value] : cells) state.change(id).cells[key] = value;
}

// Of what an undecided condition was computed from: one of a list, or a list that was handed to who asks.
void Engine::doubt_lists(const Activation& activation, State& state, ValueId condition, int depth) const {
  constexpr int kMaxParts = 6;
  const Instruction* definition = activation.info.definition(condition);
  const bool computes = definition && (definition->op == Op::kOperator || definition->op == Op::kCall ||
                                       definition->op == Op::kDtypeOf);
  if (!computes || depth > kMaxParts) return;
  // What asks of a list something else says nothing of its dtypes.
  const std::vector<std::uint32_t> callees = index_.may_run(*definition);
  const bool asks_dtype = std::any_of(callees.begin(), callees.end(), [&](std::uint32_t each) {
    return program_.questions.asks_for_dtypes(each);
  });
  for (const Argument& each : definition->args) {
    const Value asked = value(state, each.value);
    const Alternative* one = asked.single();
    const bool list = asks_dtype && one && one->kind == Kind::kObject;
    const HeapObject* object = list ? state.find(one->object) : nullptr;
    if (object && object->kind == HeapObject::Kind::kContainer) {
      std::vector<Value> all;
      for (const auto& [key, cell] : object->cells) all.push_back(cell);
      doubt_elements(state, all);
    }
    const auto elements = elements_.find(asked.address());
    if (elements != elements_.end()) doubt_elements(state, elements->second.second);
    doubt_lists(activation, state, each.value, depth + 1);
  }
}

void Engine::weaken(State& state, const Value& given) const {
  const Value contents = shared_contents(state, given);
  const bool tensor = std::any_of(contents.begin(), contents.end(), is_known_tensor);
  if (tensor) replace_everywhere(state, contents, weakened(contents));
}

// Whoever holds the tensor that was to be cast still holds it uncast; every such place remembers.
void Engine::discard(const Activation& activation, const Instruction& instruction, State& state) {
  if (instruction.args.empty()) return;
  const Instruction* cast = activation.info.definition(instruction.args[0].value);
  if (!cast || !is_cast(*cast)) return;
  const Alternatives results = tensors(state, argument(state, instruction, 0));
  if (results.empty() || !is_known_tensor(results.front())) return;
  const Dtype wanted = results.front().dtype;
  const bool agree = std::all_of(results.begin(), results.end(),
                                 [&](const Alternative& each) { return each.dtype == wanted; });
  if (!agree) return;
  const Value given = shared_contents(state, value(state, cast->args[0].value));
  Alternatives marked = given.alternatives();
  for (Alternative& each : marked) {
    if (!is_known_tensor(each) || each.dtype == wanted) continue;
    Step step{0, 0, activation.function, cast, "to", each.dtype, each.dtype, "this result is not used"};
    step.kind = Step::Kind::kDiscardedCast;
    step.other = wanted;
    each.trail = origins_.step(each.trail, each.origin, std::move(step));
  }
  replace_everywhere(state, given, Value(std::move(marked)));
}

// A tensor that a module's constructor keeps without registering it, and a dtype that is written into a
// descriptor.
Value Engine::stored(const Activation& activation, const Instruction& instruction, const Value& given) {
  const Place& place = instruction.place;
  const bool is_field = !place.path.empty() && place.path.back().kind == Place::Step::Kind::kField;
  if (!is_field) return given;
  const Function& code = activation.code;
  const bool own_member = code.of_module && code.kind == FunctionKind::kConstructor && place.base &&
                          place.path.size() == 1 && !activation.arguments.empty() &&
                          activation.info.definition(place.base) &&
                          activation.info.definition(place.base)->op == Op::kParam;
  const bool describes = place.path.back().field == "dtype";
  if (!own_member && !describes) return given;
  bool changed = false;
  Alternatives marked = given.alternatives();
  for (Alternative& each : marked) {
    const bool tensor = is_known_tensor(each) && is_floating(each.dtype) && !each.rank.wrapped;
    const bool dtype = each.kind == Kind::kDtype && each.dtype != Dtype::kUndefined && !each.trail;
    if (!(own_member && tensor) && !(describes && dtype)) continue;
    Step step{0, 0, activation.function, &instruction, "store", each.dtype, each.dtype, ""};
    step.kind = tensor ? Step::Kind::kPlainMember : Step::Kind::kDescribed;
    step.note = tensor ? "kept in the plain member '" + place.path.back().field + "'" : "described as this";
    each.trail = origins_.step(each.trail, each.origin, std::move(step));
    changed = true;
  }
  return changed ? Value(std::move(marked)) : given;
}

// The tensor behind a descriptor, or behind a pointer that was cast: `seen` is what the callee takes it for.
Alternative Engine::described(const Alternative& data, Alternative seen, std::uint32_t function,
                              const Instruction* by) {
  const bool stated = !data.assumed && !seen.assumed;
  const Origin* origin = origins_.find(data.origin);
  const bool promoted = origin && origin->kind == Origin::Kind::kPromotion;
  const bool lies = is_known_tensor(data) && is_floating(data.dtype) && is_floating(seen.dtype) &&
                    data.dtype != seen.dtype && !data.uncertain && !seen.uncertain && (stated || promoted);
  if (!lies || !by) return seen;
  Step step{0, 0, function, by, "describe", data.dtype, seen.dtype, "described as another dtype"};
  step.kind = Step::Kind::kDescribed;
  step.other = data.dtype;
  seen.origin = data.origin;
  seen.trail = origins_.step(data.trail, data.origin, std::move(step));
  seen.symbols = symbols_.unite(seen.symbols, data.symbols);
  return seen;
}

namespace {
// Memory of which nothing is known but where it is: malloc's, a workspace, a void pointer that was handed in.
bool is_untyped(const State& state, const Alternative& each) {
  if (each.kind == Kind::kUnknown) return true;
  const HeapObject* memory = each.kind == Kind::kHandle ? state.find(each.object) : nullptr;
  const auto cell = memory ? memory->cells.find(HeapObject::kContents) : Cells::const_iterator();
  return memory && memory->kind == HeapObject::Kind::kBuffer && cell != memory->cells.end() &&
         cell->second.single() && cell->second.single()->kind == Kind::kTensor &&
         cell->second.single()->dtype == Dtype::kUndefined;
}
}  // namespace

// q.data_ptr<T>() says what q holds; a cast of q.data_ptr() says what it is taken for. One of untyped memory
// makes it a buffer of that type: each cast its own, for parts of a workspace are of several types.
Value Engine::typed_pointer(const Activation& activation, const Instruction& instruction, State& state) {
  const Value* named_dtype = named(state, instruction, "dtype");
  const Alternative* stated = named_dtype ? named_dtype->single() : nullptr;
  if (!stated || stated->kind != Kind::kDtype) return argument(state, instruction, 0);
  const Value given = argument(state, instruction, 0);
  const bool plain = std::all_of(given.begin(), given.end(),
                                 [](const Alternative& each) { return each.kind == Kind::kTensor; });
  const bool checked = instruction.name != "pointer_cast";  // data_ptr<T>() throws for another dtype
  const auto untyped = [&](const Alternative& each) { return is_untyped(state, each); };
  if (!checked && stated->dtype != Dtype::kUndefined && std::all_of(given.begin(), given.end(), untyped)) {
    const Value contents(Alternative::tensor(stated->dtype, Rank::at_least(1)));
    const HeapId id = ids_.object(activation.context, &instruction);
    return shared_tensor(id, HeapObject::Kind::kBuffer, contents, state, true);
  }
  if (!checked && !plain) return given;  // memory keeps its identity
  Value out;
  for (const Alternative& each : tensors(state, given)) {
    const Origin* origin = each.kind == Kind::kTensor ? origins_.find(each.origin) : nullptr;
    const bool promoted = origin && origin->kind == Origin::Kind::kPromotion;
    Alternative seen = Alternative::tensor(stated->dtype, Rank::at_least(1));
    seen.symbols = each.symbols;
    if (each.kind == Kind::kNone) {
      seen = each;
    } else if (each.kind == Kind::kTensor && each.dtype == stated->dtype) {
      seen = each;
      seen.assumed = false;
    } else if (!checked) {
      seen = described(each, seen, activation.function, &instruction);
    } else if (each.kind == Kind::kTensor && each.dtype != Dtype::kUndefined && (!each.assumed || promoted)) {
      seen = each;
    }
    out = join(out, Value(seen), symbols_);
  }
  return out.is_bottom() ? Value::unknown() : out;
}

void Engine::note_tests(const Activation& activation, State& state, ValueId condition, bool wanted,
                        PassedTest test, int depth) const {
  const Instruction* definition = activation.info.definition(condition);
  constexpr int kMaxWalk = 16;
  if (!definition || depth > kMaxWalk) return;
  const auto again = [&](ValueId id, bool truth) {
    note_tests(activation, state, id, truth, test, depth + 1);
  };
  if (definition->op == Op::kLoad || definition->op == Op::kCopy) {
    const Alternative* one = value(state, condition).single();
    if (one && one->source && one->context == activation.context && one->source != condition) {
      again(one->source, wanted);
    }
    return;
  }
  if (definition->op != Op::kOperator || definition->args.empty()) return;
  const std::string& name = definition->name;
  if (name == "logical_not") return again(definition->args[0].value, !wanted);
  if ((name == "logical_and" && wanted) || (name == "logical_or" && !wanted)) {
    for (const Argument& each : definition->args) again(each.value, wanted);
  } else if (name == "logical_or" || name == "logical_and") {
    // x is half or x is bfloat16: one test of x when every part asks the same tensor.
    State parts;
    parts.values = state.values;
    for (const Argument& each : definition->args) {
      const std::size_t before = parts.tests.size();
      note_tests(activation, parts, each.value, wanted, test, depth + 1);
      if (parts.tests.size() != before + 1) return;
    }
    const Value& asked = value(state, parts.tests.front().tested);
    DtypeSet all;
    for (const PassedTest& each : parts.tests) {
      if (!value(state, each.tested).same(asked)) return;
      all = DtypeSet::from_bits(all.bits() | each.passes.bits());
    }
    test.tested = parts.tests.front().tested;
    test.passes = all;
    add(state, test);
  } else if ((name == "eq" || name == "ne") && definition->args.size() == 2) {
    for (const std::size_t side : {0U, 1U}) {
      const Alternative* asked = value(state, definition->args[side].value).single();
      const Alternative* named_one = value(state, definition->args[1 - side].value).single();
      const bool fits = asked && named_one && asked->kind == Kind::kDtype && asked->source &&
                        asked->context == activation.context && named_one->kind == Kind::kDtype &&
                        !named_one->source && named_one->dtype != Dtype::kUndefined;
      if (!fits) continue;
      test.tested = asked->source;
      const DtypeSet one = {named_one->dtype};
      test.passes = (name == "eq") == wanted ? one : DtypeSet::from_bits(~one.bits());
      add(state, test);
      return;
    }
  }
}

// Of a branch, only one that decides whether this point is reached at all.
std::vector<PassedTest> Engine::tests_before(const Activation& activation, const State& state) {
  std::vector<PassedTest> out;
  for (const PassedTest& each : state.tests) {
    const bool is_branch = each.test->op == Op::kBranch;
    bool decides = !is_branch;
    for (const Activation* at = &activation; is_branch && at; at = at->caller) {
      if (at->context != each.context) continue;
      decides = !reaches(at->code, each.otherwise, at->block, each.block);
      break;
    }
    if (decides) out.push_back(each);
  }
  return out;
}

}  // namespace dtype_guard::flow
