#include "analyzer/flow/program/called_modules.h"

#include <algorithm>
#include <array>
#include <set>
#include <tuple>

#include "analyzer/flow/program/consulted.h"
#include "rules/operators/library_names.h"

namespace dtype_guard::flow {
namespace {
constexpr std::size_t kMostPlaces = 10'000;  // that one class or field is followed through

// Of containers: those that give what is in them, and those that are filled with it.
constexpr std::array<std::string_view, 6> kGivingOperators = {"subscript", "copy_of",  "deep_copy_of",
                                                              "dict_get",  "dict_pop", "attribute_get"};

constexpr std::array<std::string_view, 1> kFillingOperators = {"take_layers"};

template <std::size_t N>
bool is_one_of(const std::array<std::string_view, N>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

constexpr std::string_view kForward = name_of(Named::kForward);
bool runs(std::string_view method) { return method == kForward || is_named(Named::kCallOfObject, method); }

// Of a call of what an object has by a name; empty of any other.
std::string_view attribute_of(const Instruction& each) {
  if (each.op != Op::kCall || !each.name.starts_with(kAttributeCall)) return {};
  const std::string_view name = std::string_view(each.name).substr(kAttributeCall.size());
  return name.substr(0, name.find("::"));
}

// Where an object may be, from where it is made or loaded, up to the fields that hold it then.
class ObjectTrace {
 public:
  ObjectTrace(const FunctionIndex& index, const ObjectPlaces& places) : index_(index), places_(places) {}

  void made_by(std::uint32_t function, const Instruction& made) { value(function, made.result); }
  void loaded_from(std::string_view field) {
    const auto loads = places_.loads.find(field);
    if (loads == places_.loads.end()) return;
    for (const auto& [function, load] : loads->second) value(function, load->result);
  }
  FollowedObjects reached() {
    while (!work_.empty() && seen_.size() < kMostPlaces) {
      const Place next = work_.back();
      work_.pop_back();
      follow(next);
    }
    return {{calls_.begin(), calls_.end()}, {fields_.begin(), fields_.end()}};
  }

 private:
  enum class Kind : std::uint8_t { kValue, kVariable };
  struct Place {
    Kind kind;
    std::uint32_t function, id;
    friend bool operator<(const Place& a, const Place& b) {
      return std::tie(a.kind, a.function, a.id) < std::tie(b.kind, b.function, b.id);
    }
  };

  void add(const Place& place) {
    if (seen_.insert(place).second) work_.push_back(place);
  }
  void value(std::uint32_t function, ValueId id) {
    if (id) add({Kind::kValue, function, id});
  }
  void field(std::string_view name) { fields_.insert(name); }

  void follow(const Place& place) {
    for (const Block& block : index_.function(place.function).blocks) {
      for (const Instruction& each : block.instructions) {
        if (place.kind == Kind::kVariable) {
          const bool reads = each.op == Op::kLoad || each.op == Op::kAddress;
          if (reads && !each.place.base && each.place.variable == place.id)
            value(place.function, each.result);
          continue;
        }
        if ((each.op == Op::kLoad || each.op == Op::kAddress) && each.place.base == place.id &&
            !each.place.last_field())
          value(place.function, each.result);  // what a container holds
        for (std::size_t i = 0; i < each.args.size(); ++i) {
          if (each.args[i].value == place.id) use(place.function, each, i);
        }
      }
    }
  }

  void use(std::uint32_t function, const Instruction& by, std::size_t at) {
    switch (by.op) {
      case Op::kCopy:
      case Op::kPhi:
      case Op::kPack:
      case Op::kModule:
        return value(function, by.result);
      case Op::kOperator:
        if (at > 0 && is_one_of(kFillingOperators, by.name)) return into(function, by.args[0].value);
        return at == 0 && is_one_of(kGivingOperators, by.name) ? value(function, by.result) : void();
      case Op::kRegister:
        return value(function, by.result);
      case Op::kClosure:
        return field(by.args[at].name);
      case Op::kStore: {
        if (const std::string* name = by.place.last_field()) return field(*name);
        if (by.place.base) return into(function, by.place.base);
        return add({Kind::kVariable, function, by.place.variable});
      }
      case Op::kCall:
        return handed(function, by, at);
      case Op::kReturn: {
        const auto callers = places_.callers.find(index_.function(function).key);
        if (callers == places_.callers.end()) return;
        for (const auto& [caller, call] : callers->second) value(caller, call->result);
        return;
      }
      default:
        return;
    }
  }

  // `layers.append(it)`: whatever else has these layers has it too.
  void into(std::uint32_t function, ValueId container) {
    value(function, container);
    const Instruction* made = index_.info(function).definition(container);
    if (!made || made->op != Op::kLoad) return;
    if (const std::string* name = made->place.last_field()) return field(*name);
    if (!made->place.base) add({Kind::kVariable, function, made->place.variable});
  }

  void handed(std::uint32_t function, const Instruction& call, std::size_t at) {
    const std::string_view name_called = attribute_of(call);
    if (at == 0 && runs(name_called)) {
      calls_.emplace(function, &call);
      return;
    }
    if (at == 0 && is_named(Named::kContainerGives, name_called)) value(function, call.result);
    if (at > 0 && is_named(Named::kContainerTakesIn, name_called)) into(function, call.args[0].value);
    for (const std::uint32_t callee : index_.may_run(call)) {
      const Function& code = index_.function(callee);
      const std::string& name = call.args[at].name;
      for (const Block& block : code.blocks) {
        for (const Instruction& each : block.instructions) {
          const auto* number = each.op == Op::kParam ? std::get_if<std::int64_t>(&each.constant) : nullptr;
          if (!number) continue;
          const Parameter* parameter = parameter_of(code, each);
          const bool is_it =
              name.empty() ? *number == std::int64_t(at) : parameter && parameter->name == name;
          if (is_it) value(callee, each.result);
        }
      }
    }
  }

  const FunctionIndex& index_;
  const ObjectPlaces& places_;
  std::set<Place> seen_;
  std::vector<Place> work_;
  std::set<CalledModules::In> calls_;
  std::set<std::string_view> fields_;
};
}  // namespace

const ObjectPlaces& CalledModules::places() const {
  if (places_) return *places_;
  places_.emplace();
  for (std::uint32_t i = 0; i < index_.module().functions.size(); ++i) {
    const FunctionEffects& effects = index_.effects(i);
    for (const Instruction* each : effects.makes) places_->made[each->name].emplace_back(i, each);
    for (const Instruction* each : effects.runs) {
      if (each->op == Op::kCall) places_->callers[each->name].emplace_back(i, each);
    }
    for (const FieldAccess& each : effects.fields) {
      if (each.kind != FieldAccess::Kind::kStore) places_->loads[*each.field].emplace_back(i, each.at);
    }
  }
  return *places_;
}

const std::vector<CalledModules::In>& CalledModules::made_for(std::uint32_t forward) const {
  if (!made_for_) {
    made_for_.emplace();
    for (const auto& [class_name, made] : places().made) {
      std::map<std::uint32_t, std::vector<std::uint32_t>> runs_in;  // by source file
      for (const In& each : made) {
        const std::uint32_t unit = units_of(index_.function(each.first)).front();
        const auto [runs, is_new] = runs_in.try_emplace(unit);
        if (is_new) runs->second = classes_.inherited(class_name, kForward, FunctionIndex::kAnyNumber, unit);
        for (const std::uint32_t one : runs->second) {
          if (classes_.derives(class_name, index_.function(one).class_name))
            (*made_for_)[one].push_back(each);
        }
      }
    }
  }
  static const std::vector<In> kNone;
  const auto found = made_for_->find(forward);
  return found == made_for_->end() ? kNone : found->second;
}

const std::vector<CalledModules::In>& CalledModules::calls_of(std::uint32_t forward) const {
  Consulted::note_calls_of(forward);
  const auto [known, is_new] = known_.try_emplace(forward);
  const Function& code = index_.function(forward);
  if (!is_new || code.class_name.empty() || method_name(code) != kForward) return known->second;
  ObjectTrace trace(index_, places());
  for (const auto& [function, made] : made_for(forward)) trace.made_by(function, *made);
  return known->second = all_calls(trace.reached());
}

// Many classes are held by fields of one name, which are followed once.
const FollowedObjects& CalledModules::from_field(std::string_view field) const {
  const auto [known, is_new] = from_fields_.try_emplace(field);
  if (is_new) {
    ObjectTrace trace(index_, places());
    trace.loaded_from(field);
    known->second = trace.reached();
  }
  return known->second;
}

std::vector<CalledModules::In> CalledModules::all_calls(const FollowedObjects& first) const {
  std::set<In> calls(first.calls.begin(), first.calls.end());
  std::set<std::string_view> seen(first.fields.begin(), first.fields.end());
  std::vector<std::string_view> work = first.fields;
  while (!work.empty()) {
    const FollowedObjects& next = from_field(work.back());
    work.pop_back();
    calls.insert(next.calls.begin(), next.calls.end());
    for (const std::string_view field : next.fields) {
      if (seen.insert(field).second) work.push_back(field);
    }
  }
  std::vector<In> out(calls.begin(), calls.end());
  const auto place = [](const In& each) {
    return std::tuple(each.first, each.second->range.line, each.second->range.column);
  };
  std::stable_sort(out.begin(), out.end(), [&](const In& a, const In& b) { return place(a) < place(b); });
  return out;
}

}  // namespace dtype_guard::flow
