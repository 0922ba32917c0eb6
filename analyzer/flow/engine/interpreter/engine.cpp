#include "analyzer/flow/engine/interpreter/engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "analyzer/flow/engine/arguments.h"
#include "analyzer/flow/engine/known_values.h"
#include "analyzer/flow/engine/passed_tests.h"
#include "analyzer/flow/values/effort.h"

namespace dtype_guard::flow {
namespace {
constexpr int kMaxDepth = 32;
constexpr int kMaxRounds = 3;  // of one function within its own evaluation
// Of one block in one activation. Real code settles in a handful; what has not by the first number keeps what
// it had, so that it cannot go back and forth for ever.
constexpr std::size_t kVisitsBeforeWidening = 12;
constexpr std::size_t kMaxVisits = 64;
// What an instruction takes longer for each undecided branch on the way to it: in parts of a step.
constexpr std::size_t kOfGuard = 128;
constexpr ValueId kResult = 0;  // where a finished activation has its result; no instruction has that id

// Whether a function that is given back captured variables of that frame, which outlive the call with it.
bool is_captured(HeapId frame, const Value& given_back, const State& state) {
  return std::any_of(given_back.begin(), given_back.end(), [&](const Alternative& each) {
    const HeapObject* closure = each.kind == Alternative::Kind::kClosure ? state.find(each.object) : nullptr;
    return closure && std::any_of(closure->cells.begin(), closure->cells.end(), [&](const auto& cell) {
             return std::any_of(cell.second.begin(), cell.second.end(), [&](const Alternative& one) {
               return one.kind == Alternative::Kind::kReference && one.object == frame;
             });
           });
  });
}

// What the block gives back, and the state that it leaves.
void finish(Activation& activation, const Value& result, State state) {
  state.values = {};
  state.values.change(kResult) = result;
  activation.returns.insert_or_assign(activation.block, std::move(state));
}

// What the caller's activation has of its own while a callee runs: whether it is in a round of a loop, and
// what it changed of tensors. Put back where the call ends, by a throw too.
class OfCaller {
 public:
  OfCaller(Identities& ids, Registrations& registrations)
      : ids_(ids),
        registrations_(registrations),
        in_round_(ids.in_round()),
        changes_(registrations.begin_call()) {}
  ~OfCaller() {
    end_round();
    if (changes_) registrations_.drop_call(std::move(*changes_));
  }
  OfCaller(const OfCaller&) = delete;
  OfCaller& operator=(const OfCaller&) = delete;
  void end_round() { ids_.set_in_round(in_round_); }
  // For who puts them back with the callee's.
  TensorChanges changes() { return *std::exchange(changes_, std::nullopt); }

