#include "analyzer/flow/fixes/fix_trial.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace dtype_guard::flow {

namespace {

// A report must not wait for fixes: a root that takes more steps is not judged, and after so many for one
// finding nothing more is tried for it. Counted, not timed, so that every run offers the same.
constexpr std::size_t kSteps = 50'000;
constexpr std::size_t kStepsForFinding = 1'000'000;
// Of all findings together, with a step for each instruction of a program that is looked through once more.
constexpr std::size_t kStepsForAll = 6'000'000;
// What many roots run is where many findings end: an edit there is tried once for them all.
constexpr std::size_t kManyRoots = 8;

// A number that is fit for attention does not fit into a bool or an integer.
Api watched_cast() {
  Operand like;
  like.role = "like";
  for (const Dtype dtype : all_dtypes()) {
    if (is_floating(dtype)) like.accepts.insert(dtype);
  }
  Api out;
  out.name = kWatchedCast;
  Operand cast;  // anything may be cast
  cast.role = "cast";
  cast.argument = 1;
  out.operands = {std::move(like), std::move(cast)};
  return out;
}

}  // namespace

FixTrial::FixTrial(Module& module, const Program& unedited, const AnalysisOptions& options)
    : module_(module), unedited_(unedited), options_(options) {
  for (const PrecisionSetting& each : options.settings) {
    settings_.push_back({each, options.settings_named_by_user});
  }
  for (const PrecisionSetting& each : precision_settings()) {
    const bool known = std::any_of(settings_.begin(), settings_.end(),
                                   [&](const Setting& other) { return other.what.name == each.name; });
    if (!known) settings_.push_back({each});
  }
  for (std::size_t i = 0; i < settings_.size(); ++i) {
    const PrecisionSetting& each = settings_[i].what;
    if (each.autocast == Dtype::kUndefined || each.inputs == Dtype::kFloat32) continue;
    Setting other{each, false, true};
    other.what.inputs = Dtype::kFloat32;
    settings_.insert(settings_.begin() + static_cast<std::ptrdiff_t>(++i), std::move(other));
  }
  for (const Function& function : module.functions) {
    for (const Block& block : function.blocks) size_ += block.instructions.size();
  }
  options_.step_budget = std::min(options_.step_budget, kSteps);
  for_all_ = std::min(kStepsForAll, options.work_budget);
  options_.strict = true;  // a definite finding that becomes a possible one is not cured
  options_.refusals = true;
  if (options.contracts) contracts_ = *options.contracts;
  contracts_.apis.push_back(watched_cast());
  options_.contracts = &contracts_;
}

void FixTrial::begin(const Finding& finding) {
  finding_ = &finding;
  spent_on_others_ += spent_;
  spent_ = 0;
}

std::optional<FixTrial::Verdict> FixTrial::judge(const Program& program,
                                                 const std::vector<std::uint32_t>& roots,
                                                 const Setting& setting, std::size_t& spent) {
  AnalysisOptions options = options_;
  options.settings = {setting.what};
  options.settings_named_by_user = setting.named;
  options.total_budget = budget_ - std::min(spent, budget_);
  const AnalysisResult result = analyse(program, roots, options);
  spent += result.steps;
  if (result.cut_short) {
    return std::nullopt;
  }
  Verdict out;
  out.steps = result.steps;
  out.tells_half_types_apart = result.tells_half_types_apart;
  out.given_up = result.not_analysed.size();
  const auto key = [](const SourceLocation& at, const std::string& api, const std::string& role) {
    return Key(at.file, at.line, at.column, api, role);
  };
  for (const Refusal& each : result.refusals) {
    out.refused.emplace(key(each.sink.location, each.sink.api, each.sink.role), each.root, each.dtype);
  }
  for (const Finding& each : result.findings) {
    out.places.insert(key(each.location, "", ""));
    for (const Sink& sink : each.sinks) out.operands.insert(key(sink.location, sink.api, sink.role));
  }
  return out;
}

// Those of one class are evaluated together, which share their object.
std::vector<FixTrial::Roots> FixTrial::by_class(const Roots& roots) const {
  std::vector<Roots> out;
  std::map<std::string, std::size_t> known;
  for (const std::uint32_t root : roots) {
    const std::string& owner = module_.functions[root].class_name;
    const auto [at, is_new] = known.try_emplace(owner, out.size());
    if (is_new || owner.empty()) {
      out.push_back({root});
    } else {
      out[at->second].push_back(root);
    }
  }
  return out;
}

