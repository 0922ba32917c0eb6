#include "tests/oracle/interpreter/machine.h"

#include <algorithm>
#include <array>
#include <utility>

namespace dtype_guard::oracle {
namespace {
using flow::Op;
using Kind = Value::Kind;
}  // namespace

Value& Cells::operator[](Symbol name) {
  if (Value* known = find(name)) return *known;
  const auto behind = std::find_if(all_.begin(), all_.end(),
                                   [&](const Cell& each) { return name.view() < each.name.view(); });
  return all_.insert(behind, {name, {}})->value;
}

Machine::Machine(const Module& module, const PreparedModule& prepared, const World& world, Choices& choices,
                 Checkpoints* checkpoints)
    : module_(module), prepared_(prepared), world_(world), choices_(choices), checkpoints_(checkpoints) {
  constexpr std::size_t kMostOfARun = 64;  // tensors and objects, in most programs
  objects_.reserve(kMostOfARun);
  tensors_.reserve(kMostOfARun);
  objects_.emplace_back();
  tensors_.emplace_back();
  const Dtype otherwise = world.device == "cpu" ? Dtype::kBFloat16 : Dtype::kFloat16;
  const bool on = world.autocast != Dtype::kUndefined;
  autocast_of(world.device) = {on, on ? world.autocast : otherwise, on};
}

Machine::Autocast& Machine::autocast_of(std::string_view device) {
  for (auto& [name, autocast] : autocast_) {
    if (name == device) return autocast;
  }
  return autocast_.emplace_back(device, Autocast()).second;
}

void Passed::add(const Passed& run) {
  for (const Arrival& each : run.arrivals) {
    const auto at = std::lower_bound(arrivals.begin(), arrivals.end(), each);
    if (at == arrivals.end() || *at != each) arrivals.insert(at, each);
  }
  instructions |= run.instructions;
  arms[0] |= run.arms[0];
  arms[1] |= run.arms[1];
  no_tensors |= run.no_tensors;
  for (const auto& [line, taken] : run.phis) phis[line] |= taken;
}

const Function* Machine::find(std::string_view key) const {
  const auto found = prepared_.by_key.find(key);
  return found == prepared_.by_key.end() ? nullptr : found->second;
}

Dtype Machine::dtype_of_input(const flow::Parameter& parameter) {
  constexpr std::array kOthers = {Dtype::kFloat32, Dtype::kInt64};
  if (!world_.inputs_differ || depth_ != 1) return world_.inputs;
  const std::string choice = "dtype of " + parameter.name;
  const std::size_t chosen = choices_.pick(kOthers.size() + 1, choice);
  if (chosen == 0 || kOthers[chosen - 1] == world_.inputs) return world_.inputs;
  run_.differing.push_back({choice, kOthers[chosen - 1]});
  return kOthers[chosen - 1];
}

// A tensor has any number of dimensions that questions of generated programs tell apart.
Value Machine::input(const flow::Parameter& parameter) {
  using flow::ParameterKind;
  constexpr std::array kRanks = {2, 0, 1, 3, 4};
  const auto tensor = [&] {
    const int rank = world_.inputs_differ ? 2 : kRanks[choices_.pick(kRanks.size())];
    has_input_without_dimensions_ = has_input_without_dimensions_ || rank == 0;
    return make(fresh(dtype_of_input(parameter), rank, nullptr));
  };
  const auto by_reference = [&](const Value& value) {
    if (!parameter.by_reference) return value;
    Object slot;
    slot.kind = Object::Kind::kFrame;
    slot.cells[cell_of_variable(0)] = value;
    Value out = Value::at(Kind::kReference, make(std::move(slot)));
    out.text = cell_of_variable(0);
    return out;
  };
  switch (parameter.kind) {
    case ParameterKind::kTensor: {
      if (parameter.type.empty()) return by_reference(tensor());
      Tensor buffer = fresh(parse_dtype(parameter.type).value_or(Dtype::kUndefined), 1, nullptr);
      buffer.is_buffer = true;
      return make(std::move(buffer));
    }
    case ParameterKind::kOptionalTensor:
      return by_reference(choices_.pick(2) ? tensor() : Value::of(Kind::kNone));
    case ParameterKind::kTensorList: {
      Object list;
      list.kind = Object::Kind::kContainer;
      struct Form {
        int length, rank;
      };
      constexpr Form kForms[] = {{3, 2}, {1, 2}, {0, 0}, {1, 0}};
      const Form& form = kForms[choices_.pick(std::size(kForms))];
      for (int i = 0; i < form.length; ++i)
        list.cells[cell_of_element(static_cast<std::size_t>(i))] =
            make(fresh(world_.inputs, form.rank, nullptr));
      return Value::at(Kind::kObject, make(std::move(list)));
    }
    case ParameterKind::kDtype:
    case ParameterKind::kOptions:
      return by_reference(Value::a_dtype(world_.inputs));
    case ParameterKind::kNumber:
      if (parameter.type == "bool") return by_reference(Value::boolean(choices_.pick(2) != 0));
      if (parameter.type == "float" || parameter.type == "double")
        return by_reference(Value::of(Kind::kReal));
      return by_reference(Value::integer(static_cast<std::int64_t>(choices_.pick(4)) - 1));
    default:
      throw Stop{End::kOpen, "a parameter of a kind that is not run"};
  }
}

const Value& Machine::argument(const Frame& frame, const Instruction& each, std::size_t position) const {
  static const Value nothing;
  if (position >= each.args.size()) return nothing;
  const flow::ValueId id = each.args[position].value;
  return id < frame.values.size() ? frame.values[id] : nothing;
}

const Value* Machine::named(const Frame& frame, const Instruction& each, std::string_view name) const {
  for (std::size_t i = 0; i < each.args.size(); ++i) {
    if (each.args[i].name == name) return &argument(frame, each, i);
  }
  return nullptr;
}

bool Machine::truth(const Value& value) const {
  const Value& asked = behind(value);
  if (!asked.is(Kind::kBool) && !asked.is(Kind::kInteger))
    throw Stop{End::kOpen, "a condition that is no bool"};
  return asked.number != 0;
}

// The arm by which the run came: in a loop those of earlier rounds are older.
const Value& Machine::latest(const Frame& frame, const Instruction& phi) {
  const flow::Argument* out = nullptr;
  for (const flow::Argument& each : phi.args) {
    const bool is_made = each.value < frame.values.size() && frame.made[each.value] > 0;
    if (is_made && (!out || frame.made[each.value] > frame.made[out->value])) out = &each;
  }
  if (!out) throw Stop{End::kOpen, "no arm was taken"};
  passed_.phis[phi.range.line] |= std::uint64_t{1} << static_cast<std::size_t>(out - phi.args.data());
  return frame.values[out->value];
}

Value Machine::constant(const flow::Constant& constant) const {
  struct Make {
    Value operator()(flow::Unknown) const { throw Stop{End::kOpen, "an unknown constant"}; }
    Value operator()(flow::None) const { return Value::of(Kind::kNone); }
    Value operator()(bool value) const { return Value::boolean(value); }
    Value operator()(std::int64_t value) const { return Value::integer(value); }
    Value operator()(double) const { return Value::of(Kind::kReal); }
    Value operator()(const std::string& value) const {
      Value out = Value::of(Kind::kText);
      out.text = Symbol(value);
      return out;
    }
    Value operator()(Dtype value) const { return Value::a_dtype(value); }
  };
  return std::visit(Make{}, constant);
}

void Machine::step(Frame& frame, const Prepared& prepared) {
  const Instruction& each = *prepared.instruction;
  Value out;
  switch (each.op) {
    case Op::kConst:
      out = std::holds_alternative<flow::Unknown>(each.constant) ? unknown_value("any_tensor", each)
                                                                 : constant(each.constant);
      break;
    case Op::kParam: {
      const auto position = static_cast<std::size_t>(std::get<std::int64_t>(each.constant));
      out = frame.arguments.at(position);
      // What a root is handed is made when it looks at it: a check that follows ends few runs.
      if (out.is(Kind::kNothing) && depth_ == 1)
        out = frame.arguments[position] =
            input(frame.code->parameters.at(position - (frame.code->kind == flow::FunctionKind::kMethod)));
      break;
    }
    case Op::kCopy:
      out = argument(frame, each, 0);
      break;
    case Op::kPhi:
      out = latest(frame, each);
      break;
    case Op::kOperator:
      out = operation(frame, prepared);
      break;
    case Op::kDtypeOf:
      out = Value::a_dtype(tensor_of(argument(frame, each, 0)).dtype);
      if (tensor_of(argument(frame, each, 0)).is_as_told) out.text = told();
      break;
    case Op::kOptions: {
      const Value* dtype = named(frame, each, "dtype");
      out = dtype ? *dtype : each.args.empty() ? Value::of(Kind::kDefaultOptions) : argument(frame, each, 0);
      break;
    }
    case Op::kCast:
      out = cast(frame, each);
      break;
    case Op::kAlloc: {
      const Value* dtype = named(frame, each, "dtype");
      if (!dtype) {
        Object list;
        list.kind = Object::Kind::kContainer;
        out = Value::at(Kind::kObject, make(std::move(list)));
        break;
      }
      const bool is_number = each.name == "number";
      const int dimensions =
          is_number ? 0 : 1 + static_cast<int>(choices_.pick(2));  // of which nothing is said
      Tensor made = fresh(behind(*dtype).dtype, dimensions, &each);
      made.is_number = is_number;
      made.is_buffer = !is_number;
      out = make(std::move(made));
      break;
    }
    case Op::kObject: {
      Object object;
      object.type = Symbol(each.name);
      out = Value::at(Kind::kObject, make(std::move(object)));
      break;
    }
    case Op::kModule:
      out = library_module(each);
      break;
    case Op::kPack: {
      Object list;
      list.kind = Object::Kind::kContainer;
      for (std::size_t i = 0; i < each.args.size(); ++i)
        list.cells[cell_of_element(i)] = argument(frame, each, i);
      out = Value::at(Kind::kObject, make(std::move(list)));
      break;
    }
    case Op::kClosure: {
      Object closure;
      closure.kind = Object::Kind::kClosure;
      closure.type = Symbol(each.name);
      for (std::size_t i = 0; i < each.args.size(); ++i)
        closure.cells[cell_of_field(each.args[i].name)] = argument(frame, each, i);
      out = Value::at(Kind::kObject, make(std::move(closure)));
      if (is_lost(*frame.code, each)) run_some_day(out);
      break;
    }
    case Op::kRegister: {
      const Value owner = behind(argument(frame, each, 0));
      if (!owner.is(Kind::kObject)) throw Stop{End::kOpen, "registered with nothing"};
      out = behind(argument(frame, each, 1));
      if (out.is(Kind::kTensor)) tensors_[out.id].is_owned = true;
      register_with(objects_[owner.id],
                    {Symbol(each.name), Symbol(std::get<std::string>(each.constant)), out});
      break;
    }
    case Op::kRetype: {
      const Value like = behind(argument(frame, each, 1));
      const Dtype dtype = like.is(Kind::kTensor) ? tensor_of(like).dtype : like.dtype;
      retype(argument(frame, each, 0), dtype, each);
      guess_conversion(argument(frame, each, 0), dtype);
      break;
    }
    case Op::kCall:
      out = call_instruction(frame, each);
      break;
    case Op::kLoad:
      out = load(resolve(frame, each.place), each);
      break;
    case Op::kStore:
      store(resolve(frame, each.place), argument(frame, each, 0));
      if (is_closure(argument(frame, each, 0)) && !each.place.path.empty())
        kept_.push_back(argument(frame, each, 0));
      break;
    case Op::kWrite:
      write_elements(argument(frame, each, 0), argument(frame, each, 1));
      break;
    case Op::kAddress: {
      const Target target = resolve(frame, each.place);
      out = target.direct;
      if (target.is_location) {
        out = Value::at(Kind::kReference, target.location.object);
        out.text = target.location.cell;
      }
      break;
    }
    case Op::kSetAutocast: {
      Autocast& autocast = autocast_of(each.name.empty() ? world_.device : each.name);
      if (const Value* dtype = named(frame, each, "dtype")) autocast.dtype = behind(*dtype).dtype;
      if (const Value* on = named(frame, each, "on")) autocast.on = truth(*on);
      autocast.is_of_setting = autocast.is_of_setting && autocast.on;
      break;
    }
    case Op::kSetDefaultDtype:
      default_dtype_ = behind(argument(frame, each, 0)).dtype;
      break;
    case Op::kSaveState:
      saved_.push_back({autocast_, default_dtype_});
      out = Value::at(Kind::kState, saved_.size() - 1);
      break;
    case Op::kRestoreState: {
      const Value& state = argument(frame, each, 0);
      if (!state.is(Kind::kState)) throw Stop{End::kOpen, "no saved state"};
      autocast_ = saved_[state.id].autocast;
      default_dtype_ = saved_[state.id].default_dtype;
      break;
    }
    case Op::kAssume:
      if (!truth(argument(frame, each, 0))) throw Stop{End::kThrew, "a check"};
      break;
    case Op::kSink:
      out = sink(frame, prepared);
      break;
    case Op::kDiscard:
      break;
    default:
      throw Stop{End::kOpen, "an instruction that is not run"};
  }
  if (!each.result) return;
  if (frame.values.size() <= each.result) {
    frame.values.resize(each.result + 1);
    frame.made.resize(each.result + 1);
  }
  frame.values[each.result] = std::move(out);
  frame.made[each.result] = steps_;
}

}  // namespace dtype_guard::oracle
