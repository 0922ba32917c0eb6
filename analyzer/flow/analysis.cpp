#include "analyzer/flow/analysis.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>

#include "analyzer/flow/caller_casts.h"
#include "analyzer/flow/engine/default_functions.h"
#include "analyzer/flow/engine/interpreter/engine.h"
#include "analyzer/flow/findings/findings.h"
#include "analyzer/flow/queries/query.h"
#include "analyzer/flow/root_memo.h"
#include "analyzer/flow/roots/all_roots.h"
#include "analyzer/flow/roots/given_up.h"
#include "analyzer/flow/roots/named_device.h"
#include "analyzer/flow/roots/reach.h"

namespace dtype_guard::flow {

namespace {

// What the evaluation of all roots saw.
struct Sight {
  ReachedCalls calls;
  UnseenCalls unseen;
};

// One pass over all roots: one precision setting, one version.
class Pass {
 public:
  Pass(const Program& program, const AnalysisOptions& options, const PrecisionSetting& setting,
       const std::string& torch_version, Work& work)
      : program_(program),
        options_(options),
        setting_(setting),
        torch_version_(torch_version),
        work_(work),
        caller_casts_(program, options, setting, torch_version, work) {}

  // False when the root was given up; `problem` says why.
  bool look_at(std::uint32_t root, FindingCollector& collector, Sight& sight, AnalysisResult& out,
               std::string& problem) {
    is_settled_ = false;
    Engine* const evaluated = evaluate(root, sight, out, problem);
    if (!evaluated && problem.empty()) {
      const bool is_undecided = decides_too_little(engine_for(root).records());
      if (has_functions_by_default(root)) look_at_default_object(root, collector, out);
      if (is_undecided) look_at_witnesses(root, collector, out);
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
    if (some_are_possible) look_at_default_call(root, collector, out);
    if (some_are_possible || decides_too_little(records)) look_at_witnesses(root, collector, out);
    return true;
  }

  // Whether in the last root there is nothing to find with either half type.
  bool is_settled() const { return is_settled_; }

 private:
  // What roots of one class share is found once.
  Engine& engine_for(std::uint32_t root) {
    constexpr std::size_t kMaxObjects = 100'000;  // all of which states have places for
    const std::string& owner = program_.functions.function(root).class_name;
    const bool is_large = engine_ && engine_->count_of_objects() > kMaxObjects;
    if (!engine_ || is_large || owner.empty() || owner != owner_)
      engine_ = std::make_unique<Engine>(program_, options_, setting_, torch_version_, work_);
    owner_ = owner;
    return *engine_;
  }

  // Null where it was given up, or where nothing is found even on trust.
  Engine* evaluate(std::uint32_t root, Sight& sight, AnalysisResult& out, std::string& problem) {
    Engine& engine = engine_for(root);
    for (const OtherCode others : {OtherCode::kTrusted, OtherCode::kLookedAt}) {
      if (others == OtherCode::kTrusted && options_.refusals) continue;
      try {
        engine.evaluate_root(root, {}, others);
      } catch (const BudgetExceeded& exceeded) {
        problem = exceeded.what();
      }
      out.steps += engine.steps();
      if (!problem.empty()) return nullptr;
      sight.calls.note(engine.records());
      sight.unseen.note(engine.calls());
      if (others == OtherCode::kLookedAt || has_defects(engine, root)) continue;
      is_settled_ = !engine.tells_half_types_apart();
      return nullptr;
    }
    return &engine;
  }

  void add(std::uint32_t root, const Defect& defect, Engine& engine, const DefectOptions& how,
           FindingCollector& collector) {
    if (!caller_casts_.settle(root, defect, how))
      collector.add(defect, engine, setting_.name, torch_version_);
  }

  void note_refusals(std::uint32_t root, const SinkRecord& record, Engine& engine, const DefectOptions& how,
                     const FindingCollector& collector, AnalysisResult& out) const {
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

  DefectOptions how_to_judge(const Engine& engine, std::uint32_t root) const {
    const bool is_main = program_.functions.function(root).is_main;
    DefectOptions how;
    how.named_by_user = options_.settings_named_by_user;
    how.module_is_half = engine.converted_to_half() || (!is_main && is_half(setting_.parameters));
    how.closed = is_main;
    how.device = options_.device;
    how.torch_version = torch_version_;
    how.called_modules = &program_.called_modules;
    return how;
  }

  bool has_defects(Engine& engine, std::uint32_t root) const {
    const DefectOptions how = how_to_judge(engine, root);
    const std::vector<SinkRecord> records = engine.records();
    return std::any_of(records.begin(), records.end(),
                       [&](const SinkRecord& record) { return !find_defects(record, engine, how).empty(); });
  }

  // What a call proves of the ranks of its inputs it proves of all that was computed of them before: where it
  // does not throw, that was so from the start. Says of the calls that prove this what they are given then.
  void look_again(std::uint32_t root, const std::vector<SinkRecord>& records, std::vector<RankFacts>& proofs,
                  const RankFacts& proved, Engine& engine, const DefectOptions& how,
                  FindingCollector& collector, AnalysisResult& out) {
    try {
      engine.evaluate_root(root, proved);
    } catch (const BudgetExceeded&) {
    }
    out.steps += engine.steps();
    const std::vector<SinkRecord> now = engine.records();
    for (std::size_t i = 0; i < records.size(); ++i) {
      if (proofs[i] != proved) continue;
      proofs[i].clear();
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
  bool has_functions_by_default(std::uint32_t root) const {
    const FunctionIndex& index = program_.functions;
    const Function& code = index.function(root);
    if (code.class_name.empty()) return false;
    const std::vector<std::uint32_t> all = index.constructors(code.class_name, units_of(code).front());
    return std::any_of(all.begin(), all.end(), [&](std::uint32_t each) {
      const std::vector<Parameter>& parameters = index.function(each).parameters;
      return std::any_of(parameters.begin(), parameters.end(), is_function_by_default);
    });
  }

  // Anyone may leave out what a constructor has a default for: what that object comes to is certain, whatever
  // others do.
  void look_at_default_object(std::uint32_t root, FindingCollector& collector, AnalysisResult& out) {
    if (program_.functions.function(root).class_name.empty()) return;
    Engine& engine = engine_for(root);
    engine.objects().by_defaults = true;
    const bool has_some = look_at_object(root, engine, out);
    engine.objects().by_defaults = false;
    add_definite(root, has_some, engine, collector, out);
  }

  // Nor need a caller hand over what the root has a default for.
  void look_at_default_call(std::uint32_t root, FindingCollector& collector, AnalysisResult& out) {
    const Function& code = program_.functions.function(root);
    const bool leaves_out = std::any_of(code.parameters.begin(), code.parameters.end(),
                                        [](const Parameter& each) { return each.default_value.has_value(); });
    if (!leaves_out || code.is_main) return;
    Engine& engine = engine_for(root);
    engine.objects().by_defaults = engine.objects().called_by_defaults = true;
    const bool has_some = look_at_object(root, engine, out);
    add_definite(root, has_some, engine, collector, out);
    engine.objects().by_defaults = engine.objects().called_by_defaults = false;
  }

  // What the program's own objects come to is certain likewise.
  void look_at_witnesses(std::uint32_t root, FindingCollector& collector, AnalysisResult& out) {
    if (program_.functions.function(root).class_name.empty()) return;
    Engine& engine = engine_for(root);
    const std::size_t count = engine.find_witnesses(root);
    out.steps += engine.steps();
    for (std::size_t i = 0; i < count; ++i) {
      engine.objects().give(i);
      add_definite(root, look_at_object(root, engine, out), engine, collector, out);
      engine.objects().given = nullptr;
    }
    look_at_calls(root, engine, collector, out);
  }

  // So is what its calls hand to a module, where nothing is known of it otherwise.
  void look_at_calls(std::uint32_t root, Engine& engine, FindingCollector& collector, AnalysisResult& out) {
    const std::size_t count = engine.find_calls(root);
    out.steps += engine.steps();
    engine.objects().by_defaults = engine.objects().called_by_defaults = true;
    for (std::size_t i = 0; i < count; ++i) {
      engine.objects().handed = &engine.objects().calls[i];
      add_definite(root, look_at_object(root, engine, out), engine, collector, out);
      engine.objects().handed = nullptr;
    }
    engine.objects().by_defaults = engine.objects().called_by_defaults = false;
  }

  // Whether there is anything to find with the object that the engine was told to use.
  bool look_at_object(std::uint32_t root, Engine& engine, AnalysisResult& out) {
    bool has_some = true;
    try {
      for (const OtherCode others : {OtherCode::kTrusted, OtherCode::kLookedAt}) {
        if (!has_some) break;
        if (others == OtherCode::kTrusted && options_.refusals) continue;
        engine.evaluate_root(root, {}, others);
        out.steps += engine.steps();
        has_some = has_defects(engine, root);
      }
      is_settled_ = is_settled_ && !has_some && !engine.tells_half_types_apart();
      return has_some;
    } catch (const BudgetExceeded&) {
      return is_settled_ = false;
    }
  }

  void add_definite(std::uint32_t root, bool has_some, Engine& engine, FindingCollector& collector,
                    AnalysisResult& out) {
    if (!has_some && !options_.refusals) return;
    const DefectOptions how = how_to_judge(engine, root);
    for (const SinkRecord& record : engine.records()) {
      for (const Defect& defect : find_defects(record, engine, how)) {
        if (defect.definite) add(root, defect, engine, how, collector);
      }
      if (options_.refusals) note_refusals(root, record, engine, how, collector, out);
    }
  }

  static bool decides_too_little(const std::vector<SinkRecord>& records) {
    return std::any_of(records.begin(), records.end(), [](const SinkRecord& record) {
      return std::any_of(record.operands.begin(), record.operands.end(), is_open);
    });
  }

  static constexpr int kMaxProofs = 4;  // for one root
  static bool is_open(const SinkOperand& arrived) {
    return std::any_of(arrived.alternatives.begin(), arrived.alternatives.end(), [](const Alternative& each) {
      return each.kind != Alternative::Kind::kNone && each.dtype == Dtype::kUndefined;
    });
  }

  // A size, an index: what it is as a number is known, and that it has no dtype to ask for.
  static bool is_number(const Alternative& each) {
    using Kind = Alternative::Kind;
    const bool is_one = each.kind == Kind::kNumber || each.kind == Kind::kBool || each.kind == Kind::kUnknown;
    return is_one && each.dtype != Dtype::kUndefined;
  }

  const Program& program_;
  const AnalysisOptions& options_;
  const PrecisionSetting& setting_;
  const std::string& torch_version_;
  Work& work_;
  CallerCasts caller_casts_;
  std::unique_ptr<Engine> engine_;
  std::string owner_;  // of the roots that it evaluates
  bool is_settled_ = false;
};

}  // namespace

std::vector<std::uint32_t> roots_to_analyse(const Program& program,
                                            const std::vector<std::uint32_t>& through) {
  return roots_through(program, roots_that_reach_sinks(program.functions, all_roots(program)), through);
}

std::vector<std::uint32_t> roots_through(const Program& program, const std::vector<std::uint32_t>& roots,
                                         const std::vector<std::uint32_t>& through) {
  return through.empty() ? roots : roots_that_run(program.functions, roots, through);
}

namespace {
// In the order of their table, others behind: which setting comes first decides which account of a finding
// that several share is given, and that must not hang on the order in which they were asked for.
std::vector<PrecisionSetting> in_order(std::vector<PrecisionSetting> settings) {
  const std::vector<PrecisionSetting>& table = precision_settings();
  const auto place = [&](const PrecisionSetting& each) {
    const auto row = std::find_if(table.begin(), table.end(),
                                  [&](const PrecisionSetting& one) { return one.name == each.name; });
    return std::pair(row - table.begin(), row == table.end() ? each.name : std::string());
  };
  std::stable_sort(settings.begin(), settings.end(),
                   [&](const PrecisionSetting& a, const PrecisionSetting& b) { return place(a) < place(b); });
  return settings;
}
}  // namespace

AnalysisResult analyse(const Program& program, const std::vector<std::uint32_t>& roots,
                       const AnalysisOptions& options) {
  AnalysisResult out;
  const Module& module = program.functions.module();
  FindingCollector collector(module, options);
  Sight sight{ReachedCalls(module),
              UnseenCalls(program.functions, options.contracts ? *options.contracts : builtin_contracts())};
  GivenUp given_up;
  // Roots without anything to find in a setting, whichever the half type is, by version of PyTorch.
  std::map<std::string, std::map<std::string, std::set<std::uint32_t>>> settled;
  const std::vector<PrecisionSetting> settings = in_order(options.settings);
  OptionsByRoot by_root(program.functions, options);
  const auto template_of = [&](std::uint32_t root) {
    const std::uint32_t file = module.functions[root].range.file;
    const bool is_one = file < module.files.size() && options.templates.contains(module.files[file]);
    return is_one ? &module.files[file] : nullptr;
  };
  // A trial of an edit has few roots, and a budget of its own.
  const std::vector<std::uint32_t> order = options.refusals ? roots : nearest_first(program.functions, roots);
  KeptRoots memo(module, options);
  Work work;
  Shares shares(settings, options);
  for (const PrecisionSetting& setting : settings) {
    for (const std::string& torch_version : options.torch_versions) {
      work.allow(shares.next(static_cast<std::size_t>(&setting - settings.data()), work.steps()));
      std::map<const AnalysisOptions*, Pass> passes;  // by what the roots' code names
      std::set<std::uint32_t> settled_by_twin;
      for (const PrecisionSetting& each : settings) {
        if (are_twins(each, setting)) settled_by_twin.merge(settled[torch_version][each.name]);
      }
      for (const std::uint32_t root : order) {
        const AnalysisOptions& own = by_root.of(root);
        Pass& pass = passes.try_emplace(&own, program, own, setting, torch_version, work).first->second;
        if (given_up.is_pointless(root, setting) || settled_by_twin.contains(root)) continue;
        out.cut_short = out.cut_short || out.steps >= options.total_budget;
        if (out.cut_short) continue;
        collector.only_in(template_of(root));
        const KeptRoot gave = memo.of(root, setting.name, torch_version, collector, [&](KeptRoot& now) {
          if (options.before_root) options.before_root(root);
          work.begin_root(root == order.back());
          const bool is_done = !work.is_used_up() && pass.look_at(root, collector, sight, out, now.problem);
          now.is_left_out = !is_done && work.is_used_up();
          now.is_given_up = !is_done && !now.is_left_out;
          now.is_settled = !now.is_left_out && pass.is_settled();
        });
        if (gave.is_left_out) given_up.left_out(root, setting);
        out.left_out = out.left_out || gave.is_left_out;
        if (gave.is_given_up) given_up.exceeded(root, setting, gave.problem);
        if (gave.is_settled) settled[torch_version][setting.name].insert(root);
      }
    }
  }
  given_up.list(module, out.not_analysed);
  out.findings = collector.take();
  const std::map<std::uint32_t, std::string> over = given_up.functions(program.functions);
  out.calls = sight.calls.list(over);
  // A trial of an edit asks for its findings alone.
  if (!options.refusals) out.unseen = sight.unseen.list(over);
  return out;
}

AnalysisResult analyse(const Module& module, const AnalysisOptions& options) {
  const Program program(module);
  return analyse(program, roots_to_analyse(program), options);
}

}  // namespace dtype_guard::flow
