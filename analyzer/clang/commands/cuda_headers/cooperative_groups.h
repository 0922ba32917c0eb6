// Stands in for the toolkit's header: groups of threads.
#pragma once
#include <vector_types.h>

#pragma clang force_cuda_host_device begin
namespace cooperative_groups {
struct thread_group {
  void sync() const;
  unsigned long long size() const;
  unsigned long long num_threads() const;
  unsigned long long thread_rank() const;
  bool is_valid() const;
};
struct thread_block : thread_group {
  dim3 group_index() const;
  dim3 thread_index() const;
  dim3 group_dim() const;
};
struct grid_group : thread_group {
  unsigned long long block_rank() const;
  unsigned long long num_blocks() const;
};
struct cluster_group : thread_group {
  unsigned block_rank() const;
  unsigned num_blocks() const;
  dim3 block_index() const;
  dim3 dim_blocks() const;
  template <class T>
  T* map_shared_rank(T* address, int rank) const;
};
struct coalesced_group : thread_group {};
template <unsigned Size, class Parent = void>
struct thread_block_tile : thread_group {
  thread_block_tile() = default;
  template <class Other>
  thread_block_tile(const thread_block_tile<Size, Other>&);
  unsigned long long meta_group_rank() const;
  unsigned long long meta_group_size() const;
  template <class T>
  T shfl(T value, int lane) const;
  template <class T>
  T shfl_up(T value, unsigned lanes) const;
  template <class T>
  T shfl_down(T value, unsigned lanes) const;
  template <class T>
  T shfl_xor(T value, unsigned mask) const;
  int any(int) const;
  int all(int) const;
  unsigned ballot(int) const;
};
thread_block this_thread_block();
grid_group this_grid();
cluster_group this_cluster();
coalesced_group coalesced_threads();
template <unsigned Size, class Parent>
thread_block_tile<Size, Parent> tiled_partition(const Parent& group);
template <class Group>
void sync(const Group& group);
template <class T>
struct plus {
  T operator()(T, T) const;
};
template <class T>
struct greater {
  T operator()(T, T) const;
};
template <class T>
struct less {
  T operator()(T, T) const;
};
template <class Group, class T, class Function>
T reduce(const Group& group, T value, Function&& function);
template <class Group, class... Arguments>
void memcpy_async(const Group& group, Arguments&&... arguments);
template <class Group>
void wait(const Group& group);
}  // namespace cooperative_groups
#pragma clang force_cuda_host_device end
