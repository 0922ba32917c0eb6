#include "tests/oracle/interpreter/library_modules.h"

#include <algorithm>

#include "tests/oracle/interpreter/machine.h"

namespace dtype_guard::oracle {
namespace {
using Kind = Value::Kind;
constexpr std::string_view kOfForward = "::forward";
}  // namespace

const std::vector<LibraryModule>& library_modules() {
  static const std::vector<LibraryModule> all = {
      {"torch::nn::Linear", {{"weight", 2}, {"bias", 1}}, "linear", {"0", "weight", "bias"}, 1},
      {"torch::nn::LayerNorm", {{"weight", 1}, {"bias", 1}}, "layer_norm", {"0", "", "weight", "bias"}, 1},
      {"torch::nn::RMSNorm", {{"weight", 1}}, "rms_norm", {"0", "", "weight"}, 1},
      {"torch::nn::GroupNorm", {{"weight", 1}, {"bias", 1}}, "group_norm", {"0", "", "weight", "bias"}, 2},
      {"torch::nn::BatchNorm1d",
       {{"weight", 1}, {"bias", 1}, {"running_mean", 1, true}, {"running_var", 1, true}},
       "batch_norm",
       {"0", "weight", "bias", "running_mean", "running_var"},
       2,
       3},
      {"torch::nn::Embedding", {{"weight", 2}}, "embedding", {"weight", "0"}},
      {"torch::nn::Conv1d", {{"weight", 3}, {"bias", 1}}, "conv1d", {"0", "weight", "bias"}, 2, 3},
      {"torch::nn::Bilinear", {{"weight", 3}, {"bias", 1}}, "bilinear", {"0", "1", "weight", "bias"}, 1},
      {"torch::nn::PReLU", {{"weight", 1}}, "prelu", {"0", "weight"}},
      {"torch::nn::GELU", {}, "gelu", {"0"}},
      {"torch::nn::SiLU", {}, "silu", {"0"}},
      {"torch::nn::Softmax", {}, "softmax", {"0"}},
      {"torch::nn::Dropout", {}, "dropout", {"0"}},
      {"torch::nn::Identity", {}, "", {"0"}}};
  return all;
}

const LibraryModule* find_library_module(std::string_view name) {
  if (name.ends_with(kOfForward)) name.remove_suffix(kOfForward.size());
  const auto& all = library_modules();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const LibraryModule& each) { return each.type == name; });
  return found == all.end() ? nullptr : &*found;
}

// What it holds is in the default dtype of that moment.
Value Machine::library_module(const Instruction& each) {
  Object made;
  made.type = each.name;
  const LibraryModule* type = find_library_module(each.name);
  if (!type && each.name != kSequential) throw Stop{End::kOpen, "a library module that is not run"};
  for (const LibraryModule::Held& one : type ? type->held : std::vector<LibraryModule::Held>()) {
    const Value held = make(fresh(default_dtype_, one.rank, nullptr));
    tensors_[held.id].is_owned = true;
    made.cells["." + std::string(one.name)] = held;
    made.registered.push_back({one.is_buffer ? "buffer" : "parameter", std::string(one.name), held});
  }
  return Value::at(Kind::kObject, make(std::move(made)));
}

bool Machine::is_library_module(const Value& value) const {
  if (!value.is(Kind::kObject)) return false;
  const Object& object = objects_[value.id];
  return object.type == kSequential || find_library_module(object.type);
}

// Its elements run one after the other; one without any is no module that could be run.
Value Machine::library_forward(const Instruction& each, const Value& module, std::vector<Value> inputs) {
  const Value itself = behind(module);
  if (!is_library_module(itself)) throw Stop{End::kOpen, "no library module"};
  if (inputs.empty()) throw Stop{End::kThrew, "forward without an input"};
  if (objects_[itself.id].type == kSequential) {
    const std::size_t count = objects_[itself.id].count();
    if (count == 0) throw Stop{End::kThrew, "an empty Sequential"};
    for (std::size_t i = 0; i < count; ++i)
      inputs = {library_forward(each, read({itself.id, "[" + std::to_string(i) + "]"}), inputs)};
    return inputs.front();
  }
  const LibraryModule& type = *find_library_module(objects_[itself.id].type);
  if (type.forward.empty()) return inputs.front();
  const Operator& op = operator_at(*find_operator(std::string(type.forward)), world_.torch_version);
  std::vector<Given> given;
  for (std::size_t i = 0; i < type.arguments.size(); ++i) {
    const std::string_view source = type.arguments[i];
    if (source.empty()) continue;
    const bool is_input = source == "0" || source == "1";
    const std::size_t position = source == "1" ? 1 : 0;
    if (is_input && position >= inputs.size()) throw Stop{End::kThrew, "forward without an input"};
    const Value value =
        is_input ? behind(inputs[position]) : behind(read({itself.id, "." + std::string(source)}));
    given.push_back({op.arguments[i], value, &tensor_of(value)});
  }
  const int dimensions = tensor_of(inputs.front()).rank;
  const Dtype dtype = dtype_of_result(op, given, std::nullopt);
  if (dimensions < type.least || dimensions > type.most)
    throw Stop{End::kThrew, "the dimensions of a library module's input"};
  return make(result_of(each, op, given, dtype, dimensions + (type.forward == "embedding" ? 1 : 0)));
}

}  // namespace dtype_guard::oracle
