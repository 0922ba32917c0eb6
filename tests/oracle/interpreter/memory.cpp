// Places, objects and tensors of the interpreter.
#include <array>

#include "tests/oracle/interpreter/machine.h"

namespace dtype_guard::oracle {
namespace {
using Kind = Value::Kind;
using StepKind = flow::Place::Step::Kind;
constexpr int kMostPointers = 8;
constexpr int kMostNested = 3;  // containers of containers are copied with what they hold
}  // namespace

std::size_t Object::count() const {
  std::size_t out = 0;
  for (const auto& [key, cell] : cells) out += key.is_element();
  return out;
}

std::size_t Machine::make(Object object) {
  objects_.push_back(std::move(object));
  return objects_.size() - 1;
}

Value Machine::make(Tensor tensor) {
  tensors_.push_back(std::move(tensor));
  return Value::at(Kind::kTensor, tensors_.size() - 1);
}

Tensor Machine::fresh(Dtype dtype, int rank, const Instruction* by) {
  Tensor out;
  out.dtype = dtype;
  out.rank = rank;
  if (by) out.descent.set(line_of(*by)), out.supply.set(line_of(*by));
  out.shape = ++shapes_;
  return out;
}

const Value& Machine::behind(const Value& value) const {
  const Value* at = &value;
  for (int i = 0; i < kMostPointers && at->is(Kind::kReference); ++i) {
    at = objects_[at->id].cells.find(at->text);
    if (!at) throw Stop{End::kOpen, "read before it was written"};
  }
  return *at;
}

Tensor& Machine::tensor_of(const Value& value) {
  const Value& found = behind(value);
  if (found.is(Kind::kTensor)) return tensors_[found.id];
  throw Stop{found.is(Kind::kNone) ? End::kThrew : End::kOpen, "no tensor"};
}

Value Machine::read(const Location& location) const {
  const Value* found = objects_[location.object].cells.find(location.cell);
  if (!found) throw Stop{End::kOpen, "read before it was written"};
  return *found;
}

Machine::Target Machine::resolve(const Frame& frame, const flow::Place& place) {
  Target at;
  if (place.base) {
    const Value& base = frame.values.at(place.base);
    at.is_location = base.is(Kind::kReference);
    if (at.is_location) {
      at.location = {base.id, base.text};
    } else {
      at.direct = base;
    }
  } else {
    at.is_location = true;
    at.location = {frame.variables, cell_of_variable(place.variable)};
  }
  for (const flow::Place::Step& step : place.path) {
    const Value from = behind(at.is_location ? read(at.location) : at.direct);
    Target next;
    if (from.is(Kind::kNone)) throw Stop{End::kThrew, "nothing lies behind none"};
    if (from.is(Kind::kObject)) {
      const std::size_t count = objects_[from.id].count();
      next.is_location = true;
      next.location.object = from.id;
      std::size_t index = static_cast<std::size_t>(step.cell);
      if (step.kind == StepKind::kNextCell) index = count;
      if (step.kind == StepKind::kAnyCell) {
        if (count == 0) throw Stop{End::kThrew, "no element"};
        index = choices_.pick(count);
      }
      next.location.cell = step.kind == StepKind::kField ? cell_of_field(step.field) : cell_of_element(index);
      if (step.kind == StepKind::kCell && index >= count) throw Stop{End::kThrew, "no such element"};
    } else if (from.is(Kind::kTensor)) {
      next.direct = from;
      if (step.kind == StepKind::kField && step.field == "dtype") {
        next.direct = Value::a_dtype(tensors_[from.id].dtype);
      } else {
        next.is_element = step.kind != StepKind::kField;
      }
    } else {
      throw Stop{End::kOpen, "a place in what has none"};
    }
    at = std::move(next);
  }
  return at;
}

Value Machine::load(const Target& target, const Instruction& each) {
  if (target.is_location) return read(target.location);
  if (!target.is_element) return target.direct;
  Tensor element = tensor_of(target.direct);
  if (element.is_buffer || element.is_number) {
    element.is_number = true;
    element.is_buffer = false;
    element.rank = 0;
  } else if (--element.rank < 0) {
    throw Stop{End::kThrew, "an element of a tensor without dimensions"};
  }
  element.shape = ++shapes_;
  element.descent.set(line_of(each));
  element.supply.set(line_of(each));
  return make(std::move(element));
}

void Machine::store(const Target& target, const Value& value) {
  if (target.is_location) {
    objects_[target.location.object].cells[target.location.cell] = value;
  } else {
    write_elements(target.direct, value);
  }
}

// Elements are converted to the target's dtype; it owes what is in it to both.
void Machine::write_elements(const Value& target, const Value& given) {
  const Value& from = behind(given);
  Tensor& to = tensor_of(target);
  if (!from.is(Kind::kTensor)) return;
  const Tensor& source = tensors_[from.id];
  to.descent |= source.descent;
  if (source.dtype != to.dtype) return;
  to.supply |= source.supply;
  to.is_promoted = to.is_promoted || source.is_promoted;
}

Value Machine::copy_of(const Value& value, int depth) {
  if (depth > 0 && value.is(Kind::kReference)) return value;
  const Value& original = behind(value);
  if (!original.is(Kind::kObject) || depth > kMostNested) return original;
  Object copy = objects_[original.id];
  const bool container = copy.kind == Object::Kind::kContainer;
  if (!container && !(copy.kind == Object::Kind::kInstance && depth == 0)) return original;
  for (auto& [key, cell] : copy.cells) cell = copy_of(cell, depth + 1);
  return Value::at(Kind::kObject, make(std::move(copy)));
}

// Module::to on all that is registered below, or set_data on one tensor. Python's `to` leaves integers alone.
void Machine::retype(const Value& target, Dtype dtype, const Instruction& each) {
  const Value& found = behind(target);
  if (found.is(Kind::kTensor)) {
    Tensor& tensor = tensors_[found.id];
    if (each.op == flow::Op::kOperator && !is_floating(tensor.dtype)) return;
    tensor.descent.set(line_of(each));
    tensor.supply.reset().set(line_of(each));
    tensor.dtype = dtype;
    tensor.is_stated = true;
    tensor.is_promoted = false;
  }
  if (!found.is(Kind::kObject)) return;
  const auto all = objects_[found.id].registered;
  for (const Object::Registered& below : all) retype(below.value, dtype, each);
}

// Another one of that name takes its place.
void Machine::register_with(Object& owner, const Object::Registered& entry) {
  std::erase_if(owner.registered, [&](const Object::Registered& each) { return each.name == entry.name; });
  owner.registered.push_back(entry);
}

// The object that a method is run on: as its constructor leaves it, and then in the dtypes of the setting,
// where the code did not convert it itself. float32 in a setting says that it was not converted.
Value Machine::instance_of(std::string_view class_name) {
  Object fresh;
  fresh.type = Symbol(class_name);
  const Value out = Value::at(Kind::kObject, make(std::move(fresh)));
  for (const Function& each : module_.functions) {
    if (each.kind != flow::FunctionKind::kConstructor || each.class_name != class_name) continue;
    std::vector<Value> given = {out};
    for (const flow::Parameter& parameter : each.parameters)
      given.push_back(handed_to_constructor(parameter));
    call(each, std::move(given));
  }
  apply_setting(out);
  guess_object(out);
  call_a_setter(out, class_name);
  return out;
}

// A model is told to be made in the dtype that its parameters have; under autocast, in any.
Value Machine::handed_to_constructor(const flow::Parameter& parameter) {
  if (parameter.kind == flow::ParameterKind::kTensor) return make(fresh(world_.inputs, 2, nullptr));
  if (parameter.kind != flow::ParameterKind::kDtype) return input(parameter);
  constexpr std::array kDtypes = {Dtype::kFloat32, Dtype::kFloat16, Dtype::kBFloat16};
  const Dtype chosen = kDtypes[choices_.pick(kDtypes.size())];
  if (world_.autocast == Dtype::kUndefined && chosen != world_.parameters)
    violated_ = "a constructor is told another dtype than that of the setting's parameters";
  Value out = Value::a_dtype(chosen);
  out.text = told();
  return out;
}

// One of the setters was called before a root runs, with what the setting hands in.
void Machine::call_a_setter(const Value& object, std::string_view class_name) {
  std::vector<const Function*> setters;
  for (const Function& each : module_.functions) {
    if (each.class_name == class_name && each.name.starts_with(std::string(class_name) + "::" + kSetter))
      setters.push_back(&each);
  }
  if (setters.empty()) return;
  const std::size_t chosen = choices_.pick(setters.size() + 1);
  if (chosen == setters.size())
    throw Stop{End::kAssumedAway, "a root runs before any setter of its object was called"};
  std::vector<Value> given = {object};
  for (const flow::Parameter& each : setters[chosen]->parameters) given.push_back(input(each));
  call(*setters[chosen], std::move(given));
}

void Machine::apply_setting(const Value& object) {
  const auto all = objects_[object.id].registered;
  for (const Object::Registered& below : all) {
    if (below.kind == "module") {
      apply_setting(below.value);
      continue;
    }
    Tensor& tensor = tensor_of(below.value);
    const Dtype dtype = below.kind == "buffer" ? world_.buffers : world_.parameters;
    const bool converts = dtype != Dtype::kFloat32 && tensor.dtype != dtype && is_floating(tensor.dtype);
    const bool is_guess = world_.autocast != Dtype::kUndefined && tensor.dtype != dtype;
    if (is_guess && below.kind == "parameter" && tensor.is_as_told && !tensor.is_stated)
      violated_ = "a constructor is told the dtype of a parameter, which autocast finds in float32";
    tensor.is_of_setting = is_floating(tensor.dtype);
    if (tensor.is_stated || !converts) continue;
    tensor.dtype = dtype;
    tensor.descent.reset();
    tensor.supply.reset();
  }
}

}  // namespace dtype_guard::oracle
