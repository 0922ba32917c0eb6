#include "sanitizer/sources/torch/sites.h"

#include <string.h>
#include <sys/mman.h>

#include "sanitizer/capture/stack.h"
#include "sanitizer/journal/journal_writer.h"
#include "sanitizer/journal/modules.h"
#include "sanitizer/platform/clock.h"
#include "sanitizer/settings/settings.h"

namespace dtype_guard::san::torch {
namespace {

constexpr std::uint64_t kMix = 0x9e3779b97f4a7c15U;

std::uint64_t mixed(std::uint64_t key, std::uint64_t value) {
  key = (key ^ value) * kMix;
  return key ^ key >> 29;
}

// The name's text and not its address: a record that was named by a string may have any.
std::uint64_t key_of(const Step& step, std::uint64_t position) {
  std::uint64_t key = mixed(position, static_cast<std::uint64_t>(step.result) << 8 | step.operand_count);
  for (std::size_t i = 0; i < step.operand_count; ++i) key = mixed(key, step.operands[i]);
  return mixed(key, XXH3_64bits(step.name, strlen(step.name))) | 1;
}

// In a program without Python the C++ stack tells places apart: it is looked at each time that dtypes change.
std::uint64_t stack_position(std::uintptr_t (&frames)[Site::kFrames], std::size_t& depth) {
  std::uintptr_t words[Site::kFrames];
  depth = capture_stack(frames, words, Site::kFrames);
  return XXH3_64bits(frames, depth * sizeof frames[0]);
}

void put_operand(FrameBuilder& frame, ScalarType type, std::uint32_t flags) {
  const std::uint32_t packed = type < kScalarTypeCount ? kScalarTypes[type].packed : 0;
  frame.text("").u32(flags | kOperandPresent).u32(packed).u64(0).u32(0).u32(1).u32(0).u32(0);
}

bool write_site(Process& process, Scratch& scratch, const Site& site, std::uint32_t number) {
  record_modules(process, scratch, site.stack, scratch.modules, site.depth);
  FrameBuilder frame(scratch.frame, FrameType::kSite);
  frame.u32(number).text(site.name).u64(site.thread).u64(site.time_ns);
  frame.u32(site.operand_count + 1);
  for (std::size_t i = 0; i < site.operand_count; ++i) put_operand(frame, site.operands[i], 0);
  put_operand(frame, site.result, kOperandOutput);
  frame.u32(site.depth);
  for (std::size_t i = 0; i < site.depth; ++i) frame.u32(scratch.modules[i]).u64(site.stack[i]);
  frame.u32(site.python_depth);
  for (std::size_t i = 0; i < site.python_depth; ++i) {
    const PythonFrame& python = site.python[i];
    frame.text(python.file).text(python.function).u32(python.line).u32(python.from_c ? 1 : 0);
  }
  return append_frame(process, frame, scratch);
}

void fill(Site& site, const Step& step) {
  strncpy(site.name, step.name, sizeof site.name - 1);
  site.kind = step.kind;
  site.result = step.result;
  site.operand_count = static_cast<std::uint32_t>(step.operand_count);
  memcpy(site.operands, step.operands, sizeof site.operands);
  site.thread = thread_id();
  site.time_ns = now_ns();
}

}  // namespace

bool Sites::start() {
  if (sites_ != nullptr) return true;
  void* fresh =
      mmap(nullptr, bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (fresh == MAP_FAILED) return false;
  sites_ = static_cast<Site*>(fresh);
  return true;
}

SiteNumber Sites::find(const Step& step) {
  std::uintptr_t frames[Site::kFrames];
  std::size_t depth = 0;
  std::uint64_t position = python_position();
  if (position == 0 && !python_found.load(std::memory_order_relaxed))
    position = stack_position(frames, depth);
  const std::uint64_t key = key_of(step, position);
  for (std::size_t i = 0; i < kProbes; ++i) {
    const auto index = static_cast<std::uint32_t>((key + i) % kSites);
    Site& site = sites_[index];
    std::uint64_t seen = site.key.load(std::memory_order_acquire);
    if (seen == key) return site_number(index, step.kind);
    if (seen == 0 && step.kind == SiteKind::kUsed &&
        uses_.fetch_add(1, std::memory_order_relaxed) >= kMostUses)
      return 0;
    if (seen != 0 || !site.key.compare_exchange_strong(seen, key, std::memory_order_acq_rel)) {
      if (seen == key) return site_number(index, step.kind);
      continue;
    }
    QuietSection quiet;
    fill(site, step);
    memcpy(site.stack, frames, depth * sizeof frames[0]);
    site.depth = static_cast<std::uint32_t>(depth);
    if (settings().python != Switch::kOff)
      site.python_depth = static_cast<std::uint32_t>(capture_python(site.python, Site::kPythonFrames));
    site.is_ready.store(1, std::memory_order_release);
    return site_number(index, step.kind);
  }
  without_room_.fetch_add(1, std::memory_order_relaxed);
  return 0;
}

const Site* Sites::at(SiteNumber number) const {
  if (number == 0 || index_of(number) >= kSites) return nullptr;
  const Site& site = sites_[index_of(number)];
  return site.is_ready.load(std::memory_order_acquire) != 0 ? &site : nullptr;
}

void Sites::write(Process& process, Scratch& scratch, SiteNumber number) {
  if (at(number) == nullptr) return;
  Site& site = sites_[index_of(number)];
  if (site.journal_of.exchange(process_id(), std::memory_order_acq_rel) == process_id()) return;
  if (!write_site(process, scratch, site, journal_site(number))) site.journal_of.store(0);
}

void Sites::write(Process& process, Scratch& scratch, const OriginChain& chain) {
  for (const SiteNumber number : chain.sites) write(process, scratch, number);
}

}  // namespace dtype_guard::san::torch
