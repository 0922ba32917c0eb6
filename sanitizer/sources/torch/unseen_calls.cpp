#include "sanitizer/sources/torch/unseen_calls.h"

#include <string.h>

#include <array>
#include <atomic>
#include <utility>

#include "sanitizer/capture/python_frames.h"
#include "sanitizer/platform/loaded_object.h"
#include "sanitizer/platform/system.h"
#include "sanitizer/platform/text_buffer.h"
#include "sanitizer/sources/torch/library.h"
#include "sanitizer/sources/torch/python_objects.h"
#include "sanitizer/sources/torch/thread_records.h"

namespace dtype_guard::san::torch {
namespace {

constexpr const char* kModules[] = {
#define DTYPE_SAN_UNSEEN_MODULE(name) name,
#include "sanitizer/sources/torch/unseen_modules.inc"
#undef DTYPE_SAN_UNSEEN_MODULE
};
constexpr std::size_t kModuleCount = sizeof kModules / sizeof kModules[0], kFunctions = 48;

struct Module {
  std::atomic<void*> make{nullptr};     // PyInit_NAME
  std::atomic<void*> execute{nullptr};  // of a module that is made in two phases
};
struct Function {
  std::size_t module;
  const char* name;
  Method method;
  std::atomic<std::uint64_t> calls;
};
constinit Module modules[kModuleCount];
constinit Function functions[kFunctions] = {};
constinit std::atomic<std::size_t> function_count{0};

bool is_in_watched_call() {
  ThreadRecords* thread = thread_records();
  const OpenRecord* open = thread != nullptr ? thread->innermost() : nullptr;
  for (; open != nullptr; open = open->outer)
    if (open->is_attention) return true;
  return false;
}

// All calling conventions but METH_METHOD's pass at most these four.
template <std::size_t i>
void* counted(void* self, void* arguments, void* third, void* fourth) {
  if (!is_in_watched_call()) functions[i].calls.fetch_add(1, std::memory_order_relaxed);
  return functions[i].method(self, arguments, third, fourth);
}

template <std::size_t... i>
constexpr std::array<Method, sizeof...(i)> counters(std::index_sequence<i...>) {
  return {counted<i>...};
}
constexpr auto kCounters = counters(std::make_index_sequence<kFunctions>());

Python find_python_functions() {
  Python python;
  LoadedObject object;
  if (!find_object("PyModule_GetDict", object)) return python;
  const auto take = [&](const char* symbol, auto& to) {
    void* found = object.find_function(symbol);
    memcpy(&to, &found, sizeof found);
  };
  take("PyModule_GetDict", python.module_dictionary);
  take("PyDict_Next", python.next);
  python.function_type = object.find_object("PyCFunction_Type");
  python.definition_type = object.find_object("PyModuleDef_Type");
  return python;
}

void count_function(std::size_t module, BuiltinFunction& function) {
  MethodDefinition& definition = *function.definition;
  if ((definition.flags & kTakesClass) != 0) return;
  for (const Method known : kCounters)
    if (definition.method == known) return;  // another name of the same
  const std::size_t i = function_count.load();
  if (i == kFunctions) return;
  functions[i].module = module;
  functions[i].name = definition.name;
  functions[i].method = definition.method;
  const Method counter = kCounters[i];
  // Where a table of methods is read-only this is refused, and the function is as it was.
  if (write_memory(&definition.method, &counter, sizeof counter)) function_count.store(i + 1);
}

void count_functions(std::size_t number, void* module) {
  const Python python = find_python_functions();
  if (python.module_dictionary == nullptr || python.next == nullptr || python.function_type == nullptr)
    return;
  void* dictionary = python.module_dictionary(module);
  std::intptr_t position = 0;
  void *key = nullptr, *value = nullptr;
  while (dictionary != nullptr && python.next(dictionary, &position, &key, &value) != 0)
    if (static_cast<PythonObject*>(value)->type == python.function_type)
      count_function(number, *static_cast<BuiltinFunction*>(value));
}

template <std::size_t i>
int execute_module(void* module) {
  const int status = reinterpret_cast<Execute>(modules[i].execute.load())(module);
  if (status == 0) count_functions(i, module);
  return status;
}

// The last one that fills the module.
template <std::size_t i>
void follow_execution(ModuleDefinition& definition) {
  ModuleSlot* last = nullptr;
  for (ModuleSlot* slot = definition.slots; slot != nullptr && slot->slot != 0; ++slot)
    if (slot->slot == kExecute) last = slot;
  void* follower = reinterpret_cast<void*>(&execute_module<i>);
  if (last == nullptr || last->value == follower) return;
  modules[i].execute.store(last->value);
  (void)write_memory(&last->value, &follower, sizeof follower);
}

template <std::size_t i>
void* make_module() {
  void* made = reinterpret_cast<void* (*)()>(modules[i].make.load())();
  if (made == nullptr || !python_found.load(std::memory_order_relaxed)) return made;
  if (static_cast<PythonObject*>(made)->type == find_python_functions().definition_type)
    follow_execution<i>(*static_cast<ModuleDefinition*>(made));
  else
    count_functions(i, made);
  return made;
}

// Called early and often: without a function of libc's before the name begins as it must.
std::size_t number_of(const char* symbol) {
  constexpr std::string_view kPrefix = "PyInit_";
  for (std::size_t i = 0; i < kPrefix.size(); ++i)
    if (symbol[i] != kPrefix[i]) return kModuleCount;
  std::size_t number = 0;
  while (number < kModuleCount && strcmp(symbol + kPrefix.size(), kModules[number]) != 0) ++number;
  return number;
}

template <std::size_t... i>
void* maker(std::size_t number, std::index_sequence<i...>) {
  void* found = nullptr;
  ((i == number ? void(found = reinterpret_cast<void*>(&make_module<i>)) : void()), ...);
  return found;
}

}  // namespace

bool is_unseen_module(const char* symbol) { return number_of(symbol) < kModuleCount; }

void* watch_module(const char* symbol, void* function) {
  const std::size_t number = number_of(symbol);
  if (function == nullptr || number == kModuleCount) return nullptr;
  modules[number].make.store(function);
  return maker(number, std::make_index_sequence<kModuleCount>());
}

void write_unseen(Process& process, Scratch& scratch) {
  for (std::size_t i = 0; i < function_count.load(); ++i) {
    const std::uint64_t calls = functions[i].calls.load(std::memory_order_relaxed);
    if (calls == 0) continue;
    TextBuffer<160> name;
    name << kModules[functions[i].module] << "." << functions[i].name;
    FrameBuilder frame(scratch.frame, FrameType::kUnseen);
    frame.text(name.view()).u64(calls);
    (void)append_frame(process, frame, scratch);
  }
}

void forget_unseen() {
  for (Function& function : functions) function.calls.store(0, std::memory_order_relaxed);
}

}  // namespace dtype_guard::san::torch
