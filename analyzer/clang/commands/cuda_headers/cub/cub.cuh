// Stands in for CUB: the collectives of warps and blocks as attention code uses them, and functions on the
// device.
#pragma once
#include <cuda_runtime_api.h>
#include <stddef.h>

#define CUB_VERSION 200000

#pragma clang force_cuda_host_device begin
namespace cub {
struct Sum {
  template <class T>
  T operator()(const T&, const T&) const;
};
struct Max {
  template <class T>
  T operator()(const T&, const T&) const;
};
struct Min {
  template <class T>
  T operator()(const T&, const T&) const;
};
template <class Key, class Value>
struct KeyValuePair {
  Key key;
  Value value;
};
struct TemporaryStorage {};
enum BlockReduceAlgorithm {
  BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY,
  BLOCK_REDUCE_RAKING,
  BLOCK_REDUCE_WARP_REDUCTIONS
};
enum BlockScanAlgorithm { BLOCK_SCAN_RAKING, BLOCK_SCAN_RAKING_MEMOIZE, BLOCK_SCAN_WARP_SCANS };
enum BlockLoadAlgorithm {
  BLOCK_LOAD_DIRECT,
  BLOCK_LOAD_STRIPED,
  BLOCK_LOAD_VECTORIZE,
  BLOCK_LOAD_TRANSPOSE,
  BLOCK_LOAD_WARP_TRANSPOSE
};
enum BlockStoreAlgorithm {
  BLOCK_STORE_DIRECT,
  BLOCK_STORE_STRIPED,
  BLOCK_STORE_VECTORIZE,
  BLOCK_STORE_TRANSPOSE,
  BLOCK_STORE_WARP_TRANSPOSE
};

template <class T, int X, BlockReduceAlgorithm = BLOCK_REDUCE_WARP_REDUCTIONS, int Y = 1, int Z = 1>
struct BlockReduce {
  using TempStorage = TemporaryStorage;
  BlockReduce();
  explicit BlockReduce(TempStorage&);
  template <class... Valid>
  T Sum(T value, Valid... valid);
  template <class Operation, class... Valid>
  T Reduce(T value, Operation operation, Valid... valid);
};
template <class T, int Threads = 32>
struct WarpReduce {
  using TempStorage = TemporaryStorage;
  explicit WarpReduce(TempStorage&);
  template <class... Valid>
  T Sum(T value, Valid... valid);
  template <class Operation, class... Valid>
  T Reduce(T value, Operation operation, Valid... valid);
};
template <class T, int X, BlockScanAlgorithm = BLOCK_SCAN_RAKING, int Y = 1, int Z = 1>
struct BlockScan {
  using TempStorage = TemporaryStorage;
  BlockScan();
  explicit BlockScan(TempStorage&);
  template <class In, class Out, class... More>
  void InclusiveSum(In in, Out& out, More&&... more);
  template <class In, class Out, class... More>
  void ExclusiveSum(In in, Out& out, More&&... more);
  template <class In, class Out, class... More>
  void InclusiveScan(In in, Out& out, More&&... more);
  template <class In, class Out, class... More>
  void ExclusiveScan(In in, Out& out, More&&... more);
};
template <class Key, int X, int Items, class... More>
struct BlockRadixSort {
  using TempStorage = TemporaryStorage;
  BlockRadixSort();
  explicit BlockRadixSort(TempStorage&);
  template <class... Arguments>
  void Sort(Arguments&&... arguments);
  template <class... Arguments>
  void SortDescending(Arguments&&... arguments);
};
template <class T, int X, int Items, BlockLoadAlgorithm = BLOCK_LOAD_DIRECT, int Y = 1, int Z = 1>
struct BlockLoad {
  using TempStorage = TemporaryStorage;
  BlockLoad();
  explicit BlockLoad(TempStorage&);
  template <class Iterator, class... More>
  void Load(Iterator from, T (&items)[Items], More... more);
};
template <class T, int X, int Items, BlockStoreAlgorithm = BLOCK_STORE_DIRECT, int Y = 1, int Z = 1>
struct BlockStore {
  using TempStorage = TemporaryStorage;
  BlockStore();
  explicit BlockStore(TempStorage&);
  template <class Iterator, class... More>
  void Store(Iterator to, T (&items)[Items], More... more);
};
#define DTYPE_LINT_ON_DEVICE(name) \
  template <class... Arguments>    \
  static cudaError_t name(void* temporary, size_t& bytes, Arguments&&... arguments);
struct DeviceScan {
  DTYPE_LINT_ON_DEVICE(InclusiveSum)
  DTYPE_LINT_ON_DEVICE(ExclusiveSum)
  DTYPE_LINT_ON_DEVICE(InclusiveScan)
  DTYPE_LINT_ON_DEVICE(ExclusiveScan)
};
struct DeviceReduce {
  DTYPE_LINT_ON_DEVICE(Reduce)
  DTYPE_LINT_ON_DEVICE(Sum)
  DTYPE_LINT_ON_DEVICE(Max)
  DTYPE_LINT_ON_DEVICE(Min)
  DTYPE_LINT_ON_DEVICE(ArgMax)
};
struct DeviceRadixSort {
  DTYPE_LINT_ON_DEVICE(SortKeys)
  DTYPE_LINT_ON_DEVICE(SortKeysDescending)
  DTYPE_LINT_ON_DEVICE(SortPairs)
  DTYPE_LINT_ON_DEVICE(SortPairsDescending)
};
struct DeviceSelect {
  DTYPE_LINT_ON_DEVICE(Flagged)
  DTYPE_LINT_ON_DEVICE(If)
  DTYPE_LINT_ON_DEVICE(Unique)
};
#undef DTYPE_LINT_ON_DEVICE
}  // namespace cub
#pragma clang force_cuda_host_device end
