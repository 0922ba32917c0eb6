// A Tensor is a DLTensor that has been checked: its address, sizes and strides can be used without a second
// thought.
#pragma once

#include <cstdint>

#include "kernels/call/call.h"

namespace flash_ref {

inline constexpr int kMaxRank = 4;

// Of a tensor: more than any memory holds, and so few that sizes of workspaces, small multiples of it, do not
// overflow.
inline constexpr std::int64_t kMostElements = std::int64_t{1} << 48;

// What an argument should look like, for checks and messages.
struct Shape {
  int rank;
  const char* sizes;  // "(batch, seq_q, heads, dim)"
};

struct Tensor {
  const char* role = nullptr;
  char* data = nullptr;
  int rank = 0;
  std::int64_t sizes[kMaxRank] = {};
  std::int64_t strides[kMaxRank] =
      {};  // in elements; 0 for dimensions of size <= 1 and in tensors without elements
  std::int64_t elements = 0;
  std::int64_t element_bytes = 0;
  std::int64_t lowest = 0, highest = 0;  // offsets of the first and last element in memory, in elements

  bool empty() const { return elements == 0; }
};

// Device, number of dimensions, sizes, strides, data and alignment. Call it after check_dtypes.
// `needs_data` is false for questions about shapes only.
int read_tensor(const Call& call, const char* role, const DLTensor& source, Shape shape, bool needs_data,
                Tensor& tensor);

// Fails unless `tensor` has these sizes; `reason` explains them, as in "(the shape of q)".
int check_sizes(const Call& call, const Tensor& tensor, const std::int64_t* expected, const char* reason);

// Fails if two elements of `tensor` may have one address.
int check_own_memory(const Call& call, const Tensor& tensor);

bool same_place(const Tensor& a, const Tensor& b);

}  // namespace flash_ref
