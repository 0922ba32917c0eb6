#include "sanitizer/symbolize/launch_findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "sanitizer/contracts/dtype_names.h"
#include "sanitizer/contracts/watched_call.h"
#include "sanitizer/protocol/journal.h"
#include "sanitizer/sources/cupti/parameters.h"
#include "sanitizer/symbolize/violation.h"

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
  if (proved)
    finding.message += fmt::format(", which takes {}: cast q, k and v before the call",
                                   DtypeSet{Dtype::kFloat16, Dtype::kBFloat16}.quoted());
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

const JournalOperand* operand_named(const JournalLaunch& launch, std::string_view role) {
  for (const JournalOperand& operand : launch.place.operands)
    if (operand.role == role && (operand.flags & kOperandPresent) != 0) return &operand;
  return nullptr;
}

// A role that the kernel reads, the dtype it was built for, and the operand of the watched call that it gets.
struct ReadOperand {
  std::uint32_t built;
  const JournalOperand* operand;
};

// Our own kernels get what their call got. Outputs are left out: a kernel may write what another one narrows.
std::vector<ReadOperand> read_by_own(const JournalLaunch& launch, const KernelName& kernel) {
  std::vector<ReadOperand> read;
  for (std::size_t i = 0; i < kernel.role_count; ++i) {
    const JournalOperand* operand = operand_named(launch, kernel.roles[i].role);
    if (operand == nullptr) continue;
    const bool is_cache = operand->role.ends_with("_cache");  // read and written
    if (is_cache || (operand->flags & kOperandOutput) == 0) read.push_back({kernel.roles[i].dtype, operand});
  }
  return read;
}

// For others the launch's arguments have to hold the operand's address where the kernel's parameters have q,
// k or v.
std::vector<ReadOperand> read_by_address(const JournalLaunch& launch, const KernelName& kernel) {
  std::vector<ReadOperand> read;
  const cupti::KernelParameters* row = cupti::parameters(cupti::find_parameters(launch.place.api));
  for (std::size_t i = 0; row != nullptr && !row->is_cast && i < cupti::kInputs; ++i)
    for (const JournalLaunch::Match& match : launch.matches)
      if (match.parameter == row->places[i].parameter && match.offset == row->places[i].offset)
        read.push_back({kernel.dtype_of(cupti::kInputRoles[i]), &launch.place.operands[match.operand]});
  return read;
}

void add_descriptors(Finding& finding, const std::vector<JournalOperand>& operands) {
  for (const JournalOperand& described : operands) {
    if ((described.flags & kOperandPresent) == 0) continue;
    auto known = std::find_if(finding.operands.begin(), finding.operands.end(),
                              [&](const FindingOperand& one) { return one.role == described.role; });
    if (known == finding.operands.end()) {
      finding.operands.emplace_back();
      known = finding.operands.end() - 1;
      known->role = described.role;
      known->dtypes = {dtype_text(described.packed)};
      known->device = "cuda";
    }
    known->shape = described.shape;
  }
}

// A descriptor says one dtype, and the kernel that reads the operand was built for another.
std::optional<Finding> other_dtype(const JournalLaunch& launch, const KernelName& kernel) {
  Finding finding;
  const bool own = kernel.library == "flash_ref" && launch.call.starts_with("flash_ref_");
  for (const auto& [built, operand] : own ? read_by_own(launch, kernel) : read_by_address(launch, kernel)) {
    if (built == 0 || operand->packed == built || dtype_name(operand->packed).empty() ||
        is_raw_bytes(operand->packed))
      continue;
    FindingOperand wrong;
    wrong.role = operand->role;
    wrong.dtypes = {std::string(dtype_name(operand->packed))};
    wrong.accepts = {std::string(dtype_name(built))};
    wrong.device = "cuda";
    finding.operands.push_back(std::move(wrong));
  }
  if (finding.operands.empty()) return std::nullopt;
  Finding result =
      start("dlpack-dtype-mismatch", Level::kError, Certainty::kDefinite, launch.place.api, kernel);
  result.api = launch.call;
  result.operands = std::move(finding.operands);
  // "q and k are described as float16 and read as bfloat16, v is ..."
  std::vector<std::pair<std::string, std::vector<std::string>>> groups;
  for (const FindingOperand& wrong : result.operands) {
    const std::string how =
        fmt::format("described as {} and read as {}", wrong.dtypes.front(), wrong.accepts.front());
    if (groups.empty() || groups.back().first != how) groups.push_back({how, {}});
    groups.back().second.push_back(wrong.role);
  }
  for (const auto& [how, roles] : groups)
    result.message += fmt::format("{}{} {} {}", result.message.empty() ? "" : ", ", in_words(roles),
                                  roles.size() == 1 ? "is" : "are", how);
  result.message +=
      fmt::format(" by the {} that {} launched", short_name(launch.place.api, kernel), launch.call);
  add_descriptors(result, launch.place.operands);
  return result;
}

