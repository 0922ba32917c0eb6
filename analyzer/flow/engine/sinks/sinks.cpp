// Calls that have a contract: what arrives is recorded for the rule queries; the result follows the contract.
#include "analyzer/flow/engine/sinks/sinks.h"

#include <algorithm>

#include "analyzer/flow/engine/arguments.h"
#include "analyzer/flow/engine/passed_tests.h"
#include "analyzer/flow/operators/contractions.h"
#include "analyzer/flow/program/demanded_dtype.h"
#include "analyzer/flow/program/watched_body.h"
#include "rules/contracts/own_contracts.h"
#include "rules/contracts/roles.h"
#include "rules/operators/library_names.h"

namespace dtype_guard::flow {
namespace {
using Kind = Alternative::Kind;
}  // namespace

// What the conditions of the call exclude does not arrive.
std::vector<Alternative> arriving(std::vector<Alternative> all, const Guards& guards,
                                  const SymbolSets& symbols) {
  std::vector<Alternative> out;
  for (const Alternative& each : all) {
    const bool is_excluded = relation(each.symbols, guards, symbols) == SymbolSets::Relation::kContradict;
    if (!is_excluded || each.elsewhere) out.push_back(is_excluded ? only_elsewhere(each) : each);
  }
  return out.empty() ? all : out;
}

namespace {
// By the role that the argument is given for, else by its position.
const Operand* operand_of(const Api& api, const Instruction& sink, std::size_t position) {
  const std::string& role = sink.args[position].name;
  if (!role.empty()) return api.find(role);
  const auto at = std::find_if(api.operands.begin(), api.operands.end(), [&](const Operand& each) {
    return each.argument == static_cast<int>(position);
  });
  return at == api.operands.end() ? nullptr : &*at;
}

Alternative of_dtype(Alternative each, Dtype dtype) {
  if (each.dtype != dtype) each.origin = 0;
  each.dtype = dtype;
  return each;
}
}  // namespace

// By the option that says so, fixed, or like one of the operands.
Value Sinks::sink_result(const SinkRecord& record, const Instruction& instruction, const State& state) {
  const Api& api = *record.api;
  Value result;
  for (std::size_t i = 0; i < instruction.args.size(); ++i) {
    if (instruction.args[i].name != kResultArgument) continue;
    for (const Alternative& each : argument(state, instruction, i)) {
      if (each.kind == Kind::kNone) continue;
      Alternative named = Alternative::tensor(each.kind == Kind::kDtype ? each.dtype : Dtype::kUndefined, {});
      result = join(result, Value(named), symbols_);
    }
  }
  if (!result.is_bottom()) return result;
  if (api.result_dtype != Dtype::kUndefined) return Value(Alternative::tensor(api.result_dtype, {}));
  return api.result_like.empty() ? result : result_like(api.result_like, record, state);
}

Value Sinks::result_like(const std::string& role, const SinkRecord& record, const State& state) {
  const Api& api = *record.api;
  Value result;
  const bool recasts = api.autocast_at(options_.device, torch_version_) == AutocastBehaviour::kRecasts;
  const auto add = [&](Alternative each) {
    if (const auto other = api.result_for.find(each.dtype); other != api.result_for.end())
      each = of_dtype(each, other->second);
    result = join(result, Value(each), symbols_);
  };
  for (const SinkOperand& operand : record.operands) {
    if (operand.role != role) continue;
    for (Alternative each : operand.alternatives) {
      if (!keeps_origins_) each.origin = 0;
      each.trail = 0;
      each.lineage = 0;
      each.products = 0;
      const bool recast = recasts && each.dtype != Dtype::kFloat64;  // autocast leaves that as it is
      if (each.kind == Kind::kTensor && state.autocast.may_be_on && recast) {
        if (state.autocast.may_be_off && each.dtype != state.autocast.dtype) {
          Alternative as_it_is = each;
          as_it_is.uncertain = true;
          add(as_it_is);
        }
        each = of_dtype(each, state.autocast.dtype);
        each.assumed = each.assumed || state.autocast.assumed;
        each.uncertain = each.uncertain || state.autocast.may_be_off || each.dtype == Dtype::kUndefined;
      }
      add(each);
    }
  }
  return result;
}

// A list of those of which the contract says something, and of more that are not known.
Value Sinks::several_results(const Activation& activation, const Instruction& instruction,
                             const SinkRecord& record, State& state) {
  const HeapId id = ids_.object(activation.context, &instruction);
  HeapObject list;
  list.kind = HeapObject::Kind::kContainer;
  const SymbolSetId symbols = questions_.asked(activation, instruction, state);
  for (const ApiResult& each : record.api->results) {
    const Value one = each.like.empty() ? Value(Alternative::tensor(each.dtype, {}))
                                        : result_like(each.like, record, state);
    const Key key{Key::Kind::kIndex, static_cast<std::int64_t>(list.cells.size())};
    list.cells[key] = rounds_.kept_in(state, id, one.is_bottom() ? Value::unknown(symbols) : one);
  }
  list.rest = Value::unknown(symbols);
  state.put(id, std::move(list));
  return Value(Alternative::at(Kind::kObject, id));
}

// Autocast over float32 parameters is not what code runs under that makes its modules half.
bool Sinks::is_contradicted(const State& state) const {
  return state.module_is_half && state.autocast.assumed && !state.autocast.may_be_off &&
         !options_.settings_named_by_user;
}

SinkRecord Sinks::record_of(const Api& api, const Activation& activation, const Instruction& instruction,
                            const State& state) {
  SinkRecord record;
  record.api = &api;
  record.function = activation.function;
  record.instruction = &instruction;
  record.context = activation.context;
  record.autocast = state.autocast;
  record.others_are_guessed = state.other_inputs_are_guessed;
  record.tests = tests_before(activation, state);
  record.guards = state.guards;
  return record;
}

// Those that the contract decides. Where the body is followed as well, in the call behind this
// instruction, a shipped contract speaks of what that leaves open; a project's own holds as it is written.
const std::set<std::string>& Sinks::open_roles(const Api& api, const Activation& activation,
                                               const Instruction& instruction) {
  const auto [known, fresh] = open_roles_.try_emplace(&instruction);
  if (!fresh) return known->second;
  const Instruction* body = body_behind(activation.code.blocks[activation.block], instruction);
  const bool holds = !body || !is_shipped(api);
  for (std::size_t i = 0; i < instruction.args.size(); ++i) {
    const Operand* operand = operand_of(api, instruction, i);
    if (!operand) continue;
    if (body && !instruction.args[i].name.empty()) {  // of the contract's only what the body demands itself
      const auto position = static_cast<std::size_t>(operand->argument);
      if (demands(index_, *body, position, api.accepted(operand->role))) known->second.insert(operand->role);
      continue;
    }
    const Use use = holds ? Use::kHandedOn
                          : bodies_.use_of_operand(*body, i + object_arguments(instruction, *body),
                                                   api.accepted(operand->role));
    if (use == Use::kHandedOn) known->second.insert(operand->role);
    if (use == Use::kOwn && !operand->optional && role_kind(operand->role) != RoleKind::kIndex) {
      known->second.clear();
      break;
    }
  }
  return known->second;
}

namespace {
// Whether it says other things of float16 than of bfloat16.
bool takes_one_half_type(const Api& api) {
  const auto has_one = [](const DtypeSet& all) {
    return all.contains(Dtype::kFloat16) != all.contains(Dtype::kBFloat16);
  };
  return is_half(api.result_dtype) || !api.result_for.empty() ||
         std::any_of(api.operands.begin(), api.operands.end(),
                     [&](const Operand& each) { return has_one(api.accepted(each.role)); }) ||
         std::any_of(api.fast.begin(), api.fast.end(),
                     [&](const auto& of_device) { return has_one(of_device.second); }) ||
         std::any_of(api.results.begin(), api.results.end(),
                     [](const ApiResult& each) { return is_half(each.dtype); });
}
}  // namespace

const Api* Sinks::contract_of(std::string_view name) const {
  if (!options_.contracts) return nullptr;
  // What one kernel of a device refuses, another takes.
  const std::string_view device = options_.kernels_chosen ? std::string_view() : options_.device;
  return options_.contracts->named(name, torch_version_, device);
}

std::vector<Alternative> Sinks::arrived(const Value& given, const SinkRecord& record,
                                        const State& state) const {
  std::vector<Alternative> out = arriving(memory_.tensors(state, given), record.guards, symbols_);
  for (Alternative& each : out) {
    // A pointer that was asked whether it is there, and is not, is a false bool from there on.
    const bool counts = each.kind == Kind::kNumber || each.kind == Kind::kBool;
    const bool is_null = counts && each.has_number && each.number == 0;
    if (is_null) each = Alternative::of(Kind::kNone);
    if (each.kind != Kind::kTensor && each.kind != Kind::kNone) each.kind = Kind::kUnknown;
  }
  return out;
}

const Operand* operand_of_forward(const Api& api, const Instruction& call, std::size_t position) {
  const Argument& given = call.args[position];
  const auto is_it = [&](const Operand& each) {
    return given.name.empty() ? each.argument + 1 == static_cast<int>(position) : each.called() == given.name;
  };
  const auto found = std::find_if(api.operands.begin(), api.operands.end(), is_it);
  return found == api.operands.end() ? nullptr : &*found;
}

void Sinks::record_module(const Api& api, const Activation& activation, const Instruction& instruction,
                          const State& state) {
  if (is_contradicted(state)) return;
  SinkRecord record = record_of(api, activation, instruction, state);
  // A mask that is said to be causal may not be looked at.
  const bool is_causal =
      std::any_of(instruction.args.begin(), instruction.args.end(),
                  [](const Argument& each) { return is_named(Named::kSaysCausal, each.name); });
  for (std::size_t i = 1; i < instruction.args.size(); ++i) {
    const Operand* operand = operand_of_forward(api, instruction, i);
    if (!operand || (is_causal && role_kind(operand->role) == RoleKind::kMask)) continue;
    record.operands.push_back(
        {operand->role, arrived(argument(state, instruction, i), record, state), instruction.args[i].value});
  }
  effects_.sinks().add(std::move(record));
}

namespace {
// PyTorch's kernels that refuse what others take are for tensors of four dimensions; a project's own contract
// says nothing of them.
bool is_for_no_kernel(const Value& query) {
  constexpr int kOfKernels = 4;
  return !query.is_bottom() && std::all_of(query.begin(), query.end(), [](const Alternative& each) {
    return each.kind == Kind::kTensor && each.rank.is_exact() && each.rank.min != kOfKernels;
  });
}
}  // namespace

Value Sinks::sink(const Api& of_device, const Activation& activation, const Instruction& instruction,
                  State& state) {
  const bool falls_back = !of_device.devices.empty() && is_shipped(of_device) && !instruction.args.empty() &&
                          is_for_no_kernel(Value(memory_.tensors(state, argument(state, instruction, 0))));
  const Api* wide = falls_back ? options_.contracts->named(instruction.name, torch_version_) : nullptr;
  const Api& api = wide ? *wide : of_device;
  if (takes_one_half_type(api)) effects_.note_half_types_told_apart();
  const std::set<std::string>& open = open_roles(api, activation, instruction);
  if (open.empty() && !instruction.result) return {};
  SinkRecord record = record_of(api, activation, instruction, state);
  for (std::size_t i = 0; i < instruction.args.size(); ++i) {
    const Operand* operand = operand_of(api, instruction, i);
    if (!operand || !open.contains(operand->role)) continue;
    record.operands.push_back({operand->role, arrived(argument(state, instruction, i), record, state)});
  }

  const bool several = instruction.result && !api.results.empty();
  const Value result = several ? several_results(activation, instruction, record, state)
                               : sink_result(record, instruction, state);
  if (!is_contradicted(state)) effects_.sinks().add(std::move(record));
  return result.is_bottom() ? Value::unknown(questions_.asked(activation, instruction, state)) : result;
}

std::vector<SinkRecord> Sinks::records() const {
  return effects_.sinks().all(symbols_, [&](const SinkRecord& record) {
    return ids_.known_symbol(record.context, record.instruction, kOperatorMark);
  });
}

}  // namespace dtype_guard::flow
