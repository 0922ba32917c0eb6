#include "sanitizer/sources/torch/written_casts.h"

#include <atomic>

#include "sanitizer/contracts/dtype_names.h"
#include "sanitizer/platform/text_buffer.h"
#include "sanitizer/sources/torch/sites.h"
#include "sanitizer/sources/torch/told_count.h"

namespace dtype_guard::san::torch {
namespace {

constexpr std::size_t kPlaces = 128;

struct WrittenCast {
  std::atomic<SiteNumber> site;
  ToldCount times;
};
constinit WrittenCast casts[kPlaces] = {};

void write_cast(Process& process, Scratch& scratch, WrittenCast& one) {
  const Site* site = sites.at(one.site.load());
  const std::uint64_t times = one.times.take_untold();
  if (site == nullptr || times == 0) return;
  TextBuffer<400> text;
  text << "torch: attention that is written by hand is computed in "
       << dtype_name(kScalarTypes[site->result].packed) << ", for " << site->name << "(";
  for (std::size_t i = 0; i < site->operand_count && i < Step::kMostOperands; ++i)
    text << (i == 0 ? "" : ", ") << dtype_name(kScalarTypes[site->operands[i]].packed);
  text << ") casts what it is given";
  if (site->python_depth != 0)
    text << " at " << site->python[0].file << ":" << std::uint64_t{site->python[0].line};
  text << ": " << times << (times == 1 ? " operand" : " operands")
       << ". A cast that is written is no finding";
  write_note(process, scratch, text.view());
}

}  // namespace

void note_written_cast(const OriginChain& chain) {
  const SiteNumber site = chain.sites[0];
  if (site == 0 || kind_of(site) != SiteKind::kCast) return;
  for (std::size_t i = 0; i < kPlaces; ++i) {
    WrittenCast& one = casts[(site + i) % kPlaces];
    SiteNumber known = one.site.load(std::memory_order_relaxed);
    if (known != site && (known != 0 || (!one.site.compare_exchange_strong(known, site) && known != site)))
      continue;
    one.times.add(1);
    return;
  }
}

void write_written_casts(Process& process, Scratch& scratch) {
  for (WrittenCast& one : casts)
    if (one.site.load() != 0) write_cast(process, scratch, one);
}

void forget_written_casts() {
  for (WrittenCast& one : casts) one.times.forget();
}

}  // namespace dtype_guard::san::torch
