// Library modules: what one holds when it is made, and its forward.
#include "tests/oracle/interpreter/library_modules.h"
#include "tests/oracle/interpreter/machine.h"

namespace dtype_guard::oracle {
namespace {
using Kind = Value::Kind;
}  // namespace

// What it holds is in the default dtype of that moment.
Value Machine::library_module(const Instruction& each) {
  Object made;
  made.type = Symbol(each.name);
  const LibraryModule* type = find_library_module(each.name);
  if (!type && each.name != kSequential) throw Stop{End::kOpen, "a library module that is not run"};
  for (const LibraryModule::Held& one : type ? type->held : std::vector<LibraryModule::Held>()) {
    const Value held = make(fresh(default_dtype_, one.rank, nullptr));
    tensors_[held.id].is_owned = true;
    made.cells[cell_of_field(one.name)] = held;
    made.registered.push_back({Symbol(one.is_buffer ? "buffer" : "parameter"), Symbol(one.name), held});
  }
  return Value::at(Kind::kObject, make(std::move(made)));
}

bool Machine::is_library_module(const Value& value) const {
  if (!value.is(Kind::kObject)) return false;
  const Object& object = objects_[value.id];
  return object.type == kSequential || find_library_module(object.type.view());
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
      inputs = {library_forward(each, read({itself.id, cell_of_element(i)}), inputs)};
    return inputs.front();
  }
  const LibraryModule& type = *find_library_module(objects_[itself.id].type.view());
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
        is_input ? behind(inputs[position]) : behind(read({itself.id, cell_of_field(source)}));
    given.push_back({op.arguments[i], value, &tensor_of(value)});
  }
  const int dimensions = tensor_of(inputs.front()).rank;
  const Dtype dtype = dtype_of_result(op, given, std::nullopt);
  if (dimensions < type.least || dimensions > type.most)
    throw Stop{End::kThrew, "the dimensions of a library module's input"};
  return make(result_of(each, op, given, dtype, dimensions + (type.forward == "embedding" ? 1 : 0)));
}

}  // namespace dtype_guard::oracle
