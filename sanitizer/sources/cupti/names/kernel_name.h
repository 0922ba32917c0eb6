// Reads the dtypes that a CUDA kernel's name proves. The name of an attention kernel usually says for which
// element types it was built; kernels.inc says, per kernel, where. What the name does not prove is unknown: a
// wrong answer here becomes a false alarm in a user's job.
//
// No exceptions and no allocation but the demangler's, since this runs in the watched process at the first
// launch of each kernel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace dtype_guard::san::cupti {

enum class KernelKind : std::uint8_t {
  kUnknown,
  kAttention,
  kAttentionBackward,
  kAttentionPart,  // a further kernel of the same call: combine, delta, conversion
  kLinearAttention,
  kRotary,
  kCacheWrite,
  kCast,
  kCopy,
  kElementwise,
  kSoftmax,
  kGemm,
};

// Which implementation of attention a kernel belongs to, as torch.nn.attention.SDPBackend names them.
enum class Backend : std::uint8_t { kNoBackend, kFlash, kEfficient, kCudnn, kMath };

// How far the name may be trusted.
enum class Confidence : std::uint8_t {
  kNone,      // no role's dtype is known
  kPossible,  // the name belongs to a kernel that many programs use for many things
  kCertain,   // the element type stands where the library's template has it
};

struct RoleDtype {
  std::string_view role;    // as in rules/contracts/roles.inc; "a" and "b" for the factors of a GEMM
  std::uint32_t dtype = 0;  // DLPack code << 16 | bits << 8 | lanes; 0: the name does not say
};

struct KernelName {
  static constexpr std::size_t kMaxRoles = 8;
  KernelKind kind = KernelKind::kUnknown;
  Backend backend = Backend::kNoBackend;
  Confidence confidence = Confidence::kNone;
  std::string_view library;
  std::string_view api;
  RoleDtype roles[kMaxRoles];
  std::size_t role_count = 0;

  // 0 when the kernel has no such role or the name does not say.
  std::uint32_t dtype_of(std::string_view role) const;
};

// A name longer than this is not looked at.
constexpr std::size_t kMaxNameLength = 16384;

// `name` as CUPTI, nsys or cu++filt print it: mangled or demangled.
KernelName read_kernel_name(std::string_view name);

std::string_view spelling(KernelKind kind);
std::string_view spelling(Backend backend);
std::string_view spelling(Confidence confidence);

}  // namespace dtype_guard::san::cupti
