// What a root is handed where the program itself calls it, and it shows nowhere else: a module in a list that
// its model runs in turn is handed tables which the model has made. The module leaves open what others hand
// it; what the program does is a case that there is, and what is certain there is certain.
#include <algorithm>

#include "analyzer/flow/engine/arguments.h"
#include "analyzer/flow/engine/held_values.h"
#include "analyzer/flow/roots/roots.h"

namespace dtype_guard::flow {
namespace {
using Kind = Alternative::Kind;
constexpr std::size_t kMostCalls = 3;  // of one root, each of which costs an evaluation of its caller
constexpr int kMaxNesting = 3;         // containers of containers
constexpr int kMostContainers = 16;    // of one call

// Arguments as they were where the call was, for another function that starts from nothing.
class Mover {
 public:
  Mover(const State& from, State& to, Identities& ids, SymbolSets& symbols, ContextId context)
      : from_(from), to_(to), ids_(ids), symbols_(symbols), context_(context) {}

  // What is known of it; bottom where nothing is.
  Value moved(const Value& value, int depth = 0) {
    Value out;
    for (const Alternative& each : value) {
      const Value one = moved(each, depth);
      if (!one.is_bottom()) out = join(out, one, symbols_);
    }
    return out;
  }

 private:
  Value moved(Alternative each, int depth) {
    each.symbols = 0;
    switch (each.kind) {
      case Kind::kTensor:
        each.rank.symbol = 0;
        return each.dtype == Dtype::kUndefined ? Value() : Value(each);
      case Kind::kDtype:
        return each.dtype == Dtype::kUndefined ? Value() : Value(each);
      case Kind::kNumber:
      case Kind::kBool:
      case Kind::kString:
        return Value(each);
      case Kind::kHandle: {
        const Value contents = shared_contents(from_, Value(each));
        return depth < kMaxNesting && contents.single() && contents.single()->kind == Kind::kTensor
                   ? moved(contents, depth + 1)
                   : Value();
      }
      case Kind::kObject:
        return container(each, depth);
      default:
        return {};
    }
  }

  Value container(const Alternative& each, int depth) {
    const HeapObject* object = from_.find(each.object);
    const bool fits = object && object->kind == HeapObject::Kind::kContainer && depth < kMaxNesting;
    if (!fits || made_ >= kMostContainers) return {};
    const HeapId id = ids_.object(context_, this_place(), made_++);
    HeapObject copy;
    copy.kind = HeapObject::Kind::kContainer;
    copy.type = object->type;
    const auto inside = [&](const Value& value) {
      const Value known = moved(value, depth + 1);
      return known.is_bottom() ? Value::unknown() : known;
    };
    for (const auto& [key, cell] : object->cells) copy.cells[key] = inside(cell);
    if (!object->rest.is_bottom()) copy.rest = inside(object->rest);
    to_.put(id, std::move(copy));
    return Value(Alternative::at(Kind::kObject, id));
  }
  static const void* this_place() {
    static const char place = 0;
    return &place;
  }

  const State& from_;
  State& to_;
  Identities& ids_;
  SymbolSets& symbols_;
  ContextId context_;
  int made_ = 0;
};

// The setting says as much of a tensor that it hands in itself, and callers of one that they cast.
bool says_more(const Parameter& parameter, const Value& handed) {
  if (handed.is_bottom()) return false;
  const bool is_open = parameter.kind == ParameterKind::kTensor && !parameter.type.empty();
  if (parameter.kind == ParameterKind::kOther || is_open) return true;
  const Alternative* one = handed.single();
  const bool is_tensor = one && one->kind == Kind::kTensor;
  const bool takes_tensor =
      parameter.kind == ParameterKind::kTensor || parameter.kind == ParameterKind::kOptionalTensor;
  if (is_tensor && takes_tensor) return !one->assumed && !one->uncertain && one->origin;
  return one && one->kind == Kind::kBool && one->has_number && parameter.kind == ParameterKind::kNumber;
}

// Which parameter an argument of the call is for; nothing where that cannot be said.
std::optional<std::size_t> parameter_of(const Function& root, const Instruction& call, std::size_t at) {
  const std::string& name = call.args[at].name;
  for (std::size_t i = 0; i < root.parameters.size(); ++i) {
    const bool is_it = name.empty() ? i + 1 == at : root.parameters[i].name == name;
    if (is_it && root.parameters[i].rest == Rest::kNone) return i;
  }
  return std::nullopt;
}

// Whether what is called there may be this: it takes all that is handed over, under these names.
bool takes_all(const Function& root, const Instruction& call) {
  for (std::size_t i = 1; i < call.args.size(); ++i) {
    if (!parameter_of(root, call, i)) return false;
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

std::size_t Roots::find_calls(std::uint32_t root) {
  effects_ = {};
  made_.steps = 0;
  made_.calls.clear();
  std::size_t steps = 0;
  for (const auto& [caller, call] : calls_to_try(program_, root)) {
    const Function& code = index_.function(caller);
    effects_ = {};
    made_.arrived.reset();
    made_.watched_call = call;
    made_.called_by_defaults = true;
    origins_.begin_run();
    try {
      evaluate_as(code.class_name, caller, {}, OtherCode::kTrusted);
    } catch (const EvaluationEnded&) {
      made_.being_made = 0;
      made_.arrived.reset();
    }
    made_.watched_call = nullptr;
    made_.called_by_defaults = false;
    steps += effects_.steps + std::exchange(made_.steps, 0);
    if (made_.arrived) made_.calls.push_back({call, std::move(*made_.arrived)});
  }
  effects_ = {};
  made_.steps = steps;
  return made_.calls.size();
}

void Roots::hand_over_arguments(const Function& root, std::vector<Value>& arguments, ContextId context,
                                State& state) {
  const Instruction& call = *made_.handed->call;
  Mover mover(made_.handed->state, state, ids_, symbols_, context);
  for (std::size_t i = 1; i < call.args.size(); ++i) {
    const std::optional<std::size_t> at = parameter_of(root, call, i);
    if (!at || *at + 1 >= arguments.size()) continue;
    const Value handed = mover.moved(argument(made_.handed->state, call, i));
    if (says_more(root.parameters[*at], handed)) arguments[*at + 1] = handed;
  }
}

}  // namespace dtype_guard::flow
