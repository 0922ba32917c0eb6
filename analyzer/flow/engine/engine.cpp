#include "analyzer/flow/engine/engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace dtype_guard::flow {
namespace {
constexpr int kMaxDepth = 32;
constexpr int kMaxRounds = 3;  // of one function within its own evaluation
// Of one block in one activation. Real code settles in a handful; what has not by the first number keeps what
// it had, so that it cannot go back and forth for ever.
constexpr std::size_t kVisitsBeforeWidening = 12;
constexpr std::size_t kMaxVisits = 64;
// Symbols of a loop's head: which round it is, and what counts them.
constexpr int kRound = -2;
constexpr int kCounted = -3;
constexpr ValueId kResult = 0;  // where a finished activation has its result; no instruction has that id
}  // namespace

Engine::Engine(const Program& program, const AnalysisOptions& options, const PrecisionSetting& setting,
               const std::string& torch_version, Work& work)
    : program_(program),
      index_(program.functions),
      options_(options),
      setting_(setting),
      torch_version_(torch_version),
      work_(work) {}

std::vector<SinkRecord> Engine::records() const {
  return effects_.sinks.all(symbols_, [&](const SinkRecord& record) {
    return ids_.known_symbol(record.context, record.instruction, kOperatorMark);
  });
}

Value Engine::call(std::uint32_t function, std::vector<Value> arguments, State& state, ContextId context,
                   const Activation* caller, bool& alive, const Instruction* site) {
  const Stub* stub = stub_at(function, site);
  const Function& code = stub ? stub->code : index_.function(function);
  int rounds = 0;
  for (const Activation* each = caller; each; each = each->caller) rounds += each->function == function;
  if (rounds >= kMaxRounds || (caller && caller->depth >= kMaxDepth) || code.blocks.empty()) {
    for (const Value& each : arguments) havoc(state, each);
    return Value::unknown(ids_.symbol(context, &code));
  }
  if (notes_halves_) has_run_.insert(function);
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
  TensorChanges changes = std::exchange(changes_, {});

  const bool in_round = ids_.in_round();
  run(activation, std::move(state));
  ids_.set_in_round(in_round);
  alive = activation.finish.has_value();
  if (!alive) {
    changes_ = std::move(changes);
    return {};
  }
  const Value result = activation.finish->values[kResult];
  state = std::move(*activation.finish);
  state.values = std::move(callers_values);
  take_over_changes(state, std::move(changes), activation);
  state.erase(activation.frame);
  state.guards = after_call(std::move(guards), state.guards, activation.context, symbols_);
  std::erase_if(state.tests, [&](const PassedTest& each) {
    return each.context == activation.context && each.test->op == Op::kBranch;
  });
  return result.is_bottom() ? Value::none() : result;
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
        is_head ? sides_of_rounds(activation, block, ways, ways.size() - again.size()) : std::vector<Side>();
    State state = join(ways, symbols_, meeting, rounds);
    if (before[block] && visits[block] > kVisitsBeforeWidening)
      state = join({&*before[block], &state}, symbols_, {activation.context, &info, block, true});
    if (before[block] && *before[block] == state) continue;
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
        end_round(activation, {block, target}, after, before[target] ? *before[target] : unseen);
      leave_loops(activation, block, target, after);
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
  for (const Alternative& each : tensors(state, value(state, instruction.result))) {
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
    if (++effects_.steps > options_.step_budget) {
      throw BudgetExceeded(fmt::format("more than {} instructions were evaluated", options_.step_budget));
    }
    work_.add_step(ids_.count_of_objects());
    if (work_.is_used_up()) throw BudgetExceeded("all functions together took more than they may");
    switch (instruction.op) {
      case Op::kJump:
        out.emplace_back(0, std::move(state));
        return out;
      case Op::kReturn: {
        const Value result = instruction.args.empty() ? Value() : argument(state, instruction, 0);
        if (!activation.caller) {
          escape(activation, instruction, result, Escape::kKept, state);
          record_leaving(activation, instruction, result, state);
        }
        finish(activation, result, std::move(state));
        return out;
      }
      case Op::kUnreachable:
        return out;
      case Op::kBranch: {
        const Value condition = argument(state, instruction, 0);
        const std::optional<bool> known = truth(condition);
        for (const bool taken : {true, false}) {
          State next = state;
          const ValueId fact = instruction.args[0].value;
          const bool feasible = known ? *known == taken : refine(activation, next, fact, taken);
          const bool is_check = activation.info.always_throws[instruction.targets[taken ? 1 : 0]];
          const bool passes = feasible || (is_check && state_by_check(activation, next, fact, taken));
          if (is_check) record_check(activation, instruction, fact, taken, !passes, state);
          if (!passes) continue;
          if (!known) {
            add_guard(next.guards, guard(activation, instruction, taken, state));
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
        if (!transfer(activation, instruction, state)) return out;
        if (watched_) note_watched(instruction, state);
    }
  }
  finish(activation, Value(), std::move(state));  // a block without terminator
  return out;
}

void Engine::finish(Activation& activation, const Value& result, State state) {
  state.values = {};
  state.values.change(kResult) = result;
  activation.returns.insert_or_assign(activation.block, std::move(state));
}

// What a round made is there in the next if that comes, and it comes where the loop's own condition says so:
// `if (i == last) q = wide;`. What came with the first is one thing with the numbers that tell the rounds
// apart.
std::vector<Side> Engine::sides_of_rounds(const Activation& activation, BlockId head,
                                          const std::vector<const State*>& ways, std::size_t first) {
  const void* site = &activation.code.blocks[head];
  const SymbolSetId round = symbols_.checked(ids_.choice(Nature::kRound, activation.context, site, kRound));
  const SymbolSetId counted =
      symbols_.checked(ids_.choice(Nature::kSetting, activation.context, site, kCounted));
  std::vector<Side> out;
  for (std::size_t i = 0; i < ways.size(); ++i) {
    Side side{{}, round, symbols_.unite(round, counted), {}};
    for (Guard each : i < first ? Guards() : ways[i]->guards) {
      if (each.context != activation.context || !leaves_a_loop(activation, each.block)) continue;
      each.passage = 0;
      side.guards.push_back(each);
    }
    out.push_back(std::move(side));
  }
  return out;
}

bool Engine::leaves_a_loop(const Activation& activation, BlockId block) {
  const std::vector<BlockId>& targets = activation.code.blocks[block].instructions.back().targets;
  return std::any_of(activation.info.loops.begin(), activation.info.loops.end(),
                     [&](const FunctionInfo::Loop& loop) {
                       return std::any_of(targets.begin(), targets.end(),
                                          [&](BlockId to) { return loop.is_left_by(block, to); });
                     });
}

// What a loop has made is there where it ran, and a question whether it did may be asked later: `if (n > 0)`.
void Engine::leave_loops(const Activation& activation, BlockId from, BlockId to, State& state) {
  for (const FunctionInfo::Loop& loop : activation.info.loops) {
    const auto before = activation.begun.find(loop.head);
    if (before == activation.begun.end() || !loop.is_left_by(from, to)) continue;
    Guards passed;
    std::copy_if(
        state.guards.begin(), state.guards.end(), std::back_inserter(passed),
        [&](const Guard& each) { return each.context == activation.context && loop.blocks[each.block]; });
    const SymbolSetId conditions = side_of(std::move(passed), state.guards, symbols_).symbols;
    const bool constant = symbols_.deciding(conditions) == ids_.undecided();
    note_conditions(state.heap, before->second.heap, constant ? 0 : conditions,
                    symbols_.unite(conditions, ids_.undecided()), symbols_);
  }
}

const Value& Engine::value(const State& state, ValueId id) const {
  static const Value unknown = Value::unknown();
  const Value& out = state.values[id];
  return out.is_bottom() ? unknown : out;
}

const Value& Engine::argument(const State& state, const Instruction& instruction,
                              std::size_t position) const {
  return value(state, position < instruction.args.size() ? instruction.args[position].value : 0);
}

const Value* Engine::named(const State& state, const Instruction& instruction, std::string_view name) const {
  for (const Argument& each : instruction.args) {
    if (each.name == name) return &value(state, each.value);
  }
  return nullptr;
}

}  // namespace dtype_guard::flow
