#include "sanitizer/sources/torch/layout_search.h"

#include <cstring>

#include "sanitizer/platform/system.h"

namespace dtype_guard::san::torch {
namespace {

// What could be read from an address; the rest is out of reach, not zero.
template <std::size_t N>
class Image {
 public:
  explicit Image(std::uintptr_t address, std::size_t size = N)
      : size_(read_some(reinterpret_cast<const void*>(address), bytes_, size < N ? size : N)) {}

  std::size_t size() const { return size_; }
  template <typename T>
  bool get(std::size_t at, T& value) const {
    if (at + sizeof value > size_) return false;
    std::memcpy(&value, bytes_ + at, sizeof value);
    return true;
  }
  template <typename T>
  bool holds(std::size_t at, T expected) const {
    T value;
    return get(at, value) && value == expected;
  }

 private:
  alignas(8) char bytes_[N];
  std::size_t size_;
};

constexpr std::size_t kMostValues = 4;

// Whether `count` values at an address are these tensors, all with one tag; kAnyTag takes whatever it is.
constexpr std::uint32_t kAnyTag = 0xffffffff;
bool are_values(std::uintptr_t address, const Witness* const* tensors, std::size_t count,
                std::uint32_t& tag) {
  if (address == 0 || address % 8 != 0 || count > kMostValues) return false;
  const Image<kMostValues * kValueSize> values(address, count * kValueSize);
  std::uint32_t seen = tag;
  for (std::size_t i = 0; i < count; ++i) {
    std::uint32_t own = 0;
    if (!values.holds(i * kValueSize, tensors[i]->impl) || !values.get(i * kValueSize + kValueTag, own))
      return false;
    if (seen == kAnyTag) seen = own;
    if (own != seen) return false;
  }
  tag = seen;
  return true;
}

bool holds_sizes(const Image<kImplBytes>& impl, std::size_t at, const Witness& witness) {
  if (!impl.holds(at, witness.dimensions)) return false;
  std::int64_t stride = 1;
  for (std::size_t i = witness.dimensions; i-- > 0; stride *= witness.sizes[i])
    if (!impl.holds(at + 8 + i * 8, witness.sizes[i]) || !impl.holds(at + 8 + (kInlineSizes + i) * 8, stride))
      return false;
  return true;
}

// An optional device behind the dtype: on the CPU, index -1, and "there is one" behind that or, with the
// older optional, in front of it.
bool holds_device(const Image<kImplBytes>& impl, std::size_t at, std::size_t engaged) {
  return impl.holds(at, std::int8_t{0}) && impl.holds(at + 1, std::int8_t{-1}) &&
         impl.holds(engaged, std::uint8_t{1});
}

bool find_device(const Witness* witnesses, std::size_t count, Layout& layout) {
  bool fits[2] = {true, true};
  for (std::size_t i = 0; i < count; ++i) {
    const Image<kImplBytes> impl(witnesses[i].impl);
    fits[0] = fits[0] && holds_device(impl, layout.dtype + 2, layout.dtype + 4);
    fits[1] = fits[1] && holds_device(impl, layout.dtype + 3, layout.dtype + 2);
  }
  layout.device = layout.dtype + (fits[0] ? 2 : 3);
  return fits[0] != fits[1];
}

template <typename Fits>
Candidates all_fitting(const Witness* witnesses, std::size_t count, std::size_t step, Fits fits) {
  Candidates found;
  for (std::size_t i = 0; i < count; ++i) {
    const Image<kImplBytes> impl(witnesses[i].impl);
    Candidates here;
    for (std::size_t at = 0; at + step <= impl.size(); at += step)
      if (fits(impl, at, witnesses[i])) here.add(static_cast<std::uint32_t>(at));
    found.meet(here);
  }
  return found;
}

// Both offsets at once: storage << 16 | data in it.
Candidates find_storage(const Witness* witnesses, std::size_t count) {
  Candidates found;
  for (std::size_t i = 0; i < count; ++i) {
    const Image<kImplBytes> impl(witnesses[i].impl);
    Candidates here;
    for (std::size_t at = 0; at + 8 <= impl.size(); at += 8) {
      std::uintptr_t pointer = 0;
      if (!impl.get(at, pointer) || pointer == 0 || pointer % 8 != 0 || pointer == witnesses[i].data)
        continue;
      const Image<kStorageBytes> storage(pointer);
      for (std::size_t inner = 0; inner + 8 <= storage.size(); inner += 8)
        if (storage.holds(inner, witnesses[i].data)) here.add(static_cast<std::uint32_t>(at << 16 | inner));
    }
    found.meet(here);
  }
  return found;
}

}  // namespace

void Candidates::add(std::uint32_t offset) {
  if (count_ < kMost)
    offsets_[count_++] = offset;
  else
    has_more_ = true;
}

void Candidates::meet(const Candidates& other) {
  if (is_first_) {
    *this = other;
    is_first_ = false;
    return;
  }
  has_more_ = has_more_ || other.has_more_;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < count_; ++i) {
    bool is_in_both = false;
    for (std::size_t j = 0; j < other.count_; ++j)
      is_in_both = is_in_both || other.offsets_[j] == offsets_[i];
    if (is_in_both) offsets_[kept++] = offsets_[i];
  }
  count_ = kept;
}

