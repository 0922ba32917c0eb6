// Operators of the interpreter: dtypes by rules/operators, ranks by what PyTorch does with real dimensions.
#include <algorithm>
#include <array>
#include <utility>

#include "tests/oracle/interpreter/library_modules.h"
#include "tests/oracle/interpreter/machine.h"

namespace dtype_guard::oracle {
namespace {
using Kind = Value::Kind;

bool is_wider(Dtype a, Dtype b) { return is_floating(a) && is_floating(b) && bits(a) > bits(b); }
bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}
bool is_scalar(const Value& value) {
  return value.is(Kind::kBool) || value.is(Kind::kInteger) || value.is(Kind::kReal);
}
bool compared(std::string_view name, std::int64_t a, std::int64_t b) {
  if (name == "lt") return a < b;
  if (name == "le") return a <= b;
  if (name == "gt") return a > b;
  return a >= b;
}
bool same(const Value& a, const Value& b) {
  const bool same_text = a.is(Kind::kDtype) || a.text == b.text;
  return a.kind == b.kind && a.number == b.number && a.dtype == b.dtype && same_text && a.id == b.id;
}
}  // namespace

OperatorContext Machine::context() const {
  OperatorContext out;
  out.device = world_.device;
  const Autocast& autocast = autocast_.front().second;
  out.autocast = autocast.on ? autocast.dtype : Dtype::kUndefined;
  out.default_dtype = default_dtype_;
  out.torch_version = world_.torch_version;
  return out;
}

Value Machine::operation(Frame& frame, const Prepared& prepared) {
  const Instruction& each = *prepared.instruction;
  if (prepared.what == What::kCopyOf) return copy_of(argument(frame, each, 0), 0);
  if (prepared.what == What::kAssignObject) {
    const Value to = behind(argument(frame, each, 0)), from = behind(argument(frame, each, 1));
    if (!to.is(Kind::kObject) || !from.is(Kind::kObject)) throw Stop{End::kOpen, "no objects"};
    objects_[to.id].cells = objects_[from.id].cells;
    return argument(frame, each, 0);
  }
  if (is_keyed(prepared.what)) return keyed_operation(frame, prepared);
  if (is_compared(prepared.what)) return compared_operation(frame, prepared);
  Value out;
  if (scalar_operation(frame, prepared, out)) return out;
  if (prepared.what == What::kLibraryModule) {
    std::vector<Value> inputs;
    for (std::size_t i = 1; i < each.args.size(); ++i) inputs.push_back(argument(frame, each, i));
    return library_forward(each, argument(frame, each, 0), std::move(inputs));
  }
  // A module that is converted is itself. Python's `to` takes floating dtypes alone.
  if (prepared.what == What::kTo && each.args.size() == 2) {
    const Value self = behind(argument(frame, each, 0));
    if (self.is(Kind::kObject)) {
      const Dtype dtype = behind(argument(frame, each, 1)).dtype;
      if (!is_floating(dtype)) throw Stop{End::kThrew, "a module that is to be of integers"};
      retype(self, dtype, each);
      guess_conversion(self, dtype);
      return self;
    }
  }
  return prepared.op ? tensor_operation(frame, each, *prepared.op) : unknown_call(frame, each);
}

// Logic, comparisons of what is no tensor, and questions about tensors.
bool Machine::scalar_operation(Frame& frame, const Prepared& prepared, Value& out) {
  const Instruction& each = *prepared.instruction;
  const auto given = [&](std::size_t at) -> const Value& { return behind(argument(frame, each, at)); };
  switch (prepared.what) {
    case What::kLogicalNot:
      if (given(0).is(Kind::kTensor)) return false;
      out = Value::boolean(!truth(given(0)));
      return true;
    case What::kLogicalAnd:
    case What::kLogicalOr: {
      if (given(0).is(Kind::kTensor)) return false;
      const bool a = truth(given(0)), b = truth(given(1));
      out = Value::boolean(prepared.what == What::kLogicalAnd ? a && b : a || b);
      return true;
    }
    case What::kDefined:
      out = Value::boolean(!given(0).is(Kind::kNone));
      return true;
    case What::kIsFloatingPoint:
      out = Value::boolean(is_floating(tensor_of(given(0)).dtype));
      return true;
    case What::kDim:
      out = Value::integer(tensor_of(given(0)).rank);
      return true;
    case What::kSize: {
      const std::int64_t rank = tensor_of(given(0)).rank, dim = given(1).number;
      if (dim >= rank || dim < -rank) throw Stop{End::kThrew, "the size of a dimension that is not there"};
      const std::string shape = std::to_string(tensor_of(given(0)).shape);
      constexpr std::array kSizes = {1, 2, 0};
      const std::string asked = "size " + std::to_string(given(1).number) + " of " + shape;
      out = Value::integer(kSizes[choices_.pick(kSizes.size(), asked)]);
      return true;
    }
    case What::kChance:
      out = Value::boolean(choices_.pick(2) != 0);
      return true;
    case What::kEqual:
    case What::kUnequal:
      if (given(0).is(Kind::kTensor) && !given(1).is(Kind::kNone)) return false;
      out = Value::boolean(same(given(0), given(1)) == (prepared.what == What::kEqual));
      return true;
    case What::kOrdered:
      if (!given(0).is(Kind::kInteger) || !given(1).is(Kind::kInteger)) return false;
      out = Value::boolean(compared(each.name, given(0).number, given(1).number));
      return true;
    case What::kDefaultDtype:
      out = Value::a_dtype(default_dtype_);
      return true;
    default:
      return false;
  }
}

