// Objects as the program itself makes them. Their class leaves open what others hand its constructors; what
// the program hands them is a case that there is, and what is certain there is certain.
#include <algorithm>

#include "analyzer/flow/roots/roots.h"

namespace dtype_guard::flow {
namespace {
constexpr std::size_t kMostWitnesses = 3;  // of a class
}  // namespace

// Runs what makes them, each as a root of its own, and nothing of its effects stays but its steps.
std::size_t Roots::find_witnesses(std::uint32_t root) {
  effects_ = {};
  made_.steps = 0;
  const Function& code = index_.function(root);
  const auto [entry, is_new] = made_.witnesses.try_emplace({code.class_name, units_of(code).front()});
  made_.of_root = &entry->second;
  if (!is_new) return entry->second.size();
  std::size_t steps = 0;
  for (const std::uint32_t maker : program_.constructions.makers(code.class_name)) {
    effects_ = {};
    made_.noted.clear();
    made_.watched = code.class_name;
    origins_.begin_run();
    try {
      evaluate_as(index_.function(maker).class_name, maker, {}, OtherCode::kTrusted);
    } catch (const BudgetExceeded&) {
      made_.being_made = 0;
    }
    made_.watched.clear();
    steps += effects_.steps + std::exchange(made_.steps, 0);
  }
  effects_ = {};
  made_.steps = steps;
  return entry->second.size();
}

// As the function that made them leaves them, and with the setting applied.
void Roots::note_witnesses(const State& state) {
  std::vector<Witness>& all = *made_.of_root;
  for (const auto& [id, at] : made_.noted) {
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
    inputs_.hand_over(made.state, made.object, made_.watched, true);
    all.push_back(std::move(witness));
  }
}

}  // namespace dtype_guard::flow
