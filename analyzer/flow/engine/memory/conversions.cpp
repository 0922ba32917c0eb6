// What code does to the tensors of modules: Module::to and set_data, and the lists that Module::parameters(),
// children() and their kin give.
#include "analyzer/flow/engine/memory/conversions.h"

#include <algorithm>

#include "analyzer/flow/engine/arguments.h"
#include "analyzer/flow/engine/held_values.h"
#include "analyzer/flow/state/as_made.h"
#include "rules/operators/library_names.h"

namespace dtype_guard::flow {
namespace {
using Kind = Alternative::Kind;
using Stands = HeapObject::Stands;

// `to` may take a device before the dtype, and whether it need not wait behind it.
constexpr std::size_t kMostArgumentsOfTo = 3;

std::optional<Registration::Kind> listed_kind(std::string_view list) {
  if (is_named(Named::kListsParameters, list)) return Registration::Kind::kParameter;
  if (is_named(Named::kListsBuffers, list)) return Registration::Kind::kBuffer;
  return std::nullopt;
}
}  // namespace

bool lists_parts(std::string_view name) {
  return listed_kind(name) || is_named(Named::kListsChildren, name) || is_named(Named::kListsModules, name);
}

// What Module::parameters(), buffers(), children() or modules() gives: an object that owns what they list,
// and whose any cell is itself, so that what a loop does to "each" is done to all. What is taken out of it by
// a name or an index is one of them, and which is not known.
Value Conversions::listed_parts(const Activation& activation, const Instruction& instruction, State& state) {
  const auto wanted = listed_kind(instruction.name);
  const bool all_modules = is_named(Named::kListsModules, instruction.name);
  Value owners = argument(state, instruction, 0);
  if (const Alternative* one = owners.single(); one && one->kind == Kind::kReference)
    owners = memory_.read(state, Location{one->object, one->key});
  // Whether what lies deeper counts; of modules(), whether the module itself does.
  const Value* flag = named(state, instruction, "flag");
  const std::optional<bool> stated = flag ? truth(*flag) : std::optional(true);
  const bool deep = all_modules || (wanted && stated.value_or(true));
  auto work = modules_of(state, owners);
  if (!work) return Value::unknown(ids_.symbol(activation.context, &instruction));
  const std::vector<HeapId> begun = *work;
  HeapObject all;
  const auto add = [&](Registration::Kind kind, const Value& value) {
    all.registered.change().push_back({kind, std::to_string(all.registered.size()), value});
  };
  std::vector<HeapId> seen;
  while (!work->empty()) {
    const HeapId id = work->back();
    work->pop_back();
    if (std::find(seen.begin(), seen.end(), id) != seen.end()) continue;
    seen.push_back(id);
    const bool first = std::find(begun.begin(), begun.end(), id) != begun.end();
    if (all_modules && (!first || stated.value_or(true)))
      add(Registration::Kind::kModule, Value(Alternative::at(Kind::kObject, id)));
    for (const Registration& each : state.find(id)->registered) {
      if (each.kind != Registration::Kind::kModule) {
        if (each.kind == wanted) add(each.kind, each.value);
        continue;
      }
      const auto below = modules_of(state, each.value);
      if (!below) return Value::unknown(ids_.symbol(activation.context, &instruction));
      if (deep) work->insert(work->end(), below->begin(), below->end());
      if (is_named(Named::kListsChildren, instruction.name)) add(each.kind, each.value);
    }
  }
  const auto made = [&](Stands stands, int sub) {
    const HeapId id = ids_.object(activation.context, &instruction, sub);
    HeapObject list = all;
    list.stands = stands;
    list.rest = Value(Alternative::at(Kind::kObject, id));
    list.cells[HeapObject::kOne] =
        Value(Alternative::at(Kind::kObject, ids_.object(activation.context, &instruction, 1)));
    state.put(id, std::move(list));
    return Value(Alternative::at(Kind::kObject, id));
  };
  const Value one = made(Stands::kForOne, 1);
  return stated ? made(Stands::kForEach, 0) : one;
}

struct Conversions::Conversion {
  const Activation& activation;
  const Instruction& instruction;
  Alternative like;         // a dtype, or the tensor whose data is taken over
  bool perhaps = false;     // of what may be meant one is converted
  bool one_by_one = false;  // all are, unless something decides it of each
  bool as_made = false;     // it is made so, in a dtype that is not known or that a setting told
  std::vector<HeapId> seen = {};
  std::vector<Alternative> choices = {};  // several known dtypes, of which one it is

