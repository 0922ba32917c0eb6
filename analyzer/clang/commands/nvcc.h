// CUDA sources: command lines written for nvcc as Clang takes them (nvcc_flags.json), and what Clang needs to
// parse a .cu file, with a toolkit or without.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace dtype_guard::clang_front_end {

bool is_nvcc(const std::string& compiler);
// By the ending, or by -x.
bool is_cuda(const std::string& file, const std::vector<std::string>& arguments);

// The arguments after the compiler in Clang's words; those that nvcc hands to the host compiler stay.
std::vector<std::string> translate_nvcc(const std::vector<std::string>& arguments, const std::string& folder);
// What a CUDA source needs besides its own arguments: one pass over host and device code, the toolkit (that
// of the compiler, of the arguments, or where it is usually installed), else stand-ins for its headers.
std::vector<std::string> cuda_arguments(const std::string& compiler,
                                        const std::vector<std::string>& arguments);
// What nvcc adds when it hands a C++ source to the host compiler: the toolkit's headers.
std::vector<std::string> nvcc_host_arguments(const std::string& compiler);
// Headers that exist for Clang only, by absolute path.
const std::map<std::string, std::string>& cuda_headers();

}  // namespace dtype_guard::clang_front_end
