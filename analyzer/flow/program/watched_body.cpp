#include "analyzer/flow/program/watched_body.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "analyzer/flow/program/consulted.h"
#include "rules/operators/library_names.h"
#include "rules/operators/operators.h"

namespace dtype_guard::flow {
namespace {

// What a value may have of the operand.
using Parts = unsigned;
constexpr Parts kTensor = 1;   // it, a view of it or something that holds it
constexpr Parts kDtype = 2;    // its dtype
constexpr Parts kPointer = 4;  // the address of its data, of no type yet
constexpr Parts kMade = 8;     // what an unseen function made of it, perhaps a cast

// A function with those of its parameters, `this` included, that have something of the operand, and in a
// lambda the captures that do.
struct Visit {
  std::uint32_t function = 0;
  std::map<std::size_t, Parts> parameters;
  std::map<std::string, Parts> captures;
  friend bool operator<(const Visit& a, const Visit& b) {
    return std::tie(a.function, a.parameters, a.captures) < std::tie(b.function, b.parameters, b.captures);
  }
};

class Body {
 public:
  Body(const FunctionIndex& index, DtypeSet accepted) : index_(index), accepted_(accepted) {}

  Use run(Visit first) {
    work_ = {std::move(first)};
    while (!work_.empty() && open_) {
      const Visit visit = std::move(work_.back());
      work_.pop_back();
      if (seen_.insert(visit).second) follow(visit);
    }
    return !open_ ? Use::kOwn : handed_on_ ? Use::kHandedOn : Use::kNone;
  }

 private:
  void follow(const Visit& visit) {
    const Function& code = index_.function(visit.function);
    info_ = &index_.info(visit.function);
    visit_ = &visit;
    values_.clear();
    variables_.clear();
    do {
      changed_ = false;
      for (const Block& block : code.blocks) {
        for (const Instruction& each : block.instructions) look_at(each);
      }
    } while (changed_ && open_);
  }

  static Parts part(const std::map<ValueId, Parts>& of, ValueId id) {
    const auto found = of.find(id);
    return found == of.end() ? 0 : found->second;
  }
  void add(std::map<ValueId, Parts>& to, ValueId id, Parts parts) {
    Parts& known = to[id];
    changed_ = changed_ || (known | parts) != known;
    known |= parts;
  }
  Parts of(const Argument& argument) const { return part(values_, argument.value); }
  Parts of_all(const Instruction& each) const {
    Parts out = 0;
    for (const Argument& argument : each.args) out |= of(argument);
    return out;
  }

  void look_at(const Instruction& each) {
    const Parts given = of_all(each);
    switch (each.op) {
      case Op::kParam:
        return give(each, parameter(each));
      case Op::kLoad:
      case Op::kAddress:
        return give(each, read(each.place));
      case Op::kStore:
        if (given) add(each.place.base ? values_ : variables_, stored_in(each.place), given);
        return;
      case Op::kDtypeOf:
        return give(each, given & kTensor ? kDtype : 0);
      case Op::kOperator:
        return operation(each, given);
      case Op::kCast:
        open_ = open_ && (is_number(each) || each.args.empty() || !(of(each.args[0]) & kTensor));
        return;
      case Op::kSink:
        open_ = open_ && !(given & (kTensor | kPointer));
        return;
      case Op::kRetype:
      case Op::kWrite:
      case Op::kRegister:
        open_ = open_ && !(given & kTensor);
        return;
      case Op::kClosure:
        captures(each);
        return give(each, given);
      case Op::kCall:
        return give(each, call(each, given));
      default:
        return give(each, given);
    }
  }

  void give(const Instruction& each, Parts parts) {
    if (each.result && parts) add(values_, each.result, parts);
  }

  Parts parameter(const Instruction& each) const {
    const auto* position = std::get_if<std::int64_t>(&each.constant);
    const auto found =
        position ? visit_->parameters.find(static_cast<std::size_t>(*position)) : visit_->parameters.end();
    return found == visit_->parameters.end() ? 0 : found->second;
  }

  static ValueId stored_in(const Place& place) { return place.base ? place.base : place.variable; }

  // An element that is read through a bare address says nothing of the tensor.
  Parts read(const Place& place) const {
    if (!place.base) return part(variables_, place.variable);
    Parts out = part(values_, place.base) & ~(place.path.empty() ? 0 : kPointer);
    const Instruction* base = info_->definition(place.base);
    if (base && base->op == Op::kParam && !place.path.empty()) {
      const auto captured = visit_->captures.find(place.path.front().field);
      if (captured != visit_->captures.end()) out |= captured->second;
    }
    return out;
  }

  const Dtype* constant_dtype(ValueId id) const {
    const Instruction* made = info_->definition(id);
    return made ? std::get_if<Dtype>(&made->constant) : nullptr;
  }
  // A floating dtype of which the contract knows nothing, where the body asks for the operand's.
  bool names_another(const Instruction& each) const {
    return std::any_of(each.args.begin(), each.args.end(), [&](const Argument& argument) {
      const Dtype* dtype = constant_dtype(argument.value);
      return dtype && is_floating(*dtype) && !accepted_.contains(*dtype);
    });
  }

