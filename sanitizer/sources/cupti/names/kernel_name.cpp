#include "sanitizer/sources/cupti/names/kernel_name.h"

#include <cxxabi.h>

#include <cstdlib>
#include <optional>

#include "sanitizer/sources/cupti/names/element.h"
#include "sanitizer/sources/cupti/names/signature.h"

namespace dtype_guard::san::cupti {

namespace {

struct Row {
  std::string_view name;
  std::string_view mentions;
  KernelKind kind;
  Backend backend;
  std::string_view library;
  std::string_view api;
  std::string_view roles;
};

using enum KernelKind;
using enum Backend;
constexpr Row kRows[] = {
#define KERNEL(name, mentions, kind, backend, library, api, roles) \
  {name, mentions, kind, backend, library, api, roles},
#include "sanitizer/sources/cupti/names/kernels.inc"
#undef KERNEL
};

// A name to be read, and the places in it that a row may point at.
struct Subject {
  std::string_view whole;
  Signature signature;
  std::string_view token;  // what '#' stands for
};

bool is_token(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

// Whether `text` fits `pattern`; `token` receives what '#' stands for. Backtracks to the last '*' only, so
// the time is bounded by the product of the lengths.
bool fits(std::string_view pattern, std::string_view text, std::string_view& token) {
  std::size_t p = 0;
  std::size_t t = 0;
  std::size_t star = std::string_view::npos;
  std::size_t resume = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = t;
      continue;
    }
    if (p < pattern.size() && pattern[p] == '#' && is_token(text[t])) {
      const std::size_t begin = t;
      while (t < text.size() && is_token(text[t])) ++t;
      if (element_of_token(text.substr(begin, t - begin)) != 0) {
        token = text.substr(begin, t - begin);
        ++p;
        continue;
      }
      t = begin;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p;
      ++t;
      continue;
    }
    if (star == std::string_view::npos) return false;
    p = star + 1;
    t = ++resume;
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

std::string_view cut(std::string_view& text, char separator) {
  const std::size_t end = text.find(separator);
  const std::string_view head = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return head;
}

std::size_t number(std::string_view digits) {
  std::size_t value = 0;
  for (const char c : digits) value = value * 10 + static_cast<std::size_t>(c - '0');
  return value;
}

// The element type at the place that `where` describes; see kernels.inc.
std::uint32_t element_at(std::string_view where, const Subject& subject) {
  constexpr std::string_view kLambda = "lambda ";
  if (where.front() == '=') return element_of_token(where.substr(1));
  if (where == "#") return element_of_token(subject.token);
  if (where.substr(0, kLambda.size()) == kLambda) {
    const auto type = lambda_parameters(subject.whole, where.substr(kLambda.size()));
    return type ? element_of_type(*type) : 0;
  }
  const std::size_t open = where.find_first_of("[{");
  const std::string_view name = where.substr(0, open);
  const auto list =
      name.empty() ? std::optional(subject.signature.arguments) : arguments_of(subject.whole, name);
  if (!list) return 0;
  const std::size_t index = number(where.substr(open + 1, where.size() - open - 2));
  const auto type = where[open] == '{' ? type_item(*list, index) : list_item(*list, index);
  return type ? element_of_type(*type) : 0;
}

void read_roles(std::string_view roles, const Subject& subject, KernelName& kernel) {
  while (!roles.empty()) {
    std::string_view clause = cut(roles, ';');
    while (!clause.empty() && clause.front() == ' ') clause.remove_prefix(1);
    std::string_view names = cut(clause, '=');
    const std::uint32_t dtype = element_at(clause, subject);
    while (!names.empty() && kernel.role_count < KernelName::kMaxRoles) {
      kernel.roles[kernel.role_count++] = {cut(names, ' '), dtype};
    }
    if (dtype != 0) kernel.confidence = kernel.kind == kGemm ? Confidence::kPossible : Confidence::kCertain;
  }
}

bool mentions_all(std::string_view whole, std::string_view texts) {
  constexpr std::string_view kAnd = " & ";
  while (!texts.empty()) {
    const std::size_t end = texts.find(kAnd);
    if (whole.find(texts.substr(0, end)) == std::string_view::npos) return false;
    texts.remove_prefix(end == std::string_view::npos ? texts.size() : end + kAnd.size());
  }
  return true;
}

KernelName read_demangled(std::string_view whole) {
  KernelName kernel;
  const auto signature = split_signature(whole);
  if (!signature) return kernel;
  Subject subject{whole, *signature, {}};
  for (const Row& row : kRows) {
    if (!mentions_all(whole, row.mentions)) continue;
    if (!fits(row.name, signature->name, subject.token)) continue;
    kernel.kind = row.kind;
    kernel.backend = row.backend;
    kernel.library = row.library;
    kernel.api = row.api;
    read_roles(row.roles, subject, kernel);
    return kernel;
  }
  return kernel;
}

}  // namespace

std::uint32_t KernelName::dtype_of(std::string_view role) const {
  for (std::size_t i = 0; i < role_count; ++i) {
    if (roles[i].role == role) return roles[i].dtype;
  }
  return 0;
}

KernelName read_kernel_name(std::string_view name) {
  if (name.empty() || name.size() > kMaxNameLength) return {};
  if (name.substr(0, 2) != "_Z") return read_demangled(name);
  char mangled[kMaxNameLength + 1];  // the demangler wants a terminated string
  name.copy(mangled, name.size());
  mangled[name.size()] = '\0';
  int status = 0;
  char* const demangled = abi::__cxa_demangle(mangled, nullptr, nullptr, &status);
  if (demangled == nullptr) return {};
  const KernelName kernel = read_demangled(demangled);
  std::free(demangled);
  return kernel;
}

std::string_view spelling(KernelKind kind) {
  constexpr std::string_view kSpellings[] = {"unknown",
                                             "attention",
                                             "attention_backward",
                                             "attention_part",
                                             "linear_attention",
                                             "rotary",
                                             "cache_write",
                                             "cast",
                                             "copy",
                                             "elementwise",
                                             "softmax",
                                             "gemm"};
  return kSpellings[static_cast<std::size_t>(kind)];
}

std::string_view spelling(Backend backend) {
  constexpr std::string_view kSpellings[] = {"none", "flash", "efficient", "cudnn", "math"};
  return kSpellings[static_cast<std::size_t>(backend)];
}

std::string_view spelling(Confidence confidence) {
  constexpr std::string_view kSpellings[] = {"none", "possible", "certain"};
  return kSpellings[static_cast<std::size_t>(confidence)];
}

}  // namespace dtype_guard::san::cupti