bool Candidates::only(std::uint32_t& offset, TextSink& reason, const char* what) const {
  if (count_ == 1 && !has_more_) {
    offset = offsets_[0];
    return true;
  }
  reason << "the layout of this libtorch does not fit: " << what;
  if (count_ == 0)
    reason << " was not found";
  else
    reason << " could be in " << (has_more_ ? "more than " : "") << std::uint64_t{count_} << " places";
  return false;
}

Candidates find_inputs(const void* record, const Witness* const* tensors, std::size_t count,
                       std::uint32_t& tag) {
  const Image<kRecordBytes> image(reinterpret_cast<std::uintptr_t>(record));
  Candidates found;
  for (std::size_t at = 0; at + 16 <= image.size(); at += 8) {
    std::uintptr_t values = 0;
    if (!image.get(at, values) || !image.holds(at + 8, count)) continue;
    std::uint32_t seen = kAnyTag;
    if (!are_values(values, tensors, count, seen)) continue;
    tag = seen;
    found.add(static_cast<std::uint32_t>(at));
  }
  return found;
}

Candidates find_vector(const void* owner, std::size_t size, const Witness* const* tensors, std::size_t count,
                       std::uint32_t tag) {
  const Image<kRecordBytes> image(reinterpret_cast<std::uintptr_t>(owner), size);
  Candidates found;
  for (std::size_t at = 0; at + 24 <= image.size(); at += 8) {
    std::uintptr_t begin = 0, end = 0, limit = 0;
    if (!image.get(at, begin) || !image.get(at + 8, end) || !image.get(at + 16, limit)) continue;
    if (end != begin + count * kValueSize || limit < end || begin == 0) continue;
    std::uint32_t expected = tag;
    if (are_values(begin, tensors, count, expected)) found.add(static_cast<std::uint32_t>(at));
  }
  return found;
}

bool find_members(const Witness* witnesses, std::size_t count, Layout& layout, TextSink& reason) {
  const Candidates dtype = all_fitting(
      witnesses, count, 2, [](const Image<kImplBytes>& impl, std::size_t at, const Witness& witness) {
        return impl.holds(at, witness.dtype);
      });
  const Candidates sizes = all_fitting(witnesses, count, 8, holds_sizes);
  std::uint32_t storage = 0;
  if (!dtype.only(layout.dtype, reason, "a tensor's dtype") ||
      !sizes.only(layout.sizes, reason, "a tensor's sizes") ||
      !find_storage(witnesses, count).only(storage, reason, "a tensor's storage"))
    return false;
  layout.storage = storage >> 16;
  layout.storage_data = storage & 0xffffU;
  if (find_device(witnesses, count, layout)) return true;
  reason << "the layout of this libtorch does not fit: a tensor's device does not follow its dtype";
  return false;
}

}  // namespace dtype_guard::san::torch
