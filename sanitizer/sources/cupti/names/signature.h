// A demangled C++ kernel name, taken apart without allocation: views into the text that was given. Kernel
// names are hostile input (any program may launch any name), so everything here scans, nothing recurses, and
// brackets that do not close give "absent", never a guess.
//
//   void flash::flash_fwd_kernel<Traits<128, cutlass::half_t>, false>(flash::Params)
//        '------- name --------' '-------- arguments --------'
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace dtype_guard::san::cupti {

struct Signature {
  std::string_view name;       // with its namespaces, without return type and template arguments
  std::string_view arguments;  // between < and >; empty for a plain name
};

// Absent when brackets do not close. A name that is no C++ declaration ("ampere_sgemm_128x64_tn") is all
// name.
std::optional<Signature> split_signature(std::string_view demangled);

// The index-th of a comma-separated list, outer brackets only, trimmed.
std::optional<std::string_view> list_item(std::string_view list, std::size_t index);

// The index-th item that names a type: not a number, a bool or a value with a cast such as "(MaskMode)0".
std::optional<std::string_view> type_item(std::string_view list, std::size_t index);

// What stands between < and > of the first use of the template `name` in `text` (any namespace).
std::optional<std::string_view> arguments_of(std::string_view text, std::string_view name);

// The parameters of the first lambda after the first mention of `function` in `text`, as both GNU's
// "{lambda(float)#1}" and LLVM's "'lambda'(float)" write it; lambdas without parameters are passed over.
std::optional<std::string_view> lambda_parameters(std::string_view text, std::string_view function);

}  // namespace dtype_guard::san::cupti
