// Statements of generated programs on library modules: made, converted, run, or held by the object of a
// method.
#include "tests/oracle/library_statements.h"

#include "tests/oracle/interpreter/library_modules.h"
#include "tests/oracle/statements.h"

namespace dtype_guard::oracle {
namespace {
using flow::Op;
using flow::ValueId;
using StepKind = flow::Place::Step::Kind;

std::string forward_of(std::string_view type) { return std::string(type) + "::forward"; }

// As front ends give them: each is registered with what it stands in.
void append(Writer& writer, ValueId sequential, ValueId layer) {
  const ValueId handle = writer.value(Type::kState, Op::kRegister, "module", {{"", sequential}, {"", layer}});
  writer.last().constant = "of" + std::to_string(handle);
  writer.store(cell_of(sequential, StepKind::kNextCell), handle);
}
}  // namespace

ValueId Program::made_layer(const LibraryModule& type) {
  const ValueId out = writer_.value(Type::kLayer, Op::kModule, std::string(type.type));
  layers_[out] = &type;
  return out;
}

// Which type one has is known where it is made, or held by the object; of one that a condition chose it is
// not.
ValueId Program::layer() {
  const ValueId there = writer_.some(Type::kLayer);
  if (there && !random_.one_in(3)) return there;
  if (members_.layers.empty() || random_.one_in(2)) return made_layer(random_.of(library_modules()));
  const MemberLayer& held = random_.of(members_.layers);
  const ValueId out = writer_.load(Type::kLayer, field_of(self_, held.field));
  layers_[out] = held.type;
  return out;
}

void Program::run_layer(ValueId layer) {
  const auto known = layers_.find(layer);
  const LibraryModule* type = known == layers_.end() ? nullptr : known->second;
  ValueId given = tensor();
  if (type && type->forward == "embedding" && !random_.one_in(4)) {
    const ValueId whole = writer_.constant(Dtype::kInt64);
    given = writer_.value(Type::kTensor, Op::kCast, {}, {{"", given}, {"", whole}});
  }
  Args args = {{"", layer}, {"", given}};
  if (type && type->forward == "bilinear") args.push_back({"", tensor()});
  if (type && !random_.one_in(3)) {
    writer_.value(Type::kTensor, Op::kOperator, forward_of(type->type), std::move(args));
  } else {
    const char* name = random_.one_in(2) ? "__call__" : "forward";
    writer_.value(Type::kTensor, Op::kCall, std::string(flow::kAttributeCall) + name, std::move(args));
  }
}

void Program::library() {
  if (random_.one_in(6)) return sequential();
  const ValueId it = layer();
  const auto known = layers_.find(it);
  if (random_.one_in(4)) {
    const ValueId like = dtype();
    if (random_.one_in(2)) {
      writer_.add(Op::kRetype, {}, {{"", it}, {"", like}});
    } else {
      writer_.value(Type::kState, Op::kOperator, "to", {{"", it}, {"", like}});
    }
  }
  const bool has_weight = known != layers_.end() && !known->second->held.empty();
  if (has_weight && random_.one_in(4)) {
    const std::string held(random_.of(known->second->held).name);
    if (random_.one_in(4)) writer_.store(field_of(it, held), tensor());
    writer_.load(Type::kTensor, field_of(it, held));
  }
  run_layer(it);
}

void Program::sequential() {
  const ValueId all = writer_.value(Type::kState, Op::kModule, std::string(kSequential));
  for (std::size_t i = 1 + random_.below(3); i > 0; --i) append(writer_, all, layer());
  if (random_.one_in(3)) writer_.add(Op::kRetype, {}, {{"", all}, {"", dtype()}});
  const ValueId given = tensor();
  writer_.value(Type::kTensor, Op::kOperator, std::string(kSequentialForward), {{"", all}, {"", given}});
}

Members add_library_model(flow::Module& module, const std::string& name, Random& random, int& line) {
  Members out;
  flow::Function code;
  code.name = name + "::constructor";
  code.key = name + "_constructor";
  code.class_name = name;
  code.of_module = true;
  code.kind = flow::FunctionKind::kConstructor;
  code.range = {0, ++line, 1, line, 2};
  Writer writer(code, random, line);
  const ValueId self = parameter(writer, 0);
  constexpr const char* kFields[] = {"first", "second", "third"};
  const std::size_t count = 1 + random.below(std::size(kFields));
  for (std::size_t i = 0; i < count; ++i) {
    const LibraryModule& type = random.of(library_modules());
    const ValueId made = writer.value(Type::kLayer, Op::kModule, std::string(type.type));
    ValueId held = made;
    if (!random.one_in(6)) {
      held = writer.value(Type::kLayer, Op::kRegister, "module", {{"", self}, {"", made}});
      writer.last().constant = std::string(kFields[i]);
    }
    writer.store(field_of(self, kFields[i]), held);
    out.layers.push_back({kFields[i], &type});
    for (const LibraryModule::Held& each : type.held)
      out.tensors.push_back({kFields[i], std::string(each.name)});
    if (random.one_in(8)) {
      const ValueId half = writer.constant(random.one_in(2) ? Dtype::kFloat16 : Dtype::kBFloat16);
      writer.add(Op::kRetype, {}, {{"", random.one_in(2) ? self : made}, {"", half}});
    }
  }
  writer.add(Op::kReturn);
  module.functions.push_back(std::move(code));
  module.classes.emplace_back().name = name;
  return out;
}

}  // namespace dtype_guard::oracle
