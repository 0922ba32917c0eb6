// The instruction sets that the kernels were compiled for, and the one that runs: the one measured fastest
// among those that the machine has, or the one that the environment variable FLASH_REF_ISA names.
#pragma once

#include "kernels/cpu/isa_table.h"

namespace flash_ref::cpu {

struct Isa {
  const char* name;
  const IsaTable* table;
  bool supported;  // by this machine
  bool preferred;  // to the ones before it
};

// A null table ends the list. The first one, "scalar", is supported everywhere.
const Isa* all_isas();

// The choice is made at the first call and stays. Null if FLASH_REF_ISA names none that can run here.
const Isa* selected_isa();

// What is wrong with FLASH_REF_ISA where selected_isa() is null: one sentence.
const char* isa_problem();

}  // namespace flash_ref::cpu