  // How many a value stands for decides which of them are converted.
  void aim_at(const Value& target, const State& state, bool in_turn) {
    std::size_t count = 0;
    bool one = false, each = false;
    for (const Alternative& may_be : target) {
      const HeapObject* object = may_be.kind == Kind::kObject ? state.find(may_be.object) : nullptr;
      count += may_be.object ? 1 : 0;
      one = one || (object && object->stands == Stands::kForOne);
      each = each || (object && object->stands == Stands::kForEach);
    }
    one_by_one = in_turn && !one && (each || count > 1);
    perhaps = one || (!in_turn && (each || count > 1));
  }
};

void Conversions::retype(const Activation& activation, const Instruction& instruction, State& state) {
  const Value target = argument(state, instruction, 0);
  const std::vector<Alternative> dtypes = memory_.tensors(state, argument(state, instruction, 1));
  const bool known =
      dtypes.size() == 1 && (dtypes[0].kind == Kind::kDtype || dtypes[0].kind == Kind::kTensor);
  // Of options, devices and None nothing is said of the dtype.
  const bool silent =
      dtypes.size() == 1 &&
      (dtypes[0].kind == Kind::kOptions || dtypes[0].kind == Kind::kString || dtypes[0].kind == Kind::kNone);
  if (silent) return;
  Conversion how{activation, instruction, {}};
  const bool all_known = std::all_of(dtypes.begin(), dtypes.end(), [](const Alternative& each) {
    return (each.kind == Kind::kDtype || each.kind == Kind::kTensor) && each.dtype != Dtype::kUndefined;
  });
  if (all_known && dtypes.size() > 1) how.choices = dtypes;
  // What a setting told a constructor, its conversion of the model goes on to tell.
  const bool all_assumed = std::all_of(dtypes.begin(), dtypes.end(), [](const Alternative& each) {
    return each.kind == Kind::kDtype && each.assumed;
  });
  const bool makes = is_named(Named::kMadeInDtype, instruction.name) && (!all_known || all_assumed);
  const bool is_made = known && makes_object(activation) && all_known && !is_half(dtypes[0].dtype);
  how.aim_at(target, state, ids_.in_round());
  for (const Alternative& each : target) {
    const bool to_half = known && is_half(dtypes[0].dtype);
    if (to_half && each.kind == Kind::kObject) effects_.note_conversion_to_half();
    const bool module = each.kind == Kind::kObject || each.kind == Kind::kUnknown;
    state.module_is_half = state.module_is_half || (to_half && module);
    const bool which = each.kind != Kind::kReference || target.single();  // of several places, one changes
    // What a constructor puts into a tensor of its own, `self.w.data = zeros(8)`, it is made of.
    how.as_made = makes || (is_made && each.kind == Kind::kHandle);
    how.like = known && which ? dtypes[0] : Alternative::a_dtype(Dtype::kUndefined);
    retype_below(state, each, how);
    // Of modules that are taken in turn, and it is not known which they are.
    if (ids_.in_round() && each.kind == Kind::kUnknown) doubt_modules(state);
  }
}

void Conversions::doubt_modules(State& state) {
  for (std::size_t id = 1; id <= ids_.count_of_objects(); ++id) {
    const HeapObject* object = state.find(static_cast<HeapId>(id));
    if (!object || object->kind != HeapObject::Kind::kTensor) continue;
    const Value doubted = weakened(object->cells.at(HeapObject::kContents));
    state.change(static_cast<HeapId>(id)).cells[HeapObject::kContents] = doubted;
  }
}

namespace {
Alternative converted(const Alternative& from, const Alternative& like) {
  const Alternative& shape = like.kind == Kind::kTensor ? like : from;
  Alternative to = Alternative::tensor(like.dtype, shape.kind == Kind::kTensor ? shape.rank : Rank{});
  to.lineage = from.lineage;
  to.products = from.products;
  return to;
}
}  // namespace

Value Conversions::converted_contents(const Value& contents, const Conversion& how) {
  const Dtype dtype = how.like.dtype;
  Value out;
  for (const Alternative& each : how.choices) {
    Conversion one = how;
    one.choices.clear();
    one.like = each;
    out = join(out, weakened(converted_contents(contents, one)), symbols_);
  }
  if (!out.is_bottom()) return out;
  for (const Alternative& each : contents) {
    // Python's `to` leaves integers as they are.
    const bool whole = how.instruction.op == Op::kOperator && each.kind == Kind::kTensor &&
                       each.dtype != Dtype::kUndefined && !is_floating(each.dtype);
    if (whole) {
      out = join(out, Value(each), symbols_);
      continue;
    }
    Alternative to = each.kind == Kind::kNone ? each : converted(each, how.like);
    if (each.kind != Kind::kNone && dtype != Dtype::kUndefined) {
      to.origin = origins_.origin({Origin::Kind::kSource, how.activation.function, &how.instruction, "to",
                                   Dtype::kUndefined, dtype, false, 0, ""});
      to.trail = origins_.step(0, to.origin,
                               {0, 0, how.activation.function, &how.instruction, "to", Dtype::kUndefined,
                                dtype, "converted here"});
    }
    out = join(out, Value(to), symbols_);
  }
  return how.perhaps ? weak_update(contents, out, symbols_) : out;
}

// A class that overrides `to` converts its plain members there as well, or some of them.
void Conversions::doubt_plain_members(State& state, HeapId module) {
  const std::string type = state.find(module)->type;
  bool overridden = false;
  for (std::size_t count = 1; count <= kMostArgumentsOfTo && !type.empty(); ++count)
    overridden = overridden || !program_.classes.inherited(type, "to", count, root_.unit).empty();
  if (!overridden) return;
  for (auto& [key, cell] : state.change(module).cells) {
    const bool tensor = std::any_of(cell.begin(), cell.end(),
                                    [](const Alternative& each) { return each.kind == Kind::kTensor; });
    if (tensor) cell = weakened(cell);
  }
}

// Of members on opposite ways of a branch each path has one, and converts that: nothing reaches the others
// there.
bool Conversions::one_on_each_path(const Value& member) {
  for (const Alternative& a : member) {
    for (const Alternative& b : member) {
      if (&a == &b) continue;
      const bool are_apart = symbols_.relation(a.symbols, b.symbols) == SymbolSets::Relation::kContradict;
      if (a.elsewhere || b.elsewhere || !are_apart) return false;
    }
  }
  return true;
}

void Conversions::retype_below(State& state, const Alternative& target, Conversion& how) {
  if (target.kind == Kind::kReference) {
    const Location location{target.object, target.key};
    const Value contents = memory_.read(state, location);
    if (!how.perhaps) how.aim_at(contents, state, ids_.in_round());
    Value plain;
    for (const Alternative& each : contents) {
      if (each.kind == Kind::kTensor) {
        plain = join(plain, converted_contents(Value(each), how), symbols_);
      } else {
        retype_below(state, each, how);
        plain = join(plain, Value(each), symbols_);
      }
    }
    if (!(plain == contents)) memory_.write(state, location, plain, true);
    return;
  }
  if (target.kind != Kind::kObject && target.kind != Kind::kHandle) return;
  if (std::find(how.seen.begin(), how.seen.end(), target.object) != how.seen.end()) return;
  how.seen.push_back(target.object);
  const HeapObject* object = state.find(target.object);
  if (!object) return;
  if (target.kind == Kind::kObject) {
    if (object->stands == Stands::kForItself) doubt_plain_members(state, target.object);
    const std::vector<Registration> below = state.find(target.object)->registered.get();
    const bool perhaps = how.perhaps;
    for (const Registration& each : below) {
      how.perhaps = perhaps || !one_on_each_path(each.value);
      for (const Alternative& one : each.value) retype_below(state, one, how);
    }
    how.perhaps = perhaps;
    return;
  }
  if (how.like.assumed) {
    converted_as_assumed_.insert(target.object);
  } else {
    converted_as_assumed_.erase(target.object);
  }
  HeapObject& tensor = state.change(target.object);
  // What another tensor is that was not converted either says nothing: a model's conversion goes on to
  // change both. So it does to a layer that its constructor made in some dtype.
  const bool is_as_made = how.as_made || (how.like.source && !how.like.told && !is_half(how.like.dtype));
  if (how.perhaps && !is_as_made && !tensor.stated) set_as_made(tensor, tensor.cells[HeapObject::kContents]);
  if (!how.perhaps) {
    forget_as_made(tensor);
    tensor.left_half = false;
  }
  Value& contents = tensor.cells[HeapObject::kContents];
  contents = converted_contents(contents, how);
  tensor.stated = tensor.stated || !is_as_made;
  tensor.one_by_one = how.one_by_one || how.perhaps;
  tensor.of_setting = false;
  state.module_is_half = state.module_is_half || (!how.perhaps && is_half(how.like.dtype));
}

}  // namespace dtype_guard::flow