// What all settings take for roots of one class may take is the budget of a finding.
const FixTrial::Verdict* FixTrial::verdict_before(Before& before, const Roots& roots, std::size_t setting) {
  std::optional<Verdict>& out = before.verdicts[setting];
  if (!out) out = as_under_twin(before.verdicts, setting);
  if (!out && !before.takes_too_much) {
    const std::size_t spent_before = before.spent;
    budget_ = std::min(kStepsForFinding, before.spent + left_for_all());
    out = judge(unedited_, roots, settings_[setting], before.spent);
    before.takes_too_much = !out;
    spent_on_others_ += before.spent - spent_before;
  }
  return out ? &*out : nullptr;
}

// Edits of several functions have most roots in common. What takes too long to evaluate for one finding does
// so for all. Most edits that do not cure are settled in one setting: others are judged when they are asked.
const FixTrial::Verdict* FixTrial::verdict_before(const Functions& functions, std::size_t setting) {
  const auto [known, fresh] = before_.try_emplace(functions);
  Edited& edited = known->second;
  if (fresh) {
    edited.verdicts.resize(settings_.size());
    edited.groups = by_class(roots_to_analyse(unedited_, functions));
  }
  std::optional<Verdict>& out = edited.verdicts[setting];
  if (out) return &*out;
  Verdict all;
  for (const Roots& roots : edited.groups) {
    const auto [one, is_new] = before_of_roots_.try_emplace(roots);
    if (is_new) one->second.verdicts.resize(settings_.size());
    const Verdict* each = verdict_before(one->second, roots, setting);
    if (!each) return nullptr;
    all.add(*each);
  }
  return &out.emplace(std::move(all));
}

std::size_t FixTrial::left_for_all() const {
  return for_all_ - std::min(for_all_, spent_on_others_ + spent_);
}

void FixTrial::Verdict::add(const Verdict& more) {
  places.insert(more.places.begin(), more.places.end());
  operands.insert(more.operands.begin(), more.operands.end());
  refused.insert(more.refused.begin(), more.refused.end());
  given_up += more.given_up;
  steps += more.steps;
  tells_half_types_apart = tells_half_types_apart || more.tells_half_types_apart;
}

// What was judged under the same setting with the other half type is known where nothing went by which it is.
std::optional<FixTrial::Verdict> FixTrial::as_under_twin(const Verdicts& known, std::size_t setting) const {
  const Setting& asked = settings_[setting];
  for (std::size_t i = 0; i < known.size(); ++i) {
    const Setting& other = settings_[i];
    const bool is_twin = other.named == asked.named && other.handed_float == asked.handed_float &&
                         are_twins(other.what, asked.what);
    if (i == setting || !known[i] || !is_twin || known[i]->tells_half_types_apart) continue;
    Verdict out = *known[i];
    out.refused.clear();
    for (const auto& [place, root, dtype] : known[i]->refused)
      out.refused.emplace(place, root, other_half(dtype));
    return out;
  }
  return std::nullopt;
}

FixTrial::Key FixTrial::place() const {
  const SourceLocation& at = finding_->location;
  return {at.file, at.line, at.column, "", ""};
}

// Most edits that do not cure leave the finding, which one of the roots that have it is enough to see.
bool FixTrial::stays(const Program& program, const Roots& roots, std::size_t setting) {
  const std::vector<Roots> groups = by_class(roots);
  const Roots* cheapest = nullptr;
  std::size_t least = 0;
  for (const Roots& each : groups) {
    const auto known = before_of_roots_.find(each);
    if (known == before_of_roots_.end()) continue;
    const std::optional<Verdict>& before = known->second.verdicts[setting];
    if (!before || !before->places.contains(place()) || (cheapest && before->steps >= least)) continue;
    cheapest = &each;
    least = before->steps;
  }
  if (!cheapest || groups.size() == 1) return false;
  const std::optional<Verdict> after = judge(program, *cheapest, settings_[setting], spent_);
  return after && !is_gone(*after, settings_[setting]);
}

bool FixTrial::is_gone(const Verdict& after, const Setting& setting) {
  if (!after.places.contains(place())) return true;
  return object(setting, after.operands.empty() ? "the finding stays" : broken(*after.operands.begin()));
}

