#include "analyzer/flow/roots/known_cases.h"

#include <algorithm>
#include <set>

#include "analyzer/flow/roots/handed_arguments.h"

namespace dtype_guard::flow {
namespace {
constexpr std::size_t kMostWitnesses = 3;  // of a class
constexpr std::size_t kMostCalls = 3;      // of one root, each of which costs an evaluation of its caller

// Whether what is called there may be this: it takes all that is handed over, under these names.
bool takes_all(const Function& root, const Instruction& call) {
  for (std::size_t i = 1; i < call.args.size(); ++i) {
    if (!parameter_for(root, call, i)) return false;
  }
  return true;
}

// Few, those of its own file first: fields of one name in many models may hold it, as far as names say.
std::vector<CalledModules::In> calls_to_try(const Program& program, std::uint32_t root) {
  const FunctionIndex& index = program.functions;
  const Function& called = index.function(root);
  std::vector<CalledModules::In> out;
  for (const auto& [caller, call] : program.called_modules.calls_of(root)) {
    const Function& code = index.function(caller);
    const bool fits =
        caller != root && !code.foreign && code.kind == FunctionKind::kMethod && takes_all(called, *call);
    if (fits) out.push_back({caller, call});
  }
  std::stable_partition(out.begin(), out.end(), [&](const CalledModules::In& each) {
    return index.function(each.first).range.file == called.range.file;
  });
  if (out.size() > kMostCalls) out.resize(kMostCalls);
  return out;
}
}  // namespace

const std::vector<Witness>& KnownCases::witnesses(std::uint32_t root) {
  effects_ = {};
  inputs_.begin_steps();
  const Function& code = program_.functions.function(root);
  const auto [entry, is_new] = witnesses_.try_emplace({code.class_name, units_of(code).front()});
  if (!is_new) return entry->second;
  for (const std::uint32_t maker : program_.constructions.makers(code.class_name))
    look_at_maker(maker, code.class_name, entry->second);
  sightings_.end();
  effects_ = {};
  return entry->second;
}

const std::vector<Witness>& KnownCases::all_objects(const std::string& class_name, std::uint32_t root) {
  effects_ = {};
  inputs_.begin_steps();
  const FunctionIndex& index = program_.functions;
  const std::uint32_t unit = units_of(index.function(root)).front();
  const auto [entry, is_new] = all_objects_.try_emplace({class_name, unit});
  if (!is_new) return entry->second;
  std::set<std::uint32_t> files = {index.function(root).range.file};
  for (const std::uint32_t each : index.constructors(class_name, unit))
    files.insert(index.function(each).range.file);
  const std::vector<Construction> places = program_.constructions.all_of(class_name);
  const auto is_beside = [&](const Construction& each) {
    return files.contains(index.function(each.function).range.file);
  };
  if (!std::all_of(places.begin(), places.end(), is_beside)) return entry->second;
  std::set<std::uint32_t> makers;
  for (const Construction& each : places) makers.insert(each.function);
  for (const std::uint32_t maker : makers) look_at_maker(maker, class_name, entry->second);
  if (entry->second.size() != places.size()) entry->second.clear();
  sightings_.end();
  effects_ = {};
  return entry->second;
}

void KnownCases::look_at_maker(std::uint32_t maker, const std::string& class_name,
                               std::vector<Witness>& all) {
  sightings_.look_for_class(class_name);
  try {
    if (const std::optional<State> left = roots_.evaluate_caller(maker, {}))
      note_witnesses(*left, class_name, all);
  } catch (const BudgetExceeded&) {
    // No evidence of anything; the next one may come to its end.
  }
  inputs_.add_steps(effects_.steps());
}

// As the function that made them leaves them, and with the setting applied.
void KnownCases::note_witnesses(const State& state, const std::string& class_name,
                                std::vector<Witness>& all) {
  for (const auto& [id, at] : sightings_.made()) {
    const bool known = std::any_of(all.begin(), all.end(), [place = at.instruction](const Witness& each) {
      return each.at.instruction == place;
    });
    if (known || !state.find(id) || all.size() >= kMostWitnesses) continue;
    Witness witness;
    witness.at = at;
    MadeObject& made = witness.made;
    made.object = Value(Alternative::at(Alternative::Kind::kObject, id));
    made.state.heap = state.heap;
    made.several = ids_.several();
    inputs_.hand_over(made.state, made.object, class_name, true);
    all.push_back(std::move(witness));
  }
}

const std::vector<HandedCall>& KnownCases::calls(std::uint32_t root) {
  effects_ = {};
  inputs_.begin_steps();
  calls_.clear();
  RootCase how;
  how.called_by_defaults = true;
  for (const auto& [caller, call] : calls_to_try(program_, root)) {
    sightings_.look_for_arrival(*call);
    try {
      roots_.evaluate_caller(caller, how);
      if (sightings_.arrived()) calls_.push_back({call, *sightings_.arrived()});
    } catch (const EvaluationEnded&) {
      // Nothing is handed over, or it is not known.
    }
    inputs_.add_steps(effects_.steps());
  }
  sightings_.end();
  effects_ = {};
  return calls_;
}

}  // namespace dtype_guard::flow
