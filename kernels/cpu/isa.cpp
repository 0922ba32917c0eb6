#include "kernels/cpu/isa.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace flash_ref::cpu {

namespace scalar {
extern const IsaTable kTable;
}
#ifdef FLASH_REF_X86
namespace avx2 {
extern const IsaTable kTable;
}
namespace avx512 {
extern const IsaTable kTable;
}
namespace avx512bf16 {
extern const IsaTable kTable;
}
#endif

namespace {

#ifdef FLASH_REF_X86
// __builtin_cpu_supports also asks whether the operating system saves the registers.
bool has_avx2() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c");
}

bool has_avx512() {
  return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
}
#endif

#ifdef FLASH_REF_X86
// bfloat16 dot products, twice the multiply-adds of an FMA: AMD's Zen 4 and 5 do as many per cycle as FMAs,
// Intel's processors a fourth of that, which makes them the slower way there.
bool has_fast_bf16() {
  return has_avx512() && __builtin_cpu_supports("avx512bf16") && __builtin_cpu_is("amd");
}
#endif

struct Selection {
  const Isa* isa = nullptr;
  char problem[256] = "";

  Selection() {
    const char* asked = std::getenv("FLASH_REF_ISA");
    char supported[128] = "";
    for (const Isa* candidate = all_isas(); candidate->table != nullptr; ++candidate) {
      if (!candidate->supported) continue;
      if (supported[0] != '\0') std::strcat(supported, ", ");
      std::strcat(supported, candidate->name);
      const bool wanted = asked == nullptr || asked[0] == '\0' ? candidate->preferred
                                                               : std::strcmp(asked, candidate->name) == 0;
      if (wanted) isa = candidate;
    }
    if (isa == nullptr) {
      std::snprintf(problem, sizeof problem,
                    "the environment variable FLASH_REF_ISA is '%.60s'; expected one of: %s", asked,
                    supported);
    }
  }
};

const Selection& selection() {
  static const Selection made;
  return made;
}

}  // namespace

const Isa* all_isas() {
  static const Isa isas[] = {{"scalar", &scalar::kTable, true, true},
#ifdef FLASH_REF_X86
                             {"avx2", &avx2::kTable, has_avx2(), true},
                             {"avx512", &avx512::kTable, has_avx512(), true},
                             {"avx512bf16", &avx512bf16::kTable,
                              has_avx512() && __builtin_cpu_supports("avx512bf16"), has_fast_bf16()},
#endif
                             {nullptr, nullptr, false, false}};
  return isas;
}

const Isa* selected_isa() { return selection().isa; }

const char* isa_problem() { return selection().problem; }

}  // namespace flash_ref::cpu
