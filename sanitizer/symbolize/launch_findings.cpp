#include "sanitizer/symbolize/launch_findings.h"

#include <fmt/format.h>

#include <algorithm>

#include "sanitizer/runtime/dtype_names.h"

namespace dtype_guard::san {

namespace {

using cupti::Backend;
using cupti::Confidence;
using cupti::KernelKind;
using cupti::KernelName;

bool is_attention(const KernelName& kernel) {
  return kernel.kind == KernelKind::kAttention || kernel.kind == KernelKind::kAttentionBackward;
}

// The dtype of the first of these roles that the name tells, as text.
std::string dtype_of(const KernelName& kernel, std::initializer_list<const char*> roles) {
  for (const char* role : roles) {
    if (const std::uint32_t packed = kernel.dtype_of(role); packed != 0)
      return std::string(dtype_name(packed));
  }
  return "";
}

bool is_half(const std::string& dtype) { return dtype == "float16" || dtype == "bfloat16"; }
bool is_full(const std::string& dtype) { return dtype == "float32" || dtype == "float64"; }

// The kernel's own name without template arguments and parameters, which fill a page.
std::string short_name(const std::string& kernel, const KernelName& read) {
  if (kernel.size() <= 80 && !kernel.starts_with("_Z")) return kernel;
  return fmt::format("{} kernel of {}", cupti::spelling(read.kind),
                     read.library.empty() ? "an unknown library" : read.library);
}

void add_operands(Finding& finding, const KernelName& kernel, bool wants_half) {
  for (std::size_t i = 0; i < kernel.role_count; ++i) {
    if (kernel.roles[i].dtype == 0) continue;
    FindingOperand operand;
    operand.role = kernel.roles[i].role;
    operand.dtypes = {std::string(dtype_name(kernel.roles[i].dtype))};
    if (wants_half) operand.accepts = {"float16", "bfloat16"};
    operand.device = "cuda";
    finding.operands.push_back(std::move(operand));
  }
}

Finding start(const std::string& rule, Level level, Certainty certainty, const std::string& kernel,
              const KernelName& read) {
  Finding finding;
  finding.rule = rule;
  finding.level = level;
  finding.certainty = certainty;
  finding.api = read.api.empty() ? short_name(kernel, read) : std::string(read.api);
  finding.observed = {"runtime"};
  finding.device = "cuda";
  return finding;
}

std::optional<Finding> fallback(const std::string& kernel, const KernelName& read, Backend expected) {
  if (read.backend == expected || read.backend == Backend::kNoBackend) return std::nullopt;
  const std::string dtype = dtype_of(read, {"q"});
  // Another backend that ran in half precision was chosen for a reason that its name does not tell.
  const bool proved = is_full(dtype) && expected != Backend::kEfficient;
  Finding finding = start("silent-attention-fallback", proved ? Level::kError : Level::kWarning,
                          proved ? Certainty::kDefinite : Certainty::kPossible, kernel, read);
  finding.message = fmt::format("{} attention ran{} where '{}' was expected", cupti::spelling(read.backend),
                                dtype.empty() ? "" : fmt::format(" in {}", dtype), cupti::spelling(expected));
  if (proved) finding.message += ", which takes float16 or bfloat16: cast q, k and v before the call";
  add_operands(finding, read, proved);
  return finding;
}

std::optional<Finding> mixed(const std::string& kernel, const KernelName& read) {
  const std::string q = dtype_of(read, {"q"});
  const std::string k = dtype_of(read, {"k", "k_cache"});
  const bool differ =
      (is_half(q) && is_full(k)) || (is_full(q) && is_half(k)) || (is_half(q) && is_half(k) && q != k);
  if (!differ) return std::nullopt;  // an 8-bit cache beside half queries is how it is meant
  Finding finding = start("attention-mixed-dtypes", Level::kWarning, Certainty::kPossible, kernel, read);
  finding.message = fmt::format("the {} was built for q in {} and k in {}", short_name(kernel, read), q, k);
  add_operands(finding, read, false);
  return finding;
}

std::optional<Finding> in_full_precision(const std::string& kernel, const KernelName& read) {
  const std::string dtype = dtype_of(read, {"q"});
  if (!is_full(dtype)) return std::nullopt;
  Finding finding = start("silent-attention-fallback", Level::kNote, Certainty::kPossible, kernel, read);
  finding.message = fmt::format(
      "{} attention ran in {}; in half precision the flash backend could take the call (expect=flash makes "
      "this an error)",
      cupti::spelling(read.backend), dtype);
  add_operands(finding, read, false);
  return finding;
}

}  // namespace

std::optional<Backend> parse_backend(const std::string& word) {
  for (const Backend backend : {Backend::kFlash, Backend::kEfficient, Backend::kCudnn}) {
    if (word == cupti::spelling(backend)) return backend;
  }
  return std::nullopt;
}

std::optional<Finding> launch_finding(const std::string& kernel, std::uint64_t count,
                                      std::optional<Backend> expected) {
  const KernelName read = cupti::read_kernel_name(kernel);
  if (!is_attention(read)) return std::nullopt;
  std::optional<Finding> finding;
  if (expected) finding = fallback(kernel, read, *expected);
  if (!finding) finding = mixed(kernel, read);
  if (!finding && !expected) finding = in_full_precision(kernel, read);
  if (finding) finding->count = count;
  return finding;
}

std::vector<StackFrame> without_cuda(std::vector<StackFrame> stack) {
  const auto is_cuda = [](const StackFrame& frame) {
    const std::string file = frame.module.substr(frame.module.rfind('/') + 1);
    return file.starts_with("libcupti.so") || file.starts_with("libcuda.so") ||
           file.starts_with("libcudart.so");
  };
  const auto first = std::find_if_not(stack.begin(), stack.end(), is_cuda);
  if (first != stack.end()) stack.erase(stack.begin(), first);
  return stack;
}

std::string describe_launches(const std::vector<JournalLaunch>& launches) {
  std::uint64_t total = 0;
  for (const JournalLaunch& launch : launches) total += launch.place.count;
  const auto attention = std::count_if(launches.begin(), launches.end(), [](const JournalLaunch& launch) {
    return is_attention(cupti::read_kernel_name(launch.place.api));
  });
  return fmt::format("{} {} of {} {}, {} of them attention", total, total == 1 ? "launch" : "launches",
                     launches.size(), launches.size() == 1 ? "kernel" : "kernels", attention);
}

}  // namespace dtype_guard::san