// Beside float32 the engine takes a tensor of which it knows nothing for one that is no wider.
void Machine::assume_no_wider(const std::vector<Given>& given) {
  const auto any = [&](const auto& is_it) {
    return std::any_of(given.begin(), given.end(),
                       [&](const Given& each) { return each.tensor && is_it(*each.tensor); });
  };
  const bool is_wide =
      any([](const Tensor& each) { return each.has_escaped && each.dtype == Dtype::kFloat64; });
  if (is_wide && any([](const Tensor& each) { return each.dtype == Dtype::kFloat32; }))
    throw Stop{End::kAssumedAway, "float64 of which nothing is known, beside float32"};
}

// As the operator's table takes them.
std::vector<OperatorInput> Machine::table_inputs(const std::vector<Given>& given) {
  std::vector<OperatorInput> inputs;
  for (const Given& one : given) {
    const Dtype number = one.value.is(Kind::kBool)      ? Dtype::kBool
                         : one.value.is(Kind::kInteger) ? Dtype::kInt64
                                                        : Dtype::kFloat64;
    const RankClass rank = !one.tensor || one.tensor->is_number ? RankClass::kWrapped
                           : one.tensor->rank == 0              ? RankClass::kZeroDim
                                                                : RankClass::kDim;
    inputs.push_back({one.argument, one.tensor ? one.tensor->dtype : number, rank});
  }
  return inputs;
}

Value Machine::tensor_operation(Frame& frame, const Instruction& each, const Operator& op) {
  std::vector<Given> given;
  std::optional<Dtype> stated;
  bool is_told = false;
  for (std::size_t i = 0; i < each.args.size(); ++i) {
    const std::string_view name = !each.args[i].name.empty() ? std::string_view(each.args[i].name)
                                  : i < op.arguments.size()  ? std::string_view(op.arguments[i])
                                                             : std::string_view();
    const Value& value = behind(argument(frame, each, i));
    if (value.is(Kind::kNothing)) throw Stop{End::kOpen, "an operator on nothing"};
    if (value.is(Kind::kDtype)) stated = value.dtype, is_told = value.text == told();
    if (value.is(Kind::kNone) && i == 0) throw Stop{End::kThrew, "an operator on none"};
    if (op.result == ResultRule::kCast && i > 0 && value.is(Kind::kTensor)) {
      stated = tensor_of(value).dtype;
      continue;
    }
    if (value.is(Kind::kObject) && contains(op.promoting, name)) {
      for (const auto& [key, cell] : objects_[value.id].cells) {
        const Value& element = behind(cell);
        given.push_back({name, element, element.is(Kind::kTensor) ? &tensors_[element.id] : nullptr});
      }
    } else if (value.is(Kind::kTensor) || is_scalar(value)) {
      given.push_back({name, value, value.is(Kind::kTensor) ? &tensors_[value.id] : nullptr});
    }
  }
  const Dtype dtype = dtype_of_result(op, given, stated);
  const int rank = rank_of_result(op, each, frame, given);
  constexpr int kMostDimensions = 16;
  if (rank > kMostDimensions) throw Stop{End::kTooLong, "dimensions"};
  if (op.in_place) {
    const Value target = argument(frame, each, 0);
    Tensor& written = tensor_of(target);
    written.descent.set(line_of(each));
    written.rank = op.name.ends_with("_out") ? rank : written.rank;
    return target;
  }
  Tensor out = result_of(each, op, given, dtype, rank);
  out.is_as_told = is_told;
  // Where a default dtype was set on one path only, it is not known.
  if (given.empty() && !stated && out.dtype == Dtype::kFloat64) out.has_escaped = true;
  if (!op.list_result) return make(std::move(out));
  Object list;
  list.kind = Object::Kind::kContainer;
  for (std::size_t i = 0; i < 2; ++i) list.cells[cell_of_element(i)] = make(out);
  return Value::at(Kind::kObject, make(std::move(list)));
}

