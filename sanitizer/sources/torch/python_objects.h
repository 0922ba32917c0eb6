// What is read of CPython's builtin functions and modules, which has been laid out so since 3.5 in builds
// with the GIL.
#pragma once

#include <cstddef>
#include <cstdint>

namespace dtype_guard::san::torch {

struct PythonObject {
  std::size_t references;
  const void* type;
};

using Method = void* (*)(void* self, void* arguments, void* third, void* fourth);

struct MethodDefinition {
  const char* name;
  Method method;
  int flags;
  const char* documentation;
};
inline constexpr int kTakesClass = 0x200;  // METH_METHOD: with a fifth argument

struct BuiltinFunction {
  PythonObject head;
  MethodDefinition* definition;
};

struct ModuleSlot {
  int slot;
  void* value;
};
inline constexpr int kExecute = 2;  // Py_mod_exec
using Execute = int (*)(void* module);

struct ModuleDefinition {
  PythonObject head;
  void* base[3];
  const char *name, *documentation;
  std::intptr_t size;
  MethodDefinition* methods;
  ModuleSlot* slots;
};
static_assert(offsetof(ModuleDefinition, slots) == 72);

// The functions of a mapped Python that are called with the GIL held.
struct Python {
  void* (*module_dictionary)(void* module) = nullptr;
  int (*next)(void* dictionary, std::intptr_t* position, void** key, void** value) = nullptr;
  const void* function_type = nullptr;
  const void* definition_type = nullptr;
};

}  // namespace dtype_guard::san::torch