std::string FixTrial::broken(const Key& operand) {
  const auto& [file, line, column, api, role] = operand;
  return fmt::format("'{}' of '{}' at {}:{} breaks its contract", role, api, file, line);
}

bool FixTrial::object(const Setting& setting, std::string what) {
  objection_ = fmt::format("under '{}'{} {}", setting.what.name,
                           setting.handed_float ? " with float32 inputs" : "", what);
  return false;
}

std::string FixTrial::refused_operand(const Refused& refused) const {
  const auto& [place, root, dtype] = refused;
  const auto& [file, line, column, api, role] = place;
  const std::string from = root < module_.functions.size() ? module_.functions[root].name : "";
  const std::string as = dtype == Dtype::kUndefined ? "of unknown dtype" : fmt::format("'{}'", name(dtype));
  const std::string what = api == kWatchedCast ? fmt::format("what is cast {} at {}:{}",
                                                             role == "like" ? "to" : "there", file, line)
                                               : fmt::format("'{}' of '{}' at {}:{}", role, api, file, line);
  return fmt::format("{} would be {}, run from '{}'", what, as, from);
}

bool FixTrial::is_cured(const Verdict& before, const Verdict& after, const Setting& setting) {
  if (!is_gone(after, setting)) return false;
  // Where inputs are float32, nothing may be left of it that is not left where they are half.
  std::set<Key> left;
  for (const Sink& each : finding_->sinks) {
    const Key key(each.location.file, each.location.line, each.location.column, each.api, each.role);
    if (after.operands.contains(key)) left.insert(key);
  }
  if (setting.handed_float && !std::includes(left_.begin(), left_.end(), left.begin(), left.end()))
    return object(setting, broken(*left.begin()));
  left_ = std::move(left);
  for (const Key& each : after.operands) {
    if (!before.operands.contains(each)) return object(setting, broken(each));
  }
  for (const Refused& each : after.refused) {
    if (!before.refused.contains(each) && !loses_nothing(each, after) && !does_not_know(each, after))
      return object(setting, refused_operand(each));
  }
  return true;
}

// A caller that hands in a tensor of unknown dtype knows no more behind the cast. That is no refusal, as long
// as the finding occurs without that caller too and is cured there.
bool FixTrial::does_not_know(const Refused& refused, const Verdict& after) {
  const auto& [place, root, dtype] = refused;
  if (dtype != Dtype::kUndefined) return false;
  const std::uint32_t from = root;
  const bool unknowing = std::any_of(after.refused.begin(), after.refused.end(), [&](const Refused& each) {
    const auto& [where, by, as] = each;
    return by == from && as == Dtype::kUndefined && std::get<3>(where) == kWatchedCast &&
           std::get<4>(where) == "like";
  });
  if (unknowing) unknowing_.insert(from);
  return unknowing;
}

bool FixTrial::is_found_from_others(const std::vector<std::uint32_t>& functions) {
  std::vector<std::uint32_t> roots = roots_to_analyse(unedited_, functions);
  std::erase_if(roots, [&](std::uint32_t each) { return unknowing_.contains(each); });
  if (roots.empty()) return false;
  return std::any_of(settings_.begin(), settings_.end(), [&](const Setting& each) {
    const auto& asked = finding_->precision;
    if (each.handed_float || std::find(asked.begin(), asked.end(), each.what.name) == asked.end())
      return false;
    const std::optional<Verdict> verdict = judge(unedited_, roots, each, spent_);
    return verdict && verdict->places.contains(place());
  });
}

// Where what is cast was not known either, nothing is lost by a dtype that is not known.
bool FixTrial::loses_nothing(const Refused& refused, const Verdict& after) {
  auto [place, root, dtype] = refused;
  auto& [file, line, column, api, role] = place;
  if (api != kWatchedCast || dtype != Dtype::kUndefined) return false;
  if (role == "cast") return true;
  role = "cast";
  return after.refused.contains({place, root, dtype});
}

// By their numbers: those under which it occurs first, for most edits that do not cure leave it there.
std::vector<std::size_t> FixTrial::in_order() const {
  std::vector<std::size_t> occurs, others;
  const auto& asked = finding_->precision;
  for (std::size_t i = 0; i < settings_.size(); ++i) {
    if (std::find(asked.begin(), asked.end(), settings_[i].what.name) != asked.end()) {
      occurs.push_back(i);
    } else if (!settings_[i].handed_float) {
      others.push_back(i);
    }
  }
  occurs.insert(occurs.end(), others.begin(), others.end());
  return occurs;
}