Dtype Machine::dtype_of_result(const Operator& op, const std::vector<Given>& given,
                               std::optional<Dtype> stated) const {
  assume_no_wider(given);
  const OperatorOutcome outcome = evaluate(op, table_inputs(given), stated, context());
  if (!outcome.dtype) throw Stop{End::kThrew, "an operator"};
  if (*outcome.dtype == Dtype::kUndefined || outcome.may_throw) throw Stop{End::kOpen, "kernels differ"};
  return *outcome.dtype;
}

// A new tensor, and what its dtype is owed to.
Tensor Machine::result_of(const Instruction& each, const Operator& op, const std::vector<Given>& given,
                          Dtype dtype, int rank) {
  Tensor out = fresh(dtype, rank, &each);
  out.supply.reset();
  bool widened = true;
  for (const Given& one : given) {
    if (!one.tensor) continue;
    out.descent |= one.tensor->descent;
    out.has_escaped = out.has_escaped || one.tensor->has_escaped;
    if (one.tensor->dtype == out.dtype) {
      widened = false;
      out.supply |= one.tensor->supply;
    }
    if (is_wider(out.dtype, one.tensor->dtype)) {
      out.supply |= one.tensor->supply;
      out.supply.set(line_of(each));  // this one widened it, whatever it met
    }
    out.is_promoted = out.is_promoted ||
                      (is_half(one.tensor->dtype) && is_wider(out.dtype, one.tensor->dtype)) ||
                      (one.tensor->dtype == out.dtype && one.tensor->is_promoted);
    const bool keeps = op.rank == RankRule::kLikeFirst && &one == &given.front();
    if (keeps) out.shape = one.tensor->shape;
  }
  if (widened) out.supply.set(line_of(each));
  return out;
}

// Of the operators that generator.cpp uses; others end the run.
int Machine::rank_of_result(const Operator& op, const Instruction& each, const Frame& frame,
                            const std::vector<Given>& given) {
  const auto number = [&](std::string_view name) -> const Value* {
    for (std::size_t i = 0; i < each.args.size(); ++i) {
      const bool is_it = each.args[i].name == name ||
                         (each.args[i].name.empty() && i < op.arguments.size() && op.arguments[i] == name);
      if (is_it) return &argument(frame, each, i);
    }
    return nullptr;
  };
  const int first = given.empty() || !given.front().tensor ? 0 : given.front().tensor->rank;
  const auto must = [&](bool holds) {
    if (!holds) throw Stop{End::kThrew, "the dimensions of an operator"};
  };
  for (const std::string& named : op.dims) {
    const Value* dim = number(named);
    if (!dim || !dim->is(Kind::kInteger)) continue;
    const std::int64_t least = dim->number >= 0 ? dim->number + 1 : -dim->number;
    const bool of_result = op.rank == RankRule::kPlusOne;
    must(first + of_result >= least || (first == 0 && least <= 1 && op.least == 0));
  }
  must(given.empty() || !given.front().tensor || first >= op.least);
  switch (op.rank) {
    case RankRule::kBroadcast: {
      int out = 0;
      for (const Given& one : given) {
        const bool counts = op.promoting.empty() || contains(op.promoting, one.argument);
        if (one.tensor && (counts || op.name == "where")) out = std::max(out, one.tensor->rank);
      }
      return std::max(out, op.promoting.empty() ? first : out);
    }
    case RankRule::kLikeFirst:
      return first;
    case RankRule::kReduce: {
      const Value* dim = number("dim");
      return dim && dim->is(Kind::kInteger) ? std::max(first - 1, 0) : 0;
    }
    case RankRule::kPlusOne:
      for (const Given& one : given) must(!one.tensor || one.tensor->rank == first || op.name == "unsqueeze");
      return first + 1;
    case RankRule::kMinusOne:
      must(first > 0);
      return first - 1;
    case RankRule::kJoined:
      for (const Given& one : given) must(!one.tensor || (one.tensor->rank == first && first > 0));
      return first;
    case RankRule::kMatmul: {
      const int second = given.size() > 1 && given[1].tensor ? given[1].tensor->rank : 0;
      must(first > 0 && second > 0);
      return std::max(0, std::max(first, second) - (first == 1) - (second == 1));
    }
    case RankRule::kAtLeastOne:
      must(first > 0 || given.empty());
      return std::max(first, 1);
    case RankRule::kZero:
      return 0;
    case RankRule::kFromShape:
      for (const std::string_view name : {"size", "shape", "sizes"}) {
        const Value* shape = number(name);
        if (shape && behind(*shape).is(Kind::kObject))
          return static_cast<int>(objects_[behind(*shape).id].count());
      }
      break;
    default:
      break;
  }
  throw Stop{End::kOpen, "the rank of an operator"};
}