 private:
  Identities& ids_;
  Registrations& registrations_;
  const bool in_round_;
  std::optional<TensorChanges> changes_;
};
}  // namespace

Engine::Engine(const Program& program, const AnalysisOptions& options, const PrecisionSetting& setting,
               const std::string& torch_version, Work& work)
    : subject_{program, program.functions, options, setting, torch_version}, work_(work) {}

Value Engine::call(std::uint32_t function, std::vector<Value> arguments, State& state, ContextId context,
                   const Activation* caller, bool& alive, const Instruction* site) {
  const Stub* stub = stubs_.stub_at(function, site);
  const Function& code = stub ? stub->code : index_.function(function);
  int rounds = 0;
  for (const Activation* each = caller; each; each = each->caller) rounds += each->function == function;
  if (rounds >= kMaxRounds || (caller && caller->depth >= kMaxDepth) || code.blocks.empty()) {
    for (const Value& each : arguments) memory_.havoc(state, each);
    return Value::unknown(ids_.symbol(context, &code));
  }
  if (made_half_.takes_notes()) made_half_.note_run(function);
  ran_.insert(function);
  // What a stub does is the caller's doing.
  Activation activation{stub && caller ? caller->function : function,
                        code,
                        stub ? stub->info : index_.info(function),
                        context,
                        ids_.object(context, &code),
                        std::move(arguments),
                        caller ? caller->depth + 1 : 0,
                        caller,
                        {},
                        {},
                        {},
                        0};
  Values callers_values = std::exchange(state.values, {});
  HeapObject frame;
  frame.kind = HeapObject::Kind::kFrame;
  state.put(activation.frame, std::move(frame));
  Guards guards = state.guards;
  OfCaller of_caller(ids_, registrations_);
  run(activation, std::move(state));
  of_caller.end_round();
  alive = activation.finish.has_value();
  if (!alive) return {};
  const Value result = activation.finish->values[kResult];
  state = std::move(*activation.finish);
  state.values = std::move(callers_values);
  registrations_.take_over_changes(state, of_caller.changes(), activation);
  if (!is_captured(activation.frame, result, state)) state.erase(activation.frame);
  state.guards = after_call(std::move(guards), state.guards, activation.context, symbols_);
  state.tests.forget_if([&](const PassedTest& each) {
    return each.context == activation.context && each.test->op == Op::kBranch;
  });
  return result.is_bottom() ? Value::none() : result;
}

void Engine::evaluate_root(std::uint32_t function, const RankFacts& proved, OtherCode others,
                           const RootCase& how) {
  Effort::take();  // what was noted before is not the root's
  roots_.evaluate_root(function, proved, others, how);
}

Value Engine::object_asked_for(const std::string& class_name, const Activation& activation,
                               const Instruction& test, State& state) {
  return inputs_.object_asked_for(class_name, ids_.context(activation.context, &test), state);
}

HalvesOfRoot Engine::halves_of(std::uint32_t root) {
  Engine engine(subject_.program, options_, subject_.setting, subject_.torch_version, work_);
  engine.made_half_.begin_notes();
  engine.evaluate_root(root);
  ran_.merge(engine.ran_);
  return engine.made_half_.noted();
}

void Engine::run(Activation& activation, State entry) {
  const FunctionInfo& info = activation.info;
  const std::size_t count = activation.code.blocks.size();
  std::map<std::pair<BlockId, std::size_t>, State> edges;
  std::vector<std::optional<State>> before(count);
  std::vector<std::size_t> visits(count);
  std::set<std::pair<std::uint32_t, BlockId>> work = {{info.order[0], 0}};
  const State unseen;

  while (!work.empty()) {
    const BlockId block = work.begin()->second;
    work.erase(work.begin());
    std::vector<const State*> first, again;
    if (block == 0) first.push_back(&entry);
    for (const FunctionInfo::Edge& edge : info.incoming[block]) {
      const auto found = edges.find({edge.from, edge.slot});
      if (found != edges.end()) (edge.back ? again : first).push_back(&found->second);
    }
    if (first.empty() && again.empty()) continue;
    const bool is_head = std::any_of(info.incoming[block].begin(), info.incoming[block].end(),
                                     [](const FunctionInfo::Edge& edge) { return edge.back; });
    const Meeting meeting{activation.context, &info, block, is_head};
    if (is_head && !first.empty()) activation.begun.insert_or_assign(block, join(first, symbols_, meeting));
    std::vector<const State*> ways = std::move(first);
    ways.insert(ways.end(), again.begin(), again.end());
    const std::vector<Side> rounds =
        is_head ? rounds_.sides_of_rounds(activation, block, ways, ways.size() - again.size())
                : std::vector<Side>();
    State state = join(ways, symbols_, meeting, rounds);
    if (before[block] && visits[block] > kVisitsBeforeWidening)
      state = join({&*before[block], &state}, symbols_, {activation.context, &info, block, true});
    const bool counts_identities = visits[block] < kMaxVisits / 2;
    if (before[block] && *before[block] == state &&
        (!counts_identities || tells_apart_alike(*before[block], state)))
      continue;
    if (++visits[block] > kMaxVisits) {
      throw BudgetExceeded(
          fmt::format("'{}' did not settle after {} visits of one block", activation.code.name, kMaxVisits));
    }
    before[block] = state;
    const auto& code = activation.code.blocks[block].instructions;
    const auto last =
        std::find_if(code.begin(), code.end(), [](const Instruction& each) { return each.op >= Op::kJump; });
    const std::vector<BlockId> targets = last == code.end() ? std::vector<BlockId>{} : last->targets;
    for (auto& [slot, after] : execute(activation, block, std::move(state))) {
      const BlockId target = targets.at(slot);
      if (target >= count) continue;
      if (info.order[target] <= info.order[block])
        rounds_.end_round(activation, {block, target}, after, before[target] ? *before[target] : unseen);
      rounds_.leave_loops(activation, block, target, after);
      edges.insert_or_assign({block, slot}, std::move(after));
      work.emplace(info.order[target], target);
    }
  }
  std::vector<const State*> returned;
  for (const auto& [block, state] : activation.returns) returned.push_back(&state);
  if (!returned.empty()) activation.finish = join(returned, symbols_, {activation.context});
}

void Engine::note_watched(const Instruction& instruction, const State& state) {
  constexpr std::size_t kMost = 32;  // alternatives of one instruction
  const auto found = watched_->find(&instruction);
  if (found == watched_->end()) return;
  std::vector<Alternative>& noted = found->second;
  for (const Alternative& each : memory_.tensors(state, value(state, instruction.result))) {
    const auto same = std::find_if(noted.begin(), noted.end(), [&](const Alternative& other) {
      return other == each && other.rank == each.rank;
    });
    if (same == noted.end() && noted.size() < kMost) noted.push_back(each);
  }
}

Engine::Edges Engine::execute(Activation& activation, BlockId block, State state) {
  Edges out;
  activation.block = block;
  ids_.set_in_round(is_repeated(activation));
  for (const Instruction& instruction : activation.code.blocks[block].instructions) {
    if (effects_.count_step() > options_.step_budget) {
      throw BudgetExceeded(fmt::format("more than {} instructions were evaluated", options_.step_budget));
    }
    work_.add_step(Effort::take() + kOfGuard * state.guards.size());
    if (work_.is_used_up()) throw BudgetExceeded("all functions together took more than they may");
    if (work_.is_used_up_by_root()) throw BudgetExceeded("it took more than its share of what all may take");
    switch (instruction.op) {
      case Op::kJump:
        out.emplace_back(0, std::move(state));
        return out;
      case Op::kReturn: {
        const Value result = instruction.args.empty() ? Value() : argument(state, instruction, 0);
        if (!activation.caller) {
          escapes_.escape(activation, instruction, result, Escape::kKept, state);
          sinks_.record_leaving(activation, instruction, result, state);
        }
        finish(activation, result, std::move(state));
        return out;
      }
      case Op::kUnreachable:
        return out;
      case Op::kBranch: {
        const Value condition = argument(state, instruction, 0);
        const std::optional<bool> known = truth(condition, state, ids_);
        for (const bool taken : {true, false}) {
          State next = state;
          const ValueId fact = instruction.args[0].value;
          const bool feasible = known ? *known == taken : conditions_.refine(activation, next, fact, taken);
          const bool is_check = activation.info.always_throws[instruction.targets[taken ? 1 : 0]];
          const bool passes =
              feasible || (is_check && conditions_.state_by_check(activation, next, fact, taken));
          if (is_check) sinks_.record_check(activation, instruction, fact, taken, !passes, state);
          if (!passes) continue;
          if (is_check) conditions_.keep_text(activation, next, fact, taken);
          if (!known) {
            add_guard(next.guards, questions_.guard(activation, instruction, taken, state));
          }
          note_tests(activation, next, fact, taken,
                     {activation.context,
                      &instruction,
                      activation.info.definition(fact),
                      0,
                      activation.function,
                      {},
                      block,
                      instruction.targets[taken ? 1 : 0]});
          out.emplace_back(taken ? 0 : 1, std::move(next));
        }
        return out;
      }
      default:
        if (sightings_.is_looked_for(instruction)) sightings_.note_arrival(state);
        if (!transfer(activation, instruction, state)) return out;
        // What runs there was handed its arguments.
        if (sightings_.is_looked_for(instruction) && !calls_.followed().lost.contains(&instruction))
          throw NothingToHand();
        if (watched_) note_watched(instruction, state);
    }
  }
  finish(activation, Value(), std::move(state));  // a block without terminator
  return out;
}

}  // namespace dtype_guard::flow
