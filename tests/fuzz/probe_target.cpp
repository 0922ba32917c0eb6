// The start test of the PyTorch source on memory that no release has: a layout that is right, at places that
// the input chooses, and then changed by it. What the search says is compared with a plain count of all
// places that fit.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "sanitizer/sources/torch/layout_search.h"
#include "tests/fuzz/targets.h"

namespace dtype_guard::san {
namespace {

using namespace torch;

constexpr std::size_t kTensors = 3;

class Input {
 public:
  explicit Input(std::string_view bytes) : bytes_(bytes) {}
  bool is_over() const { return at_ >= bytes_.size(); }
  std::size_t below(std::size_t bound) {
    return is_over() ? 0 : static_cast<unsigned char>(bytes_[at_++]) % bound;
  }

 private:
  std::string_view bytes_;
  std::size_t at_ = 0;
};

// Memory whose last byte is followed by none that can be read.
class Block {
 public:
  Block() {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    void* mapped = mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED || munmap(static_cast<char*>(mapped) + page, page) != 0) std::abort();
    end_ = static_cast<char*>(mapped) + page;
    mapped = mmap(end_, page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    if (mapped != end_) std::abort();
  }
  char* take(std::size_t size) {
    size_ = size;
    std::memset(end_ - size, 0, size);
    return end_ - size;
  }
  std::size_t size() const { return size_; }
  std::uintptr_t address() const { return reinterpret_cast<std::uintptr_t>(end_) - size_; }
  template <typename T>
  bool holds(std::size_t at, T value) const {
    return at + sizeof value <= size_ && std::memcmp(end_ - size_ + at, &value, sizeof value) == 0;
  }
  template <typename T>
  void put(std::size_t at, T value) {
    if (at + sizeof value <= size_) std::memcpy(end_ - size_ + at, &value, sizeof value);
  }

