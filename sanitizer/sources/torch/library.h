// The functions of a mapped libtorch that the source calls, found by name among the loaded objects, so that
// the library has no dependency on any of them.
#pragma once

#include "sanitizer/platform/loaded_object.h"
#include "sanitizer/platform/text_buffer.h"
#include "sanitizer/sources/torch/abi.h"
#include "sanitizer/sources/torch/function_names.h"

namespace dtype_guard::san::torch {

struct Library {
  AddGlobalCallback add_callback = nullptr;
  RemoveCallback remove_callback = nullptr;
  RecordName name = nullptr;
  MulOut mul_out = nullptr;
  StackOut stack_out = nullptr;
  FromDlpack from_dlpack = nullptr;
  FromBlob from_blob = nullptr;
  // What lines of forward calls are found by; without one of them none is named.
  Mul mul = nullptr;
  RequiresGrad requires_grad = nullptr;
  GradFunction grad_function = nullptr;
  CurrentNode current_node = nullptr;
  void* has_shared_nodes = nullptr;     // a function whose name says that std::shared_ptr owns nodes,
  void* has_intrusive_nodes = nullptr;  // or c10::intrusive_ptr
  SequenceNumber sequence_number = nullptr;
  ThreadNumber thread_number = nullptr;
  IsAutocastEnabled is_autocast_enabled = nullptr;  // 2.4 and newer; before that the two below
  IsAutocastEnabledFixed is_cuda_autocast_enabled = nullptr;
  IsAutocastEnabledFixed is_cpu_autocast_enabled = nullptr;
  int (*uncaught_exceptions)() = nullptr;  // the C++ runtime's; without it what raises is not known
  bool is_mapped = false;                  // some object has a callback to add

  // Whether autocast is on for this thread, for meta tensors on any device; true where that cannot be asked.
  bool may_autocast(std::int8_t device_type) const;
};

// That of this process, once the source is on.
inline constinit Library libtorch = {};

// The first object that exports a function. The loader's list is locked for no longer than that takes: a
// child that the job forks meanwhile could never load anything. So what is done with libtorch's objects,
// which stay, is done afterwards.
bool find_object(const char* symbol, LoadedObject& found);

// False with the reason where there is a libtorch and it lacks something; false without one where there is
// none.
bool find_library(Library& library, TextSink& reason);

}  // namespace dtype_guard::san::torch