// A watched attention call got half operands, and what it launched computes in full precision. Only an
// attention kernel's name proves that; a GEMM may be any part of the call.
std::optional<Finding> slower_inside_call(const JournalLaunch& launch, const KernelName& kernel) {
  const JournalOperand* q = operand_named(launch, "q");
  const bool attention = is_attention(kernel);
  const std::string built = dtype_of(kernel, {attention ? "q" : "a"});
  if (q == nullptr || !is_half(dtype_text(q->packed)) || !is_full(built) ||
      (!attention && kernel.kind != KernelKind::kGemm))
    return std::nullopt;
  Finding finding = start("silent-attention-fallback", attention ? Level::kWarning : Level::kNote,
                          attention ? Certainty::kDefinite : Certainty::kPossible, launch.place.api, kernel);
  finding.api = launch.call;
  finding.message = fmt::format("{} was called with q in {} and launched {} in {}", launch.call,
                                dtype_text(q->packed), attention ? "attention" : "a matrix product", built);
  add_descriptors(finding, launch.place.operands);
  return finding;
}

}  // namespace

std::optional<Backend> parse_backend(const std::string& word) {
  for (const Backend backend : {Backend::kFlash, Backend::kEfficient, Backend::kCudnn}) {
    if (word == cupti::spelling(backend)) return backend;
  }
  return std::nullopt;
}

std::optional<Finding> launch_finding(const JournalLaunch& launch, std::optional<Backend> expected) {
  const std::string& kernel = launch.place.api;
  const KernelName read = cupti::read_kernel_name(kernel);
  std::optional<Finding> finding = other_dtype(launch, read);
  if (!finding) finding = slower_inside_call(launch, read);
  if (!finding && is_attention(read)) {
    if (expected) finding = fallback(kernel, read, *expected);
    if (!finding) finding = mixed(kernel, read);
    if (!finding && !expected) finding = in_full_precision(kernel, read);
    if (finding) add_descriptors(*finding, launch.place.operands);
  }
  if (finding) finding->count = std::max<std::uint64_t>(1, launch.runs());
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

std::string in_words(const std::vector<std::string>& roles) {
  std::string text;
  for (std::size_t i = 0; i < roles.size(); ++i)
    text += (i == 0 ? "" : i + 1 == roles.size() ? " and " : ", ") + roles[i];
  return text;
}

std::string describe_launches(const std::vector<JournalLaunch>& launches) {
  std::uint64_t total = 0;
  std::map<std::string, std::uint64_t> kernels;  // a kernel stands once for each watched call that it is in
  for (const JournalLaunch& launch : launches) {
    total += launch.place.count;
    kernels[launch.place.api] += launch.place.count;
  }
  const auto attention = std::count_if(kernels.begin(), kernels.end(), [](const auto& kernel) {
    return is_attention(cupti::read_kernel_name(kernel.first));
  });
  return fmt::format("{} {} of {} {}, {} of them attention", total, total == 1 ? "launch" : "launches",
                     kernels.size(), kernels.size() == 1 ? "kernel" : "kernels", attention);
}

}  // namespace dtype_guard::san
