// Finds members in memory whose layout is not known, by what they must hold: each search gives the one offset
// at which all witnesses agree. None or several is an answer too, and then nothing is read by a guess. All
// pointers are followed by process_vm_readv, so a wrong guess is a failed read and no fault.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sanitizer/platform/text_buffer.h"
#include "sanitizer/sources/torch/layout.h"
#include "sanitizer/sources/torch/scalar_types.h"

namespace dtype_guard::san::torch {

// A tensor of ours, with all that its TensorImpl must hold.
struct Witness {
  static constexpr std::size_t kMostDimensions = 3;
  std::uintptr_t impl = 0;
  std::uintptr_t data = 0;
  ScalarType dtype = 0;
  std::size_t dimensions = 0;
  std::int64_t sizes[kMostDimensions] = {};
};

inline constexpr std::size_t kRecordBytes = 640;  // looked at of a record
inline constexpr std::size_t kImplBytes = 320;    // of a TensorImpl
inline constexpr std::size_t kStorageBytes = 96;  // of a StorageImpl
inline constexpr std::size_t kListBytes = 64;     // of a list

// The offsets at which one search has succeeded so far. With each further record only those stay that
// fit it too.
class Candidates {
 public:
  static constexpr std::size_t kMost = kRecordBytes / 8;
  void add(std::uint32_t offset);
  // Keeps what both have; the first time all.
  void meet(const Candidates& other);
  // The only one; else false, with the words "none" or "N places" for the reason. Where there were more
  // than are kept none is the only one.
  bool only(std::uint32_t& offset, TextSink& reason, const char* what) const;
  std::size_t count() const { return count_; }

 private:
  std::uint32_t offsets_[kMost] = {};
  std::size_t count_ = 0;
  bool is_first_ = true, has_more_ = false;
};

// In a record: a pointer and the number of values, which are these tensors. Sets the tag that they have.
Candidates find_inputs(const void* record, const Witness* const* tensors, std::size_t count,
                       std::uint32_t& tag);
// In a record, or in a list: a vector of values that are these tensors.
Candidates find_vector(const void* owner, std::size_t size, const Witness* const* tensors, std::size_t count,
                       std::uint32_t tag);

// The members of a TensorImpl, from all witnesses at once. False with the reason.
bool find_members(const Witness* witnesses, std::size_t count, Layout& layout, TextSink& reason);

}  // namespace dtype_guard::san::torch
