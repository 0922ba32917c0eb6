#include "sanitizer/sources/torch/recasts.h"

#include <atomic>

#include "sanitizer/contracts/watched_call.h"
#include "sanitizer/platform/text_buffer.h"
#include "sanitizer/sources/torch/sites.h"
#include "sanitizer/sources/torch/told_count.h"

namespace dtype_guard::san::torch {
namespace {

constexpr std::size_t kPlaces = 128;

struct Recast {
  std::atomic<SiteNumber> site;
  std::atomic<const ApiContract*> contract;
  std::atomic<std::uint32_t> roles;  // a bit for each operand that was cast
  ToldCount calls, bytes;
};
constinit Recast recasts[kPlaces] = {};

Recast* place_of(SiteNumber site) {
  for (std::size_t i = 0; i < kPlaces; ++i) {
    Recast& one = recasts[(site + i) % kPlaces];
    SiteNumber known = one.site.load(std::memory_order_relaxed);
    if (known == site || (known == 0 && one.site.compare_exchange_strong(known, site)) || known == site)
      return &one;
  }
  return nullptr;
}

std::uint64_t bytes_of(const DLTensor& tensor) {
  std::uint64_t bits = std::uint64_t{tensor.dtype.bits} * tensor.dtype.lanes;
  for (std::int32_t i = 0; i < tensor.ndim; ++i) bits *= static_cast<std::uint64_t>(tensor.shape[i]);
  return bits / 8;
}

void write_recast(Process& process, Scratch& scratch, Recast& one) {
  const Site* site = sites.at(one.site.load());
  const ApiContract* contract = one.contract.load();
  const std::uint64_t calls = one.calls.take_untold(), bytes = one.bytes.take_untold();
  if (site == nullptr || contract == nullptr || calls == 0) return;
  TextBuffer<400> text;
  text << "torch: under autocast " << contract->name << " casts ";
  const char* before = "";
  for (std::size_t i = 0; i < contract->operand_count; ++i) {
    if ((one.roles.load() >> i & 1U) == 0) continue;
    text << before << "'" << contract->operands[i].role << "'";
    before = ", ";
  }
  text << " inside, for its operands differ in dtype: " << calls << (calls == 1 ? " call, " : " calls, ")
       << bytes << " bytes read and written";
  if (site->python_depth != 0)
    text << ", at " << site->python[0].file << ":" << std::uint64_t{site->python[0].line};
  write_note(process, scratch, text.view());
}

}  // namespace

void note_recast(const Operator& op, const ApiContract& contract, const CallOperands& written,
                 const CallOperands& got) {
  std::uint64_t bytes = 0;
  std::uint32_t roles = 0;
  for (std::size_t i = 0; i < contract.operand_count; ++i) {
    const DLTensor *from = written.list()[i], *to = got.list()[i];
    if (from == nullptr || to == nullptr || packed_dtype(*from) == packed_dtype(*to)) continue;
    bytes += bytes_of(*from) + bytes_of(*to);
    roles |= 1U << i;
  }
  Step step = {};
  step.name = op.name;
  step.result = kScalarTypeCount;
  const SiteNumber site = roles != 0 ? sites.find(step) : 0;
  Recast* one = site != 0 ? place_of(site) : nullptr;
  if (one == nullptr) return;
  one->contract.store(&contract, std::memory_order_relaxed);
  one->roles.fetch_or(roles, std::memory_order_relaxed);
  one->bytes.add(bytes);
  one->calls.add(1);
}

void write_recasts(Process& process, Scratch& scratch) {
  for (Recast& one : recasts)
    if (one.site.load() != 0) write_recast(process, scratch, one);
}

void forget_recasts() {
  for (Recast& one : recasts) {
    one.calls.forget();
    one.bytes.forget();
  }
}

}  // namespace dtype_guard::san::torch
