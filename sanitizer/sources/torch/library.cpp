#include "sanitizer/sources/torch/library.h"

#include <cstring>

#include "sanitizer/platform/loaded_object.h"

namespace dtype_guard::san::torch {
namespace {

struct Wanted {
  const char* symbol;
  const char* meaning;  // of one that the source cannot do without; else nullptr
  void* found;
};

template <typename Function>
void take(const Wanted& wanted, Function& function) {
  if (wanted.found != nullptr) std::memcpy(&function, &wanted.found, sizeof function);
}

}  // namespace

bool find_object(const char* symbol, LoadedObject& found) {
  bool is_found = false;
  each_loaded_object([&](const LoadedObject& object) {
    if (object.is_sanitizer() || object.find_function(symbol) == nullptr) return true;
    found = object;
    is_found = true;
    return false;
  });
  return is_found;
}

bool Library::may_autocast(std::int8_t device_type) const {
  if (device_type == kMeta) return may_autocast(kCpu) || may_autocast(kCuda);  // asked of it, libtorch throws
  if (is_autocast_enabled != nullptr) return is_autocast_enabled(device_type);
  const IsAutocastEnabledFixed fixed =
      device_type == kCpu ? is_cpu_autocast_enabled : is_cuda_autocast_enabled;
  return fixed == nullptr || fixed();
}

bool find_library(Library& library, TextSink& reason) {
  Wanted wanted[] = {
      {kAddGlobalCallback, "at::addGlobalCallback", nullptr},
      {"_ZN2at14removeCallbackEm", "at::removeCallback", nullptr},
      {"_ZNK2at14RecordFunction4nameEv", "at::RecordFunction::name", nullptr},
      {"_ZN2at4_ops7mul_out4callERKNS_6TensorES4_RS2_", "at::_ops::mul_out::call", nullptr},
      {"_ZN2at4_ops9stack_out4callEN3c108ArrayRefINS_6TensorEEElRS4_", "at::_ops::stack_out::call", nullptr},
      {"_ZN2at10fromDLPackEP15DLManagedTensor", nullptr, nullptr},
      {"_ZN2at10fromDLPackEPK15DLManagedTensor", nullptr, nullptr},
      {"aoti_torch_create_tensor_from_blob", nullptr, nullptr},
      {"_ZN2at8autocast19is_autocast_enabledEN3c1010DeviceTypeE", nullptr, nullptr},
      {"_ZN2at8autocast10is_enabledEv", nullptr, nullptr},
      {"_ZN2at8autocast14is_cpu_enabledEv", nullptr, nullptr},
      {"_ZN2at4_ops10mul_Tensor4callERKNS_6TensorES4_", nullptr, nullptr},
      {"_ZN2at4_ops14requires_grad_4callERNS_6TensorEb", nullptr, nullptr},
      {"_ZNK2at10TensorBase7grad_fnEv", nullptr, nullptr},
      {"_ZN5torch8autograd16get_current_nodeEv", nullptr, nullptr},
      {"_ZN2at15sequence_number4peekEv", nullptr, nullptr},
      {"_ZN2at14RecordFunction15currentThreadIdEv", nullptr, nullptr},
      {"_ZN5torch8autograd6Engine23execute_with_graph_taskERKSt10shared_ptrINS0_9GraphTaskEES2_INS0_4NodeEEON"
       "S0_11InputBufferE",
       nullptr, nullptr},
      {"_ZN5torch8autograd6Engine23execute_with_graph_taskERKSt10shared_ptrINS0_9GraphTaskEEN3c1013intrusive_"
       "ptrINS0_4NodeENS7_6detail34intrusive_target_default_null_typeIS9_EEEEONS0_11InputBufferE",
       nullptr, nullptr},
  };
  LoadedObject object;
  library.is_mapped = find_object(wanted[0].symbol, object);
  if (!library.is_mapped) return false;
  for (Wanted& one : wanted) one.found = object.find_function(one.symbol);
  take(wanted[0], library.add_callback);
  take(wanted[1], library.remove_callback);
  take(wanted[2], library.name);
  take(wanted[3], library.mul_out);
  take(wanted[4], library.stack_out);
  take(wanted[5], library.from_dlpack);
  take(wanted[6], library.from_dlpack);
  take(wanted[7], library.from_blob);
  take(wanted[8], library.is_autocast_enabled);
  take(wanted[9], library.is_cuda_autocast_enabled);
  take(wanted[10], library.is_cpu_autocast_enabled);
  take(wanted[11], library.mul);
  take(wanted[12], library.requires_grad);
  take(wanted[13], library.grad_function);
  take(wanted[14], library.current_node);
  take(wanted[15], library.sequence_number);
  take(wanted[16], library.thread_number);
  library.has_shared_nodes = wanted[17].found;
  library.has_intrusive_nodes = wanted[18].found;
  constexpr const char* kUncaught = "_ZSt19uncaught_exceptionsv";
  if (LoadedObject runtime; find_object(kUncaught, runtime))
    take({kUncaught, nullptr, runtime.find_function(kUncaught)}, library.uncaught_exceptions);
  for (const Wanted& one : wanted) {
    if (one.meaning == nullptr || one.found != nullptr) continue;
    reason << "this libtorch does not export " << one.meaning;
    return false;
  }
  if (library.from_dlpack == nullptr && library.from_blob == nullptr) {
    reason << "this libtorch exports neither at::fromDLPack nor aoti_torch_create_tensor_from_blob";
    return false;
  }
  return true;
}

}  // namespace dtype_guard::san::torch