 private:
  char* end_ = nullptr;
  std::size_t size_ = 0;
};

Block impls[kTensors], storages[kTensors], record, values;
char data[kTensors][8];
Witness witnesses[kTensors];
const Witness* const tensors[kTensors] = {&witnesses[0], &witnesses[1], &witnesses[2]};
constexpr std::uint32_t kTag = 3;

void must_hold(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

void put_sizes(Block& impl, std::size_t at, const Witness& witness) {
  impl.put(at, witness.dimensions);
  std::int64_t stride = 1;
  for (std::size_t i = witness.dimensions; i-- > 0; stride *= witness.sizes[i]) {
    impl.put(at + 8 + i * 8, witness.sizes[i]);
    impl.put(at + 8 + (kInlineSizes + i) * 8, stride);
  }
}

// A layout that fits, unless its parts lie over each other or beyond the end.
void lay_out(Input& input) {
  constexpr ScalarType kDtypes[kTensors] = {kFloat, kBFloat16, kByte};
  const std::size_t size = 8 * (20 + input.below(24)), dtype = 2 * input.below(150);
  const std::size_t sizes = 8 * input.below(34), storage = 8 * input.below(36), inner = 8 * input.below(10);
  const std::size_t inputs = 8 * input.below(70), outputs = 8 * input.below(70);
  record.take(kRecordBytes);
  values.take(kTensors * kValueSize);
  for (std::size_t i = 0; i < kTensors; ++i) {
    impls[i].take(size);
    storages[i].take(kStorageBytes);
    const auto own = static_cast<std::int64_t>(i);
    witnesses[i] = {impls[i].address(),
                    reinterpret_cast<std::uintptr_t>(data[i]),
                    kDtypes[i],
                    1 + i,
                    {3 + own, 5 + own, 7}};
    put_sizes(impls[i], sizes, witnesses[i]);
    impls[i].put(storage, storages[i].address());
    storages[i].put(inner, witnesses[i].data);
    impls[i].put(dtype, witnesses[i].dtype);
    impls[i].put(dtype + 2, std::int8_t{0});
    impls[i].put(dtype + 3, std::int8_t{-1});
    impls[i].put(dtype + 4, std::uint8_t{1});
    values.put(i * kValueSize, witnesses[i].impl);
    values.put(i * kValueSize + kValueTag, kTag);
  }
  record.put(outputs, values.address());
  record.put(outputs + 8, values.address() + kTensors * kValueSize);
  record.put(outputs + 16, values.address() + kTensors * kValueSize);
  record.put(inputs, values.address());
  record.put(inputs + 8, kTensors);
}

void change(Input& input) {
  const std::size_t tensor = input.below(kTensors), at = 8 * input.below(80);
  Block* const blocks[] = {&impls[tensor], &storages[tensor], &record, &values};
  Block& block = *blocks[input.below(4)];
  const std::uintptr_t words[] = {0,
                                  impls[tensor].address(),
                                  storages[tensor].address(),
                                  storages[tensor].address() + 88,
                                  witnesses[tensor].data,
                                  values.address(),
                                  values.address() + 16,
                                  kTensors,
                                  0xffff00010000ffffU,
                                  ~std::uintptr_t{7},
                                  0xdead0000beefU * 8,
                                  record.address() + kRecordBytes};
  const std::size_t word = input.below(16);
  if (word < 12) return block.put(at, words[word]);
  if (word == 12)
    for (Block& impl : impls) put_sizes(impl, at, witnesses[&impl - impls]);
  if (word == 13)
    for (Block& impl : impls) impl.put(at + 2 * input.below(4), witnesses[&impl - impls].dtype);
  for (std::size_t place = at; word == 15 && place < kImplBytes; place += 2)
    for (Block& impl : impls) impl.put(place, witnesses[&impl - impls].dtype);
  if (word == 14) record.take(8 * (1 + input.below(80)));
}

template <typename Fits>
std::size_t places(std::size_t step, std::size_t& only, Fits fits) {
  std::size_t found = 0;
  for (std::size_t at = 0; at < kImplBytes; at += step) {
    bool is_everywhere = true;
    for (std::size_t i = 0; i < kTensors; ++i)
      is_everywhere = is_everywhere && fits(impls[i], at, witnesses[i]);
    if (is_everywhere) only = at;
    found += is_everywhere ? 1 : 0;
  }
  return found;
}

bool has_sizes(const Block& impl, std::size_t at, const Witness& witness) {
  std::int64_t stride = 1;
  bool fits = impl.holds(at, witness.dimensions);
  for (std::size_t i = witness.dimensions; i-- > 0; stride *= witness.sizes[i])
    fits = fits && impl.holds(at + 8 + i * 8, witness.sizes[i]) && impl.holds(at + 48 + i * 8, stride);
  return fits;
}

void check_members() {
  Layout layout;
  TextBuffer<256> reason;
  const bool fits = find_members(witnesses, kTensors, layout, reason);
  must_hold(fits == (reason.view().empty()), "a layout that does not fit has a reason, and no other has");
  std::size_t dtype = 0, sizes = 0;
  const std::size_t dtypes = places(2, dtype, [](const Block& impl, std::size_t at, const Witness& witness) {
    return impl.holds(at, witness.dtype);
  });
  const std::size_t all_sizes = places(8, sizes, has_sizes);
  if (!fits) return;
  must_hold(dtypes == 1 && layout.dtype == dtype, "a dtype is read where it alone can be");
  must_hold(all_sizes == 1 && layout.sizes == sizes, "sizes are read where they alone can be");
  for (std::size_t i = 0; i < kTensors; ++i) {
    std::uintptr_t storage = 0, place = 0;
    must_hold(layout.storage + 8 <= impls[i].size(), "a storage lies within a tensor");
    std::memcpy(&storage, reinterpret_cast<const char*>(impls[i].address()) + layout.storage, sizeof storage);
    std::memcpy(&place, reinterpret_cast<const char*>(storage) + layout.storage_data, sizeof place);
    must_hold(place == witnesses[i].data, "a storage has the data of its tensor");
  }
}

void check_record() {
  std::uint32_t tag = 0, offset = 0;
  TextBuffer<256> reason;
  const auto* at = reinterpret_cast<const void*>(record.address());
  const auto word = [](std::size_t place) {
    std::uintptr_t value = 0;
    if (place + 8 <= record.size())
      std::memcpy(&value, reinterpret_cast<const char*>(record.address()) + place, sizeof value);
    return value;
  };
  if (find_inputs(at, tensors, kTensors, tag).only(offset, reason, "inputs"))
    must_hold(word(offset + 8) == kTensors && word(offset) % 8 == 0, "inputs are a pointer and their number");
  reason.clear();
  if (find_vector(at, record.size(), tensors, kTensors, kTag).only(offset, reason, "outputs"))
    must_hold(
        word(offset + 8) == word(offset) + kTensors * kValueSize && word(offset + 16) >= word(offset + 8),
        "outputs are a vector of their size");
}

}  // namespace

bool fuzz_probe(std::string_view bytes) {
  Input input(bytes);
  lay_out(input);
  while (!input.is_over()) change(input);
  check_record();
  check_members();
  Layout layout;
  TextBuffer<256> reason;
  return find_members(witnesses, kTensors, layout, reason);
}

}  // namespace dtype_guard::san
