// What tests of the engine's parts are built on: a function's code, and something in place of the engine.
#pragma once

#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "analyzer/flow/engine/evaluator.h"
#include "analyzer/flow/engine/memory/memory.h"
#include "analyzer/flow/engine/running_root.h"
#include "analyzer/flow/engine/work.h"
#include "analyzer/flow/ir/text.h"

namespace dtype_guard::flow {

// In place of the engine: says what it was asked to run.
class Runs final : public Evaluator {
 public:
  Value call(std::uint32_t function, std::vector<Value> arguments, State& state, ContextId /*context*/,
             const Activation* /*caller*/, bool& alive, const Instruction* /*site*/) override {
    called.push_back(function);
    handed = arguments;
    alive = returns;
    return on_call ? on_call(arguments, state) : Value::none();
  }
  Value operation(const Activation& /*activation*/, const Instruction& instruction,
                  State& /*state*/) override {
    operated.push_back(instruction.name);
    return Value::none();
  }
  Value object_asked_for(const std::string& class_name, const Activation& /*activation*/,
                         const Instruction& /*test*/, State& /*state*/) override {
    asked_for.push_back(class_name);
    return on_asked ? on_asked() : Value::none();
  }
  HalvesOfRoot halves_of(std::uint32_t root) override {
    evaluated.push_back(root);
    return halves;
  }

  std::vector<std::uint32_t> called, evaluated;
  std::vector<std::string> operated, asked_for;
  std::function<Value()> on_asked;
  std::vector<Value> handed;
  bool returns = true;
  std::function<Value(const std::vector<Value>&, State&)> on_call;
  HalvesOfRoot halves;
};

inline const char* const kModule = R"ir(file "f.cpp"

class Layer
  settable rate: number

constructor Layer::Layer key layer_made of Layer module
b0:
  return

method Layer::narrow key layer_narrow of Layer
b0:
  %1 = param 0
  %2 = load %1.scale
  %3 = const bfloat16
  %4 = cast %2, %3
  store %1.scale, %4
  return

method Layer::run key layer_run of Layer
  parameter x: tensor
b0:
  %1 = param 0
  %2 = param 1
  %3 = load %1.scale
  %4 = op mul(%2, %3)
  return %4

function other key other
  parameter a: tensor
  parameter flag: other = true
b0:
  %1 = param 0
  return %1

function first key first
  parameter x: tensor
  variables q
b0:
  %1 = param 0
  %2 = const bfloat16
  %3 = cast %1, %2
  %4 = op add(%1, %3)
  %5 = op dim(%1) ; f.cpp:3:3-3:9 "x.dim()"
  %6 = const 3
  %7 = op eq(%5, %6)
  %8 = pack(%1, %3)
  %9 = op copy_of(%8)
  %10 = dtype_of %1
  %11 = op eq(%10, %2)
  %12 = module torch::nn::Linear()
  %13 = op "torch::nn::Linear::forward"(%12, %1)
  %14 = const 0
  %15 = op subscript(%8, index=%14)
  %16 = op "augmented::add"(%6, %14)
  %17 = call other(%1)
  %18 = call unseen(%8)
  %19 = object Layer()
  %20 = register parameter "weight", %19, %1
  retype %19, %2
  store q, %1
  %21 = load q
  %22 = op dict_has(%8, index=%14)
  set_autocast cuda(on=%7, dtype=%2)
  return %4
)ir";

// The function `first`, with a state in which its first values are known.
struct CodeState {
  CodeState() {
    for (std::uint32_t i = 0; i < module.functions.size(); ++i) {
      if (module.functions[i].key == "first") function = i;
    }
    activation.emplace(Activation{function,
                                  module.functions[function],
                                  program.functions.info(function),
                                  1,
                                  1,
                                  {},
                                  0,
                                  nullptr,
                                  {},
                                  {},
                                  {},
                                  0});
    names.ids.object(1, &module);  // the frame
    HeapObject frame;
    frame.kind = HeapObject::Kind::kFrame;
    state.put(activation->frame, std::move(frame));
    give(1, tensor(Dtype::kFloat32));
    give(2, Value(Alternative::a_dtype(Dtype::kBFloat16)));
    give(3, tensor(Dtype::kBFloat16));
  }

  const Instruction& at(ValueId id) const { return *activation->info.definition(id); }
  const Instruction& with(Op op) const {
    for (const Instruction& each : activation->code.blocks[0].instructions) {
      if (each.op == op) return each;
    }
    throw std::runtime_error("no such instruction");
  }
  void give(ValueId id, Value value) { state.values.change(id) = std::move(value); }
  std::uint32_t find(const std::string& key) const { return program.functions.find(key).front(); }
  static Value tensor(Dtype dtype, Rank rank = {}) { return Value(Alternative::tensor(dtype, rank)); }
  Value list_of(const std::vector<Value>& elements) {
    HeapObject object;
    object.kind = HeapObject::Kind::kContainer;
    for (std::size_t i = 0; i < elements.size(); ++i)
      object.cells[{Key::Kind::kIndex, static_cast<std::int64_t>(i)}] = elements[i];
    const HeapId id = names.ids.object(2, &names, ++lists);
    state.put(id, std::move(object));
    return Value(Alternative::at(Alternative::Kind::kObject, id));
  }
  Value of_type(const std::string& type) {
    HeapObject object;
    object.type = type;
    const HeapId id = names.ids.object(2, &type);
    state.put(id, std::move(object));
    return Value(Alternative::at(Alternative::Kind::kObject, id));
  }

  Module module = parse(kModule);
  Program program{module};
  AnalysisOptions options;
  PrecisionSetting setting{
      "half", Dtype::kFloat16, Dtype::kFloat16, Dtype::kFloat16, Dtype::kFloat16, Dtype::kUndefined, false};
  std::string torch_version = "2.13";
  Subject subject{program, program.functions, options, setting, torch_version};
  Names names;
  RunningRoot root;
  std::uint32_t function = 0;
  std::optional<Activation> activation;
  State state;
  int lists = 0;
};

// And the parts on which most others stand.
struct Code : CodeState {
  Work work;
  Runs runs;
  Questions questions{names};
  Rounds rounds{names};
  Memory memory{program, names, questions, rounds};
};

}  // namespace dtype_guard::flow
