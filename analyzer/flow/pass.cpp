#include "analyzer/flow/pass.h"

#include <algorithm>

#include "analyzer/flow/engine/default_functions.h"
#include "analyzer/flow/ir/module_code.h"
#include "analyzer/flow/queries/query.h"

namespace dtype_guard::flow {

namespace {
constexpr int kMaxProofs = 4;  // for one root
bool is_open(const SinkOperand& arrived) {
  return std::any_of(arrived.alternatives.begin(), arrived.alternatives.end(), [](const Alternative& each) {
    return each.kind != Alternative::Kind::kNone && each.dtype == Dtype::kUndefined;
  });
}

// A size, an index: what it is as a number is known, and that it has no dtype to ask for.
bool is_number(const Alternative& each) {
  using Kind = Alternative::Kind;
  const bool is_one = each.kind == Kind::kNumber || each.kind == Kind::kBool || each.kind == Kind::kUnknown;
  return is_one && each.dtype != Dtype::kUndefined;
}

bool decides_too_little(const std::vector<SinkRecord>& records) {
  return std::any_of(records.begin(), records.end(), [](const SinkRecord& record) {
    return std::any_of(record.operands.begin(), record.operands.end(), is_open);
  });
}
}  // namespace

void SeenByRoots::count(const Engine& engine) {
  steps += engine.steps();
  tells_half_types_apart = tells_half_types_apart || engine.tells_half_types_apart();
}

void SeenByRoots::note(const Engine& engine, std::uint32_t root) {
  std::vector<SinkRecord> all = engine.records();
  for (SinkRecord& each : all) {
    Instruction& call = calls.emplace_back();  // the engine's own may be gone when this is read
    call.op = each.instruction->op;
    // A call of a field that holds a module is named by what that is.
    call.name = each.instruction->name.starts_with(kAttributeCall) ? each.api->name : each.instruction->name;
    call.range = each.instruction->range;
    each.instruction = &call;
    each.root = root;
    records.push_back(std::move(each));
  }
  const FollowedCalls& now = engine.calls();
  followed.followed.insert(now.followed.begin(), now.followed.end());
  followed.lost.insert(now.lost.begin(), now.lost.end());
}

// Whether it makes an object itself of what a caller leaves out.
static bool makes_up_for_none(const Function& code) {
  return std::any_of(code.parameters.begin(), code.parameters.end(),
                     [&](const Parameter& each) { return stands_for_default(code, each); });
}

bool Pass::look_at(std::uint32_t root, FindingCollector& collector, SeenByRoots& out, std::string& problem) {
  is_settled_ = false;
  begin(root);
  Engine* const evaluated = evaluate(root, out, problem);
  if (problem.empty()) note_decided(root, *engine_, out);
  if (!evaluated && problem.empty()) {
    const bool is_undecided = decides_too_little(engine_for(root).records());
    if (has_functions_by_default(root)) look_at_default_object(root, collector, out);
    if (makes_up_for_none(program_.functions.function(root))) look_at_default_call(root, collector, out);
    if (is_undecided) look_at_witnesses(root, collector, out);
    look_at_handed_objects(root, *engine_, collector, out);
  }
  if (!evaluated) return problem.empty();
  Engine& engine = *evaluated;
  const DefectOptions how = how_to_judge(engine, root);
  const std::vector<SinkRecord> records = engine.records();
  std::vector<RankFacts> proofs;  // by record; empty where they decide nothing
  bool some_are_possible = false;
  for (const SinkRecord& record : records) {
    bool doubted = false;
    for (const Defect& defect : find_defects(record, engine, how)) {
      add(root, defect, engine, how, collector);
      some_are_possible = some_are_possible || !defect.definite;
      doubted = doubted || (!defect.definite && defect.alternative.uncertain);
    }
    proofs.push_back(doubted ? engine.proved_by(record) : RankFacts());
    if (options_.refusals) note_refusals(root, record, engine, how, collector, out);
  }
  for (int again = 0; again < kMaxProofs; ++again) {
    const auto next =
        std::find_if(proofs.begin(), proofs.end(), [](const RankFacts& each) { return !each.empty(); });
    if (next == proofs.end()) break;
    look_again(root, records, proofs, RankFacts(*next), engine, how, collector, out);
  }
  if (some_are_possible || has_functions_by_default(root)) look_at_default_object(root, collector, out);
  if (some_are_possible || makes_up_for_none(program_.functions.function(root)))
    look_at_default_call(root, collector, out);
  if (some_are_possible || decides_too_little(records)) look_at_witnesses(root, collector, out);
  look_at_handed_objects(root, *engine_, collector, out);
  return true;
}

// What a module's code hands to a call of its own file, where that is known in full and right wherever it is
// reached: no setting that it does not have is held against it.
void Pass::note_decided(std::uint32_t root, Engine& engine, SeenByRoots& out) const {
  const Function& code = program_.functions.function(root);
  if (!is_module_code(code) || !code.external) return;
  const DefectOptions how = how_to_judge(engine, root);
  const std::vector<SinkRecord> records = engine.records();
  const auto is_right = [&](const SinkRecord& record) {
    const bool is_settled =
        std::all_of(record.operands.begin(), record.operands.end(), [](const SinkOperand& each) {
          return !is_open(each) && std::none_of(each.alternatives.begin(), each.alternatives.end(),
                                                [](const Alternative& one) { return one.uncertain; });
        });
    return is_settled && find_defects(record, engine, how).empty();
  };
  std::vector<SourceRange> wrong;
  for (const SinkRecord& each : records) {
    if (!is_right(each)) wrong.push_back(each.instruction->range);
  }
  for (const SinkRecord& each : records) {
    const SourceRange& at = each.instruction->range;
    const bool own = at.file == code.range.file;
    if (own && std::find(wrong.begin(), wrong.end(), at) == wrong.end()) out.decided.push_back(at);
  }
}

// What roots of one class share is found once.
Engine& Pass::engine_for(std::uint32_t root) {
  constexpr std::size_t kMaxObjects = 100'000;  // all of which states have places for
  const std::string& owner = program_.functions.function(root).class_name;
  const bool is_large = engine_ && engine_->count_of_objects() > kMaxObjects;
  if (!engine_ || is_large || owner.empty()) {
    if (engine_) ran_before_.insert(engine_->ran().begin(), engine_->ran().end());
    engine_ = std::make_unique<Engine>(program_, options_, setting_, torch_version_, work_);
  }
  return *engine_;
}

void Pass::begin(std::uint32_t root) {
  const std::string& owner = program_.functions.function(root).class_name;
  if (!owner.empty() && owner == owner_) return;
  engine_.reset();
  ran_before_.clear();
  owner_ = owner;
}

std::set<std::uint32_t> Pass::ran() const {
  std::set<std::uint32_t> out = ran_before_;
  if (engine_) out.insert(engine_->ran().begin(), engine_->ran().end());
  return out;
}

// Null where it was given up, or where nothing is found even on trust.
Engine* Pass::evaluate(std::uint32_t root, SeenByRoots& out, std::string& problem) {
  Engine& engine = engine_for(root);
  for (const OtherCode others : {OtherCode::kTrusted, OtherCode::kLookedAt}) {
    if (others == OtherCode::kTrusted && options_.refusals) continue;
    try {
      engine.evaluate_root(root, {}, others);
    } catch (const BudgetExceeded& exceeded) {
      problem = exceeded.what();
    }
    out.count(engine);
    if (!problem.empty()) return nullptr;
    out.note(engine, root);
    if (others == OtherCode::kLookedAt || has_defects(engine, root)) continue;
    is_settled_ = !engine.tells_half_types_apart();
    return nullptr;
  }
  return &engine;
}

void Pass::add(std::uint32_t root, const Defect& defect, Engine& engine, const DefectOptions& how,
               FindingCollector& collector) {
  if (!caller_casts_.settle(root, defect, how)) collector.add(defect, engine, setting_.name, torch_version_);
}

void Pass::note_refusals(std::uint32_t root, const SinkRecord& record, Engine& engine,
                         const DefectOptions& how, const FindingCollector& collector,
                         SeenByRoots& out) const {
  const auto refused = [&](const SinkOperand& arrived, Dtype dtype) {
    out.refusals.push_back({root, setting_.name, collector.sink(record, arrived.role), dtype});
  };
  for (const Defect& each : find_breaches(record, engine, how)) {
    if (each.stated) refused(*each.arrived, each.alternative.dtype);
  }
  for (const SinkOperand& each : record.operands) {
    if (is_open(each)) refused(each, Dtype::kUndefined);
    for (const Alternative& one : each.alternatives) {
      if (is_number(one)) refused(each, one.dtype);
    }
  }
}

DefectOptions Pass::how_to_judge(const Engine& engine, std::uint32_t root) const {
  const bool is_main = program_.functions.function(root).is_main;
  DefectOptions how;
  how.named_by_user = options_.settings_named_by_user;
  how.module_is_half = engine.converted_to_half() || (!is_main && is_half(setting_.parameters));
  how.closed = is_main;
  how.root = root;
  how.device = options_.device;
  how.torch_version = torch_version_;
  return how;
}

bool Pass::has_defects(Engine& engine, std::uint32_t root) const {
  const DefectOptions how = how_to_judge(engine, root);
  const std::vector<SinkRecord> records = engine.records();
  return std::any_of(records.begin(), records.end(),
                     [&](const SinkRecord& record) { return !find_defects(record, engine, how).empty(); });
}

// What a call proves of the ranks of its inputs it proves of all that was computed of them before: where it
// does not throw, that was so from the start. Says of the calls that prove this what they are given then.
void Pass::look_again(std::uint32_t root, const std::vector<SinkRecord>& records,
                      std::vector<RankFacts>& proofs, const RankFacts& proved, Engine& engine,
                      const DefectOptions& how, FindingCollector& collector, SeenByRoots& out) {
  try {
    engine.evaluate_root(root, proved);
  } catch (const BudgetExceeded&) {
  }
  out.count(engine);
  const std::vector<SinkRecord> now = engine.records();
  for (std::size_t i = 0; i < records.size(); ++i) {
    if (proofs[i] != proved) continue;
    proofs[i] = {};
    const auto same = std::find_if(now.begin(), now.end(), [&](const SinkRecord& each) {
      return each.context == records[i].context && each.instruction == records[i].instruction;
    });
    if (same == now.end()) continue;
    for (const Defect& defect : find_defects(*same, engine, how)) {
      if (defect.definite) add(root, defect, engine, how, collector);
    }
  }
}

// Without them nothing is known of what its constructors make by these.
bool Pass::has_functions_by_default(std::uint32_t root) const {
  const FunctionIndex& index = program_.functions;
  const Function& code = index.function(root);
  if (code.class_name.empty()) return false;
  const std::vector<std::uint32_t> all = index.constructors(code.class_name, units_of(code).front());
  return std::any_of(all.begin(), all.end(), [&](std::uint32_t each) {
    const Function& constructor = index.function(each);
    return std::any_of(constructor.parameters.begin(), constructor.parameters.end(),
                       [&](const Parameter& one) {
                         return is_function_by_default(one) || stands_for_default(constructor, one);
                       });
  });
}

// Anyone may leave out what a constructor has a default for: what that object comes to is certain, whatever
// others do.
void Pass::look_at_default_object(std::uint32_t root, FindingCollector& collector, SeenByRoots& out) {
  if (program_.functions.function(root).class_name.empty()) return;
  Engine& engine = engine_for(root);
  RootCase how;
  how.made_by_defaults = true;
  const bool has_some = look_at_case(root, how, engine, out);
  add_definite(root, has_some, engine, collector, out);
}

// Nor need a caller hand over what the root has a default for.
void Pass::look_at_default_call(std::uint32_t root, FindingCollector& collector, SeenByRoots& out) {
  const Function& code = program_.functions.function(root);
  const bool leaves_out = std::any_of(code.parameters.begin(), code.parameters.end(),
                                      [](const Parameter& each) { return each.default_value.has_value(); });
  if (!leaves_out || code.is_main) return;
  Engine& engine = engine_for(root);
  RootCase how;
  how.made_by_defaults = how.called_by_defaults = true;
  const bool has_some = look_at_case(root, how, engine, out);
  add_definite(root, has_some, engine, collector, out);
}

// What the program's own objects come to is certain likewise.
void Pass::look_at_witnesses(std::uint32_t root, FindingCollector& collector, SeenByRoots& out) {
  if (program_.functions.function(root).class_name.empty()) return;
  Engine& engine = engine_for(root);
  const std::vector<Witness>& all = engine.known_cases().witnesses(root);
  out.count(engine);
  for (const Witness& each : all) {
    RootCase how;
    how.object = &each;
    add_definite(root, look_at_case(root, how, engine, out), engine, collector, out);
  }
  look_at_calls(root, engine, collector, out);
}

// What an object is that a caller hands over is no guess where it is one of those that the program makes:
// what is found with each of them.
void Pass::look_at_handed_objects(std::uint32_t root, Engine& engine, FindingCollector& collector,
                                  SeenByRoots& out) {
  const std::vector<Parameter>& parameters = program_.functions.function(root).parameters;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i].kind != ParameterKind::kObject) continue;
    const std::vector<Witness>& all = engine.known_cases().all_objects(parameters[i].type, root);
    out.count(engine);
    RootCase how;
    const auto has_some = [&](const Witness& each) {
      how.handed = {i, &each};
      return look_at_case(root, how, engine, out);
    };
    if (all.empty() || !std::all_of(all.begin(), all.end(), has_some)) continue;
    for (const Witness& each : all) add_definite(root, has_some(each), engine, collector, out);
  }
}

