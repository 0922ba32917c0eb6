// Classes that the program always makes half: of these the code says that they are not run under autocast
// over float32 parameters, whatever calls their methods.
#include "analyzer/flow/roots/made_half.h"

#include <algorithm>

#include "analyzer/flow/engine/held_values.h"
#include "analyzer/flow/program/consulted.h"
#include "analyzer/flow/program/half_conversions.h"
#include "analyzer/flow/roots/all_roots.h"
#include "analyzer/flow/roots/reach.h"
#include "analyzer/flow/state/as_made.h"

namespace dtype_guard::flow {
namespace {
using Kind = Alternative::Kind;
using Functions = std::vector<std::uint32_t>;
// What the question may cost; asked for the first root that depends on it.
constexpr std::size_t kMostSteps = 5'000'000;

template <class Fits>
Functions functions_with(const FunctionIndex& index, const Fits& fits) {
  Functions out;
  for (std::uint32_t i = 0; i < index.module().functions.size(); ++i) {
    if (fits(i)) out.push_back(i);
  }
  return out;
}

// As far as it is known.
bool is_kind_of(const FunctionIndex& index, const std::string& class_name, const std::string& base,
                int depth = 0) {
  if (class_name == base) return true;
  const ClassFacts* facts = depth < kMaxBases ? index.class_facts(class_name) : nullptr;
  return facts && std::any_of(facts->bases.begin(), facts->bases.end(), [&](const std::string& each) {
           return is_kind_of(index, each, base, depth + 1);
         });
}
}  // namespace

// Whether all parameters, or buffers, of which there are some, were converted to half on every path; by a
// dtype that the code states.
bool MadeHalf::is_wholly_half(const State& state, HeapId module, Registration::Kind kind) const {
  bool some = false;
  for (const HeapId id : objects_below(state, {Value(Alternative::at(Kind::kObject, module))})) {
    for (const Registration& each : state.find(id)->registered) {
      if (each.kind != kind) continue;
      const Alternative* handle = each.value.single();
      const HeapObject* tensor =
          handle && handle->kind == Kind::kHandle ? state.find(handle->object) : nullptr;
      if (!tensor || !is_made_half(*tensor) || conversions_.was_assumed(handle->object)) return false;
      some = true;
    }
  }
  return some;
}

// What the root left half and what it did not. It did not make the object that it was handed, or that it is
// to construct, and of what that holds the class of the object decides.
void MadeHalf::note_halves(const State& state, const std::vector<Value>& arguments,
                           const std::vector<HeapId>& handed) {
  std::string owner;
  for (const Value& each : arguments) {
    const Alternative* one = each.single();
    const HeapObject* object = one && one->kind == Kind::kObject ? state.find(one->object) : nullptr;
    if (object && owner.empty()) owner = object->type;
  }
  for (std::size_t at = 1; at <= ids_.count_of_objects(); ++at) {
    const auto id = static_cast<HeapId>(at);
    const HeapObject* object = state.find(id);
    if (!object || object->kind != HeapObject::Kind::kInstance || !index_.class_facts(object->type)) continue;
    const bool made_here = std::find(handed.begin(), handed.end(), id) == handed.end();
    for (const auto kind : {Registration::Kind::kParameter, Registration::Kind::kBuffer}) {
      Halves& of_kind = noted_.halves[kind];
      if (is_wholly_half(state, id, kind)) {
        of_kind.half.insert(object->type);
      } else if (made_here) {
        of_kind.other.insert(object->type);
      } else if (object->type != owner) {
        of_kind.owned.emplace(owner, object->type);
      }
    }
  }
}

// Who may make something half. What an object's own constructors do is seen there: its other methods need not
// be run for it.
static Functions makers(const Program& program) {
  Functions out = all_roots(program);
  const Functions constructors = functions_with(program.functions, [&](std::uint32_t id) {
    const Function& each = program.functions.function(id);
    return each.kind == FunctionKind::kConstructor && !each.blocks.empty() && !each.foreign;
  });
  out.insert(out.end(), constructors.begin(), constructors.end());
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

// Classes with a field that is of a half type where nothing else is said: `dtype: torch.dtype = torch.half`.
static std::set<std::string_view> classes_that_name_half(const Module& module) {
  std::set<std::string_view> out;
  for (const ClassFacts& each : module.classes) {
    const bool any = std::any_of(each.settable.begin(), each.settable.end(), [](const Parameter& field) {
      return field.default_value && may_name_half(*field.default_value);
    });
    if (any) out.insert(each.name);
  }
  return out;
}

// Of these, those that may come to a half type that is named somewhere: what they are handed states none.
static Functions that_come_to_half(const Program& program, const Functions& roots) {
  const FunctionIndex& index = program.functions;
  const std::set<std::string_view> classes = classes_that_name_half(index.module());
  const auto has = [&](std::string_view class_name) { return classes.contains(class_name); };
  return roots_with_values_of(program, roots, functions_with(index, [&](std::uint32_t id) {
                                const Function& code = index.function(id);
                                const FunctionEffects& effects = index.effects(id);
                                return effects.may_name_half || has(code.class_name) ||
                                       std::any_of(code.parameters.begin(), code.parameters.end(),
                                                   [&](const Parameter& each) { return has(each.type); }) ||
                                       std::any_of(effects.makes.begin(), effects.makes.end(),
                                                   [&](const Instruction* each) { return has(each->name); });
                              }));
}

// What others run is seen there.
static Functions callers_first(const FunctionIndex& index, const Functions& roots) {
  std::map<std::uint32_t, std::size_t> callers;
  for (const std::uint32_t root : roots) {
    for (const std::uint32_t each : index.reached_from(root)) ++callers[each];
  }
  Functions out = roots;
  std::stable_sort(out.begin(), out.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return callers[a] < callers[b]; });
  return out;
}

// Of which classes those functions, and what they lead to, may make objects.
static std::set<std::string> classes_made_by(const FunctionIndex& index, const Functions& functions) {
  std::set<std::string> out;
  std::set<std::uint32_t> seen;
  Functions work = functions;
  while (!work.empty()) {
    const std::uint32_t next = work.back();
    work.pop_back();
    if (!seen.insert(next).second) continue;
    const Function& code = index.function(next);
    if (code.kind == FunctionKind::kConstructor) out.insert(code.class_name);
    const Functions& callees = index.callees(next);
    work.insert(work.end(), callees.begin(), callees.end());
  }
  return out;
}

// Of those that roots left half, the ones that none left otherwise, and what was not looked at may make.
static std::set<std::string> always_half(const Halves& found, const std::set<std::string>& perhaps) {
  std::set<std::string> out;
  std::set_difference(found.half.begin(), found.half.end(), found.other.begin(), found.other.end(),
                      std::inserter(out, out.end()));
  for (std::size_t before = out.size() + 1; before != out.size();) {
    before = out.size();
    for (const auto& [owner, owned] : found.owned) {
      if (!out.contains(owner)) out.erase(owned);
    }
  }
  out.insert(perhaps.begin(), perhaps.end());
  return out;
}

const ClassesMadeHalf& MadeHalf::classes_made_half() {
  std::optional<ClassesMadeHalf>& known = program_.made_half(setting_.name, torch_version_);
  const auto noted = [&]() -> const ClassesMadeHalf& {
    const bool some = !known->parameters.empty() || !known->buffers.empty();
    if (some) effects_.note_half_types_told_apart();
    return *known;
  };
  if (known) return noted();
  Consulted::note_flow();
  known.emplace();
  const Functions all = makers(program_);
  std::map<Registration::Kind, Halves> found;
  std::set<std::uint32_t> seen;  // run as a root, or within one
  bool is_cut_short = false;
  const std::size_t begun = work_.steps();
  const SharedWork shared(work_);
  // Gives the roots that it did not come to.
  const auto look_at = [&](const Functions& among, const Functions& functions, const auto& matters) {
    Functions left;
    if (functions.empty()) return left;
    for (const std::uint32_t root : callers_first(index_, roots_that_call(program_, among, functions))) {
      if (seen.contains(root) || !matters(root)) continue;
      is_cut_short = is_cut_short || work_.steps() - begun > kMostSteps;
      if (is_cut_short) {
        left.push_back(root);
        continue;
      }
      HalvesOfRoot of_root;
      try {
        of_root = evaluator_.halves_of(root);
      } catch (const BudgetExceeded&) {
        if (!work_.is_used_up()) continue;
        known.reset();  // of some roots only, it is known of no class
        throw;
      }
      seen.merge(of_root.has_run);
      for (auto& [kind, halves] : of_root.halves) {
        found[kind].half.merge(halves.half);
        found[kind].other.merge(halves.other);
        found[kind].owned.merge(halves.owned);
      }
    }
    return left;
  };
  const Functions unseen =
      look_at(that_come_to_half(program_, all),
              functions_with(index_, [&](std::uint32_t id) { return index_.effects(id).may_make_half; }),
              [](std::uint32_t) { return true; });
  const auto made = [&](std::uint32_t id) {
    const Function& each = index_.function(id);
    return each.kind == FunctionKind::kConstructor &&
           std::any_of(found.begin(), found.end(),
                       [&](const auto& one) { return one.second.half.contains(each.class_name); });
  };
  // A class of which one object is half and another is not needs no third.
  const auto is_open = [&](std::uint32_t id) {
    const Function& each = index_.function(id);
    return each.kind == FunctionKind::kConstructor &&
           std::any_of(found.begin(), found.end(), [&](const auto& one) {
             return one.second.half.contains(each.class_name) && !one.second.other.contains(each.class_name);
           });
  };
  (void)look_at(all, functions_with(index_, made), [&](std::uint32_t root) {
    const auto& reached = index_.reached_from(root);
    return is_open(root) || std::any_of(reached.begin(), reached.end(), is_open);
  });
  const std::set<std::string> perhaps = classes_made_by(index_, unseen);
  known = ClassesMadeHalf{always_half(found[Registration::Kind::kParameter], perhaps),
                          always_half(found[Registration::Kind::kBuffer], perhaps)};
  return noted();
}

// Whether the code itself converts the module's parameters to half.
static bool is_made_half(const State& state, const Value& value, std::vector<HeapId>& seen) {
  for (const Alternative& each : value) {
    if (each.kind != Kind::kObject || std::find(seen.begin(), seen.end(), each.object) != seen.end())
      continue;
    seen.push_back(each.object);
    const HeapObject* object = state.find(each.object);
    if (!object) continue;
    for (const Registration& one : object->registered) {
      if (one.kind == Registration::Kind::kModule && is_made_half(state, one.value, seen)) return true;
      const Alternative* handle = one.value.single();
      const HeapObject* tensor =
          handle && handle->kind == Kind::kHandle ? state.find(handle->object) : nullptr;
      if (!tensor || !tensor->stated || one.kind != Registration::Kind::kParameter) continue;
      const Alternative* contents = tensor->cells.at(HeapObject::kContents).single();
      if (contents && is_half(contents->dtype)) return true;
    }
  }
  return false;
}

// Autocast over float32 parameters is not what a module is run under that makes itself half, or that the
// program makes half.
bool MadeHalf::contradicts_autocast(const State& state, const std::vector<Value>& arguments) {
  if (setting_.autocast == Dtype::kUndefined || options_.settings_named_by_user) return false;
  std::vector<HeapId> seen;
  for (const Value& each : arguments) {
    if (is_made_half(state, each, seen)) return true;
  }
  return std::any_of(arguments.begin(), arguments.end(), [&](const Value& each) {
    const Alternative* one = each.single();
    const HeapObject* object = one && one->kind == Kind::kObject ? state.find(one->object) : nullptr;
    if (!object) return false;
    const ClassesMadeHalf& half = classes_made_half();
    return is_always(half.parameters, object->type) || is_always(half.buffers, object->type);
  });
}

bool MadeHalf::is_always(const std::set<std::string>& made_half, const std::string& class_name) const {
  return !class_name.empty() && std::any_of(made_half.begin(), made_half.end(), [&](const std::string& each) {
    return is_kind_of(index_, each, class_name);
  });
}

// Module::to converts buffers as well.
bool MadeHalf::buffers_are_made_half(const std::string& class_name) {
  const bool asked = is_half(setting_.parameters) && !is_half(setting_.buffers);
  return asked && !options_.settings_named_by_user && is_always(classes_made_half().buffers, class_name);
}

}  // namespace dtype_guard::flow
