// Options structs grow at their end; struct_size says how much of one the caller knows. What the caller
// leaves out is the default, and what this library does not know must be zero.
#pragma once

#include <cstddef>

#include "kernels/call/call.h"

namespace flash_ref {

// Copies `given` (NULL: the defaults) into `target`, both of `known` bytes in this library. `first` is the
// size of the struct in ABI version 1, `type` its name.
int read_options(const Call& call, const void* given, std::size_t first, std::size_t known, const char* type,
                 void* target);

// For members that are switches: 0 or 1.
int check_switch(const Call& call, const char* member, std::uint32_t value);

// Members that every options struct has.
int check_common_members(const Call& call, const void* workspace, std::size_t bytes, std::uint32_t reserved);

// FLASH_REF_ISA names an instruction set that can run here, or is not set.
int check_isa(const Call& call);

}  // namespace flash_ref