bool FixTrial::takes_too_much(std::size_t steps) {
  limit_ = fmt::format("to try an edit in all functions that lead there takes more than {} steps", steps);
  return false;
}

bool FixTrial::takes_too_long() {
  limit_ =
      fmt::format("a function that leads there takes more than {} steps to evaluate", options_.step_budget);
  return false;
}

// How many of the settings are needed to see the finding without the edits; zero: it is not seen in any.
std::size_t FixTrial::settings_to_see(const Functions& functions, const std::vector<std::size_t>& order) {
  bool gave_up = false;
  std::size_t most = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const Verdict* before = verdict_before(functions, order[i]);
    if (!before) return takes_too_much(budget_);
    most = std::max(most, before->steps);
    gave_up = gave_up || before->given_up > 0;
    if (!before->places.contains(place())) continue;
    // One edit that cures, and what is left of those that do not.
    for_finding_ = std::min(std::max(kStepsForFinding, 2 * most * settings_.size()),
                            std::max(kStepsForFinding, left_for_all()));
    return i + 1;
  }
  return gave_up && takes_too_long();
}

// In each of these settings, for which it is known what is found without the edits.
bool FixTrial::is_cured_in(std::span<const std::size_t> settings, const Functions& functions, Tried& tried) {
  EditedModule edited(module_);
  for (const CastEdit& each : tried.edits) edited.add(each);
  std::optional<Program> program;
  Roots roots;
  budget_ = for_finding_;
  return std::ranges::all_of(settings, [&](std::size_t i) {
    std::optional<Verdict>& after = tried.after[i];
    if (!after) after = as_under_twin(tried.after, i);
    if (!after && !program) {
      spent_on_others_ += size_;
      program.emplace(module_);
      program->take_made_half(unedited_);  // a cast to what another tensor has converts no module
      roots = roots_to_analyse(*program, functions);
      tried.roots = roots.size();
    }
    if (!after && stays(*program, roots, i)) return false;
    if (!after) after = judge(*program, roots, settings_[i], spent_);
    if (!after) return takes_too_much(budget_);
    const Verdict& before = *before_.at(functions).verdicts[i];
    if (after->given_up > before.given_up) return takes_too_long();
    return is_cured(before, *after, settings_[i]);
  });
}

bool FixTrial::cures(const std::vector<CastEdit>& edits) {
  limit_.clear();
  objection_.clear();
  Functions functions;
  {
    EditedModule edited(module_);
    if (!std::ranges::all_of(edits, [&](const CastEdit& each) { return edited.add(each); })) return false;
    functions = edited.functions();
  }
  if (left_for_all() == 0) {
    limit_ = fmt::format("to try the edits of all findings takes more than {} steps", for_all_);
    return false;
  }
  const std::vector<std::size_t> order = in_order();
  const std::size_t first = settings_to_see(functions, order);  // what is not found cannot be seen to go
  if (first == 0) return false;
  const auto known =
      std::find_if(shared_.begin(), shared_.end(), [&](const Tried& each) { return each.edits == edits; });
  Tried fresh{edits, Verdicts(settings_.size())};
  Tried& tried = known == shared_.end() ? fresh : *known;
  unknowing_.clear();
  // Most edits that do not cure leave the finding there: other settings are judged for those that do not.
  // That takes the module as it was.
  bool cured = is_cured_in(std::span(order).first(first), functions, tried);
  for (std::size_t i = first; cured && i < order.size(); ++i) {
    if (!verdict_before(functions, order[i])) cured = takes_too_much(budget_);
  }
  cured = cured && is_cured_in(std::span(order).subspan(first), functions, tried);
  if (&tried == &fresh && fresh.roots >= kManyRoots) shared_.push_back(std::move(fresh));
  if (!cured || unknowing_.empty() || is_found_from_others(functions)) return cured;
  objection_ = fmt::format("in a run from '{}' the dtype that is cast to is not known",
                           module_.functions.at(*unknowing_.begin()).name);
  return false;
}

}  // namespace dtype_guard::flow