  void operation(const Instruction& each, Parts given) {
    if (!given) return;
    const Operator* op = find_operator(each.name);
    const bool pointer = each.name == "pointer_cast" || (op && op->result == ResultRule::kDescriptor);
    if (pointer || each.name == "eq" || each.name == "ne") {
      open_ = open_ && !names_another(each) && !(pointer && (given & kMade));
      handed_on_ = handed_on_ || (pointer && (given & kTensor));
      const bool typed = std::any_of(each.args.begin(), each.args.end(), [&](const Argument& argument) {
        return constant_dtype(argument.value) != nullptr;
      });
      return give(each, pointer && !typed ? kPointer : 0);
    }
    if (!(given & kTensor)) return give(each, given);
    if (!op) {  // a question to the tensor, or an unknown function of the library
      open_ = open_ && (each.name.starts_with(name_of(Named::kTensorMethods)) ||
                        each.name.find("::") == std::string::npos);
      const bool tensor = each.written == Written::kTensor || each.written == Written::kBound;
      return give(each, tensor ? kTensor : 0);  // sizes are numbers, with which any body computes
    }
    switch (op->result) {
      case ResultRule::kLikeFirst: {
        const bool first_alone = std::none_of(each.args.begin() + 1, each.args.end(),
                                              [&](const Argument& other) { return of(other) & kTensor; });
        open_ = open_ && (!op->in_place || first_alone);
        return give(each, kTensor);
      }
      case ResultRule::kCast: {  // `to(device)` is none
        if (!(of(each.args.front()) & kTensor)) return;
        open_ = open_ && op->fixed == Dtype::kUndefined && each.args.size() == 1;
        return give(each, kTensor);
      }
      case ResultRule::kFactory:
      case ResultRule::kFactoryFromValue:
      case ResultRule::kFactoryLike:
      case ResultRule::kFixed:
      case ResultRule::kBool:
      case ResultRule::kBoolOrByte:
        return;
      default:
        open_ = open_ && is_number(each);
    }
  }

  // By the type of the expression as written. A body may compute with sizes and options as it likes.
  static bool is_number(const Instruction& each) { return each.written == Written::kOther; }

  void captures(const Instruction& each) {
    Visit inner;
    for (const Argument& argument : each.args) {
      if (const Parts parts = of(argument)) inner.captures[argument.name] = parts;
    }
    if (!inner.captures.empty()) enter(each, inner);
  }

  // What its result has of the operand.
  Parts call(const Instruction& each, Parts given) {
    if (!given) return 0;
    Visit inner;
    for (std::size_t i = 0; i < each.args.size(); ++i) {
      if (const Parts parts = of(each.args[i])) inner.parameters[i] = parts;
    }
    if (given & (kTensor | kPointer)) hold(each, given);
    const bool known = enter(each, inner);
    // A module of the library computes.
    if (!known && (given & kTensor) && each.name.starts_with(name_of(Named::kLibrary))) open_ = false;
    if (known) return given;
    handed_on_ = handed_on_ || (given & kTensor);
    open_ = open_ && !(given & kMade);
    return given & (kTensor | kMade) ? kMade : 0;
  }

  // An object that is given it as well may keep it: a view of it, parameters of a kernel.
  void hold(const Instruction& each, Parts given) {
    for (const Argument& argument : each.args) {
      const Instruction* made = info_->definition(argument.value);
      if (!made || made->written != Written::kOther) continue;
      if (made->op == Op::kObject) add(values_, made->result, given);
      if (made->op == Op::kLoad && !made->place.base) add(variables_, made->place.variable, given);
    }
  }

  bool enter(const Instruction& each, Visit inner) {
    const std::vector<std::uint32_t> functions = index_.may_run(each);
    for (const std::uint32_t function : functions) {
      Visit one = inner;
      one.function = function;
      // What a lambda has of the operand it captured: looked at where it was made.
      if (each.op == Op::kCall && index_.function(function).kind == FunctionKind::kLambda)
        one.parameters.erase(0);
      if (!one.parameters.empty() || !one.captures.empty()) work_.push_back(std::move(one));
    }
    return !functions.empty();
  }

  const FunctionIndex& index_;
  const DtypeSet accepted_;
  const FunctionInfo* info_ = nullptr;
  const Visit* visit_ = nullptr;
  std::map<ValueId, Parts> values_;
  std::map<ValueId, Parts> variables_;
  std::vector<Visit> work_;
  std::set<Visit> seen_;
  bool changed_ = false;
  bool open_ = true;
  bool handed_on_ = false;
};

}  // namespace

const Instruction* body_behind(const Block& block, const Instruction& sink) {
  const auto at = static_cast<std::size_t>(&sink - block.instructions.data());
  if (sink.op != Op::kSink || sink.result || at + 1 >= block.instructions.size()) return nullptr;
  const Instruction& next = block.instructions[at + 1];
  return next.op == Op::kCall ? &next : nullptr;
}

std::size_t object_arguments(const Instruction& sink, const Instruction& call) {
  const auto positional = static_cast<std::size_t>(std::count_if(
      sink.args.begin(), sink.args.end(), [](const Argument& each) { return each.name.empty(); }));
  return call.args.size() - std::min(positional, call.args.size());
}

Use WatchedBodies::use_of_operand(const Instruction& call, std::size_t position, DtypeSet accepted) const {
  const std::vector<std::uint32_t> bodies = index_.may_run(call);
  if (bodies.empty()) return Use::kHandedOn;  // in no file of the program
  Use out = Use::kNone;
  for (const std::uint32_t body : bodies) {
    Consulted::note_body(body);
    const auto [known, fresh] = known_.try_emplace({body, position, accepted.bits()});
    if (fresh) known->second = Body(index_, accepted).run({body, {{position, kTensor}}, {}});
    out = std::max(out, known->second);
  }
  return out;
}

}  // namespace dtype_guard::flow