Value Machine::cast(Frame& frame, const Instruction& each) {
  const Value& from = behind(argument(frame, each, 0));
  const Value& like = behind(argument(frame, each, 1));
  if (like.is(Kind::kDefaultOptions)) return from;
  const Dtype dtype = like.is(Kind::kTensor) ? tensor_of(like).dtype : like.dtype;
  if (from.is(Kind::kNone) || from.is(Kind::kDtype)) return from;
  if (is_scalar(from)) {
    if (!is_floating(dtype)) return from;
    Tensor number = fresh(dtype, 0, &each);
    number.is_number = true;
    return make(std::move(number));
  }
  Tensor out = tensor_of(from);
  out.is_stated = out.is_owned = out.is_of_setting = false;  // it is another tensor, of no module yet
  out.descent.set(line_of(each));
  if (out.dtype != dtype) out.is_promoted = each.implicit && is_half(out.dtype) && is_wider(dtype, out.dtype);
  if (out.dtype != dtype && !is_wider(dtype, out.dtype)) out.supply.reset();
  if (out.dtype != dtype) out.supply.set(line_of(each));
  out.dtype = dtype;
  out.is_as_told = like.is(Kind::kTensor) ? tensor_of(like).is_as_told : like.text == told();
  out.is_buffer = false;
  return make(std::move(out));
}

Value Machine::probe(Frame& frame, const Instruction& each) {
  const Value& value = behind(argument(frame, each, 0));
  const bool is_number = value.is(Kind::kTensor) && tensors_[value.id].is_number;
  if (!value.is(Kind::kTensor) || is_number) Passed::note(passed_.no_tensors, each);
  if (!value.is(Kind::kTensor) && !value.is(Kind::kNone)) return {};
  const bool none = value.is(Kind::kNone);
  const Tensor& tensor = tensors_[none ? 0 : value.id];
  const Arrival seen{each.range.line, tensor.dtype, tensor.rank, none, tensor.is_number};
  passed_.arrivals.push_back(seen);
  return {};
}

// What a call takes a descriptor for: data of the dtype that it states.
std::optional<Tensor> Machine::described(const Value& value) const {
  if (!value.is(Kind::kObject)) return std::nullopt;
  static const Symbol kData(".data"), kDtype(".dtype");
  const Cells& cells = objects_[value.id].cells;
  const Value *data = cells.find(kData), *dtype = cells.find(kDtype);
  if (!data || !dtype) return std::nullopt;
  const Value& of = behind(*data);
  if (!of.is(Kind::kTensor)) return std::nullopt;
  Tensor out = tensors_[of.id];
  if (out.rank == 0) throw Stop{End::kThrew, "a descriptor without dimensions"};
  out.data = std::exchange(out.dtype, behind(*dtype).dtype);
  return out;
}

Value Machine::sink(Frame& frame, const Prepared& prepared) {
  const Instruction& each = *prepared.instruction;
  guess_call();
  if (!violated_.empty()) run_.passed_by.insert(&each);
  if (prepared.what == What::kProbe) return probe(frame, each);
  const Api* api = prepared.api;
  if (!api) return unknown_call(frame, each);
  const auto made = std::make_shared<Observation>();
  Observation& seen = *made;
  seen.operands.reserve(each.args.size());
  seen.sink = &each;
  const OperatorContext now = context();
  seen.under_autocast = now.autocast != Dtype::kUndefined;
  for (std::size_t i = 0; i < each.args.size(); ++i) {
    const Value& value = behind(argument(frame, each, i));
    const bool none = value.is(Kind::kNone);
    const bool has_no_dimension = value.is(Kind::kTensor) && !tensors_[value.id].is_buffer &&
                                  !tensors_[value.id].is_number && tensors_[value.id].rank == 0;
    if (has_no_dimension && has_input_without_dimensions_)
      throw Stop{End::kAssumedAway, "a call is handed a tensor without dimensions"};
    if (const auto tensor = described(value)) {
      seen.operands.push_back({each.args[i].name, false, *tensor});
    } else if (none || value.is(Kind::kTensor)) {
      seen.operands.push_back({each.args[i].name, none, none ? Tensor() : tensors_[value.id]});
    }
  }
  run_.observations.push_back(made);
  if (!each.result || api->result_like.empty()) return {};
  const auto like = std::find_if(seen.operands.begin(), seen.operands.end(),
                                 [&](const Arrived& one) { return one.role == api->result_like; });
  if (like == seen.operands.end() || like->is_none) throw Stop{End::kOpen, "the result of a call"};
  Tensor out = like->tensor;
  const bool recasts = api->autocast_at(world_.device, world_.torch_version) == AutocastBehaviour::kRecasts;
  if (recasts && seen.under_autocast && out.dtype != Dtype::kFloat64) out.dtype = now.autocast;
  out.descent = out.supply = Lines().set(line_of(each));
  return make(std::move(out));
}

}  // namespace dtype_guard::oracle
