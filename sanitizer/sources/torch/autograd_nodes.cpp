#include "sanitizer/sources/torch/autograd_nodes.h"

#include <string.h>

#include <atomic>

#include "sanitizer/platform/system.h"
#include "sanitizer/sources/torch/layout.h"
#include "sanitizer/sources/torch/probe.h"

namespace dtype_guard::san::torch {
namespace {

constexpr std::size_t kNodes = 3, kWords = 20;
// A node's thread is kept beside its number: what lies further off is a member of another kind.
constexpr std::size_t kBeside = 8;

struct Offsets {
  std::uint32_t sequence = 0, thread = 0;  // in words; 0: not known
};
constinit Offsets offsets = {};

struct SeenNode {
  std::uint64_t words[kWords];
  std::uint64_t sequence, thread;
};

// The one word that is this in all nodes; 0 for none or several.
std::uint32_t only_word(const SeenNode (&nodes)[kNodes], std::size_t begin, std::size_t end,
                        std::uint64_t SeenNode::*value) {
  std::uint32_t found = 0;
  for (std::size_t at = begin; at < end && at < kWords; ++at) {
    bool is_everywhere = true;
    for (const SeenNode& node : nodes) is_everywhere = is_everywhere && node.words[at] == node.*value;
    if (!is_everywhere) continue;
    if (found != 0) return 0;
    found = static_cast<std::uint32_t>(at);
  }
  return found;
}

// How often a node is owned is counted behind a vtable: its own, or that of the block of a std::shared_ptr.
// That is not taken for granted: to own the node once more must add one. The engine owns it too while it
// runs, so this never frees it.
constinit std::atomic<bool> gives_up{false};

void let_go(const Library& library, const NodeOwner& owner) {
  void* counted = library.has_shared_nodes != nullptr ? owner.control : owner.node;
  auto* count = reinterpret_cast<std::uint32_t*>(static_cast<char*>(counted) + sizeof(void*));
  const std::uint32_t before = __atomic_load_n(count, __ATOMIC_ACQUIRE);
  const NodeOwner again = library.current_node();
  const std::uint32_t after = __atomic_load_n(count, __ATOMIC_ACQUIRE);
  if (again.node == owner.node && after == before + 1 && before >= 2)
    (void)__atomic_sub_fetch(count, 2, __ATOMIC_ACQ_REL);
  else
    gives_up.store(true);  // the node that was owned here lives on, and no other will
}

}  // namespace

bool probe_nodes(const Library& library) {
  if (library.mul == nullptr || library.requires_grad == nullptr || library.grad_function == nullptr ||
      library.current_node == nullptr || library.sequence_number == nullptr ||
      library.thread_number == nullptr ||
      (library.has_shared_nodes == nullptr) == (library.has_intrusive_nodes == nullptr))
    return false;
  static constinit Tensor made[kNodes + 1] = {};  // they stay, and their nodes
  Tensor factor = probe_tensor();
  library.requires_grad(factor, true);
  made[0] = factor;
  SeenNode nodes[kNodes];
  for (std::size_t i = 0; i < kNodes; ++i) {
    nodes[i].sequence = library.sequence_number();
    nodes[i].thread = library.thread_number();
    made[i + 1].impl = library.mul(made[i], factor).impl;
    if (made[i + 1].impl == nullptr) return false;
    const void* node = *library.grad_function(&made[i + 1]);
    // Inside inference or without gradients there is none.
    if (node == nullptr || !read_memory(node, nodes[i].words, sizeof nodes[i].words)) return false;
  }
  offsets.sequence = only_word(nodes, 1, kWords, &SeenNode::sequence);
  if (offsets.sequence == 0) return false;
  offsets.thread = only_word(nodes, offsets.sequence + 1, offsets.sequence + 1 + kBeside, &SeenNode::thread);
  return offsets.thread != 0;
}

bool are_nodes_read() { return offsets.thread != 0 && !gives_up.load(std::memory_order_relaxed); }

Backward current_backward(const Library& library, NodeIdentity& node) {
  if (!are_nodes_read()) return Backward::kUnasked;
  const NodeOwner owner = library.current_node();
  if (owner.node == nullptr) return Backward::kNone;
  const auto* words = static_cast<const std::uint64_t*>(owner.node);
  node = {words[offsets.sequence], words[offsets.thread]};
  let_go(library, owner);
  return Backward::kInside;
}

}  // namespace dtype_guard::san::torch
