// What PyTorch calls its operators, arguments and methods, where code has to know one by its name: a row
// each. What an operator does to dtypes and ranks stands in the JSON tables beside this file.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

namespace dtype_guard {

enum class Named : std::uint8_t {
  kShapeArgument,      // numbers of an operator that are no operands
  kReceiver,           // what a method is called of, as the tables call it
  kIndexOfStore,       // where a store writes
  kMemoryArgument,     // of a factory: what its tensor lies in
  kMaskArgument,       // takes no part in promotion, and is broadcast all the same
  kDtypeOfArgument,    // of a cast: a tensor whose dtype is taken
  kFirstInput,         // of a module's forward
  kForward,            // of a module
  kCallOfObject,       // runs its forward
  kConvertsModule,     // parameters and buffers, in place
  kMadeInDtype,        // of those: a module that is made, in the dtype that its constructor is told
  kSameTensor,         // the field of a tensor that is the tensor
  kRunsBodyHereToo,    // calls a function with parts of a range, of which the calling thread has some
  kRun,                // the method by which an object or a class is run
  kRunAsCall,          // what calling an object runs
  kCountsDimensions,   // a number
  kListsSizes,         // a number for each dimension
  kOneSize,            // of a dimension that is named
  kCountAlong,         // how many elements there are along one
  kSizeFromEitherEnd,  // of one that is counted from the front or from the back
  kCountOfShape,       // asks a tensor for a number alone
  kBytesOfElement,
  kValueOfTensor,    // as a number
  kRealOfIntegers,   // what it gives of two integers is no integer
  kListsParameters,  // of a module
  kListsBuffers,
  kListsChildren,
  kListsModules,
  kLeavesDtypes,        // a method of a module that gives out its tensors, or changes their values alone
  kDimensions,          // of a call by an equation: how many it names for the result
  kMoreDimensions,      // and whether there may be more
  kSharedData,          // the field of a tensor whose assignment gives it another's elements and dtype
  kSingularValueNorm,   // an `ord`
  kHost,                // a device
  kDtypeOfOptions,      // counts where the options state none
  kChoosesKernels,      // of scaled_dot_product_attention, for a while or for good
  kSaysCausal,          // of attention: then a mask may not be looked at
  kDefaultsToBFloat16,  // a device whose autocast casts to bfloat16 unless told otherwise
  kKeepsArgument,       // of the standard library: keeps what it is given, rather than run it on something
  kMovesFrom,           // of the standard library
  kHooksForward,        // may change what goes into a module, or what comes of it
  kGivesModuleBack,     // as it is
  kTakesOverState,      // load_state_dict takes over what it is given instead of copying its values
  kContainerTakesIn,
  kContainerGives,
  kPartOfHalfName,  // a text that has it names a half dtype
  kWordForHalf,     // as a word of its own
  kCastMethod,      // to a dtype, or to another tensor's
  kTellsShape,      // and nothing of elements
  kReduction,       // in the order in which ATen counts them
  // Namespaces, and classes whose members these are.
  kStandardLibrary,
  kLibrary,
  kModules,  // whose classes are modules
  kTensorMethods,
  kTensorClass,
  kModuleSequence,  // runs the modules that it holds, one after the other
  kAnyModule,       // holds one
  kModuleDictionary,
  kClassBehindHolder,  // ends the name of a module's class in C++, beside that of what holds it
  kWritesToOut,        // ends the name of the operator with a tensor for its result
  kWeight,             // of a layer
  kEndsNameOfMask,
  kAccelerator,
  kDeviceInText,
  kTypeOfDevice,
  kAsksForDevice
};

struct LibraryName {
  Named as;
  std::string_view name;
};
inline constexpr LibraryName kLibraryNames[] = {
    {Named::kShapeArgument, "size"},
    {Named::kShapeArgument, "shape"},
    {Named::kShapeArgument, "sizes"},
    {Named::kShapeArgument, "repeats"},
    {Named::kReceiver, "self"},
    {Named::kIndexOfStore, "indices"},
    {Named::kMemoryArgument, "data"},
    {Named::kMaskArgument, "condition"},
    {Named::kMaskArgument, "mask"},
    {Named::kDtypeOfArgument, "other"},
    {Named::kFirstInput, "input"},
    {Named::kFirstInput, "query"},
    {Named::kFirstInput, "hidden_states"},
    {Named::kForward, "forward"},
    {Named::kCallOfObject, "__call__"},
    {Named::kConvertsModule, "to"},
    {Named::kConvertsModule, "module_dtype"},
    {Named::kMadeInDtype, "module_dtype"},
    {Named::kSameTensor, "data"},
    {Named::kSameTensor, "dl_tensor"},
    {Named::kRunsBodyHereToo, "at::parallel_for"},
    {Named::kRun, "forward"},
    {Named::kRun, "__call__"},
    {Named::kRun, "apply"},
    {Named::kRunAsCall, "forward"},
    {Named::kRunAsCall, "__call__"},
    {Named::kRunAsCall, "operator()"},
    {Named::kCountsDimensions, "dim"},
    {Named::kCountsDimensions, "ndimension"},
    {Named::kListsSizes, "sizes"},
    {Named::kListsSizes, "sym_sizes"},
    {Named::kOneSize, "size"},
    {Named::kCountAlong, "size"},
    {Named::kOneSize, "stride"},
    {Named::kSizeFromEitherEnd, "size"},
    {Named::kCountOfShape, "size"},
    {Named::kCountOfShape, "dim"},
    {Named::kCountOfShape, "numel"},
    {Named::kBytesOfElement, "element_size"},
    {Named::kBytesOfElement, "itemsize"},
    {Named::kValueOfTensor, "item"},
    {Named::kRealOfIntegers, "div"},
    {Named::kRealOfIntegers, "exp"},
    {Named::kRealOfIntegers, "log"},
    {Named::kRealOfIntegers, "sqrt"},
    {Named::kListsParameters, "parameters"},
    {Named::kListsBuffers, "buffers"},
    {Named::kListsChildren, "children"},
    {Named::kListsModules, "modules"},
    {Named::kLeavesDtypes, "parameters"},
    {Named::kLeavesDtypes, "named_parameters"},
    {Named::kLeavesDtypes, "buffers"},
    {Named::kLeavesDtypes, "named_buffers"},
    {Named::kLeavesDtypes, "get_parameter"},
    {Named::kLeavesDtypes, "get_buffer"},
    {Named::kLeavesDtypes, "state_dict"},
    {Named::kLeavesDtypes, "load_state_dict"},
    {Named::kLeavesDtypes, "zero_grad"},
    {Named::kDimensions, "dimensions"},
    {Named::kMoreDimensions, "more_dimensions"},
    {Named::kSharedData, "data"},
    {Named::kSingularValueNorm, "nuc"},
    {Named::kHost, "cpu"},
    {Named::kDtypeOfOptions, "randint"},
    {Named::kChoosesKernels, "torch.nn.attention.sdpa_kernel"},
    {Named::kChoosesKernels, "torch.backends.cuda.sdp_kernel"},
    {Named::kChoosesKernels, "torch.backends.cuda.enable_mem_efficient_sdp"},
    {Named::kChoosesKernels, "_ZN2at7Context21setSDPUseMemEfficientEb"},
    {Named::kSaysCausal, "is_causal"},
    {Named::kDefaultsToBFloat16, "cpu"},
    {Named::kDefaultsToBFloat16, "xla"},
    {Named::kDefaultsToBFloat16, "hpu"},
    {Named::kKeepsArgument, "emplace"},
    {Named::kKeepsArgument, "try_emplace"},
    {Named::kKeepsArgument, "emplace_back"},
    {Named::kKeepsArgument, "emplace_front"},
    {Named::kKeepsArgument, "push_back"},
    {Named::kKeepsArgument, "push_front"},
    {Named::kKeepsArgument, "push"},
    {Named::kKeepsArgument, "insert"},
    {Named::kKeepsArgument, "insert_or_assign"},
    {Named::kKeepsArgument, "make_pair"},
    {Named::kMovesFrom, "move"},
    {Named::kMovesFrom, "exchange"},
    {Named::kHooksForward, "register_forward_pre_hook"},
    {Named::kHooksForward, "register_forward_hook"},
    {Named::kGivesModuleBack, "eval"},
    {Named::kGivesModuleBack, "train"},
    {Named::kGivesModuleBack, "requires_grad_"},
    {Named::kGivesModuleBack, "share_memory"},
    {Named::kTakesOverState, "assign"},
    {Named::kContainerTakesIn, "append"},
    {Named::kContainerTakesIn, "insert"},
    {Named::kContainerTakesIn, "extend"},
    {Named::kContainerTakesIn, "add_module"},
    {Named::kContainerTakesIn, "update"},
    {Named::kContainerTakesIn, "setdefault"},
    {Named::kContainerGives, "get"},
    {Named::kContainerGives, "pop"},
    {Named::kContainerGives, "values"},
    {Named::kContainerGives, "items"},
    {Named::kContainerGives, "copy"},
    {Named::kPartOfHalfName, "float16"},
    {Named::kPartOfHalfName, "fp16"},
    {Named::kPartOfHalfName, "bf16"},
    {Named::kPartOfHalfName, "HalfTensor"},
    {Named::kWordForHalf, "half"},
    {Named::kCastMethod, "type_as"},
    {Named::kCastMethod, "type"},
    {Named::kCastMethod, "to"},
    {Named::kCastMethod, "half"},
    {Named::kCastMethod, "bfloat16"},
    {Named::kCastMethod, "double"},
    {Named::kCastMethod, "float"},
    {Named::kTellsShape, "dim"},
    {Named::kTellsShape, "defined"},
    {Named::kTellsShape, "numel"},
    {Named::kTellsShape, "size"},
    {Named::kTellsShape, "sizes"},
    {Named::kReduction, "none"},
    {Named::kReduction, "mean"},
    {Named::kReduction, "sum"},
    {Named::kStandardLibrary, "std::"},
    {Named::kLibrary, "torch::"},
    {Named::kModules, "torch::nn::"},
    {Named::kTensorMethods, "at::Tensor::"},
    {Named::kTensorClass, "torch.Tensor"},
    {Named::kModuleSequence, "torch::nn::Sequential"},
    {Named::kAnyModule, "torch::nn::AnyModule"},
    {Named::kModuleDictionary, "torch::nn::ModuleDict"},
    {Named::kClassBehindHolder, "Impl"},
    {Named::kWritesToOut, "_out"},
    {Named::kWeight, "weight"},
    {Named::kEndsNameOfMask, "mask"},
    {Named::kAccelerator, "cuda"},
    {Named::kAccelerator, "xpu"},
    {Named::kAccelerator, "mps"},
    {Named::kAccelerator, "hpu"},
    {Named::kAccelerator, "npu"},
    {Named::kDeviceInText, "device"},
    {Named::kTypeOfDevice, "device.type"},
    {Named::kAsksForDevice, "is_cuda"},
};

constexpr bool is_named(Named as, std::string_view name) {
  return std::any_of(std::begin(kLibraryNames), std::end(kLibraryNames),
                     [&](const LibraryName& each) { return each.as == as && each.name == name; });
}
// Of what has one name; the compiler finds it.
consteval std::string_view name_of(Named as) {
  return std::find_if(std::begin(kLibraryNames), std::end(kLibraryNames),
                      [&](const LibraryName& each) { return each.as == as; })
      ->name;
}
// Of several, the one at that place; empty behind the last.
constexpr std::string_view name_of(Named as, std::size_t at) {
  for (const LibraryName& each : kLibraryNames) {
    if (each.as == as && at-- == 0) return each.name;
  }
  return {};
}
// "forward" of "torch::nn::Linear::forward"; empty where nothing qualifies it.
constexpr std::string_view qualified_name(std::string_view name) {
  const std::size_t scope = name.rfind("::");
  return scope == std::string_view::npos ? std::string_view() : name.substr(scope + 2);
}

}  // namespace dtype_guard
