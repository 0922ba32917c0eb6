#include "analyzer/flow/roots/handed_arguments.h"

#include "analyzer/flow/engine/arguments.h"
#include "analyzer/flow/engine/held_values.h"
#include "analyzer/flow/program/function_info.h"

namespace dtype_guard::flow {
namespace {
using Kind = Alternative::Kind;
constexpr int kMaxNesting = 3;       // containers of containers
constexpr int kMostContainers = 16;  // of one call

// Arguments as they were where the call was, for another function that starts from nothing.
class Mover {
 public:
  Mover(const State& from, const HandedInto& into)
      : from_(from), to_(into.state), ids_(into.ids), symbols_(into.symbols), context_(into.context) {}

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
}  // namespace

void hand_over_arguments(const HandedCall& handed, const Function& root, std::vector<Value>& arguments,
                         const HandedInto& into) {
  Mover mover(handed.state, into);
  for (std::size_t i = 1; i < handed.call->args.size(); ++i) {
    const std::optional<std::size_t> at = parameter_for(root, *handed.call, i);
    if (!at || *at + 1 >= arguments.size()) continue;
    const Value moved = mover.moved(argument(handed.state, *handed.call, i));
    if (says_more(root.parameters[*at], moved)) arguments[*at + 1] = moved;
  }
}

}  // namespace dtype_guard::flow