// So is what its calls hand to a module, where nothing is known of it otherwise. Callers cost work: in a
// large program that is wanted for the roots which would be left out.
void Pass::look_at_calls(std::uint32_t root, Engine& engine, FindingCollector& collector, SeenByRoots& out) {
  constexpr std::size_t kMostFunctions = 15'000;  // transformers' models: 33,000, timm 6,000
  if (program_.functions.module().functions.size() > kMostFunctions) return;
  const std::vector<HandedCall>& all = engine.known_cases().calls(root);
  out.count(engine);
  RootCase how;
  how.made_by_defaults = how.called_by_defaults = true;
  for (const HandedCall& each : all) {
    how.call = &each;
    add_definite(root, look_at_case(root, how, engine, out), engine, collector, out);
  }
}

// Whether there is anything to find where the root is called so.
bool Pass::look_at_case(std::uint32_t root, const RootCase& how, Engine& engine, SeenByRoots& out) {
  bool has_some = true;
  try {
    for (const OtherCode others : {OtherCode::kTrusted, OtherCode::kLookedAt}) {
      if (!has_some) break;
      if (others == OtherCode::kTrusted && options_.refusals) continue;
      engine.evaluate_root(root, {}, others, how);
      out.count(engine);
      has_some = has_defects(engine, root);
    }
    is_settled_ = is_settled_ && !has_some && !engine.tells_half_types_apart();
    return has_some;
  } catch (const BudgetExceeded&) {
    return is_settled_ = false;
  }
}

void Pass::add_definite(std::uint32_t root, bool has_some, Engine& engine, FindingCollector& collector,
                        SeenByRoots& out) {
  if (!has_some && !options_.refusals) return;
  const DefectOptions how = how_to_judge(engine, root);
  for (const SinkRecord& record : engine.records()) {
    for (const Defect& defect : find_defects(record, engine, how)) {
      if (defect.definite) add(root, defect, engine, how, collector);
    }
    if (options_.refusals) note_refusals(root, record, engine, how, collector, out);
  }
}

}  // namespace dtype_guard::flow
