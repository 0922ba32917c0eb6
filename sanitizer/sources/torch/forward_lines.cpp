#include "sanitizer/sources/torch/forward_lines.h"

#include <sys/mman.h>

#include "sanitizer/journal/journal_writer.h"
#include "sanitizer/sources/torch/autograd_nodes.h"
#include "sanitizer/sources/torch/sites.h"
#include "sanitizer/sources/torch/thread_records.h"

namespace dtype_guard::san::torch {
namespace {

constexpr std::size_t kLines = 1 << 16;
// An operator that makes more nodes than this is a loop; only its first ones are noted.
constexpr std::uint64_t kMostNodes = 64;

struct Line {
  std::atomic<std::uint64_t> key;
  std::atomic<SiteNumber> site;
};
constinit Line* lines = nullptr;

std::uint64_t key_of(NodeIdentity node) { return (node.thread + 1) << 40 ^ node.sequence; }
Line& line_of(std::uint64_t key) { return lines[(key ^ key >> 40 << 10) % kLines]; }

void note(NodeIdentity node, SiteNumber site) {
  const std::uint64_t key = key_of(node);
  Line& line = line_of(key);
  line.key.store(0, std::memory_order_release);
  line.site.store(site, std::memory_order_release);
  line.key.store(key, std::memory_order_release);
}

SiteNumber find(NodeIdentity node) {
  const std::uint64_t key = key_of(node);
  const Line& line = line_of(key);
  if (line.key.load(std::memory_order_acquire) != key) return 0;
  const SiteNumber site = line.site.load(std::memory_order_acquire);
  return line.key.load(std::memory_order_acquire) == key ? site : 0;
}

// Where nodes are not read, the record that the engine makes around each tells that this is one.
bool is_in_backward_record() {
  ThreadRecords* thread = thread_records();
  return thread != nullptr && thread->is_inside(Part::kNode);
}

}  // namespace

void start_forward_lines(const Library& library) {
  if (lines != nullptr || !probe_nodes(library)) return;
  void* fresh = mmap(nullptr, sizeof(Line) * kLines, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (fresh != MAP_FAILED) lines = static_cast<Line*>(fresh);
}

void begin_forward(OpenRecord& open) {
  if (lines == nullptr) return;
  open.notes_forward = true;
  open.first_node = libtorch.sequence_number();
}

void end_forward(const OpenRecord& open) {
  const std::uint64_t end = libtorch.sequence_number();
  if (end <= open.first_node) return;  // nothing needed a gradient, or it ended on another thread
  Step step = {};
  step.name = open.op->name;
  step.result = kScalarTypeCount;
  const SiteNumber site = sites.find(step);
  const std::uint64_t thread = libtorch.thread_number();
  for (std::uint64_t i = open.first_node; i < end && i < open.first_node + kMostNodes; ++i)
    note({i, thread}, site);
}

std::uint32_t find_forward(Process& process) {
  NodeIdentity node = {};
  const Backward backward = current_backward(libtorch, node);
  if (backward == Backward::kUnasked) return is_in_backward_record() ? kForwardUnknown : 0;
  if (backward != Backward::kInside) return 0;
  const SiteNumber site = lines != nullptr ? find(node) : 0;
  ScratchLease lease(process);
  if (site == 0 || lease.get() == nullptr || !open_journal(process, *lease.get())) return kForwardUnknown;
  sites.write(process, *lease.get(), site);
  return journal_site(site);
}

}  // namespace dtype_guard::san::torch
