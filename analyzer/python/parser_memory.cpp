#include "analyzer/python/parser_memory.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <vector>

namespace {
constexpr std::size_t kChunk = std::size_t{1} << 20;
constexpr std::size_t kKept = std::size_t{64} << 20;  // bytes of chunks that wait for the next parse
constexpr std::size_t kStep = 16;
constexpr std::size_t kSteps = 64;  // classes of blocks up to 1024 bytes; above, each is twice the one before

// Stands before each block.
struct Header {
  std::size_t size_class;
};

std::size_t class_of(std::size_t size) {
  if (size <= kStep * kSteps) return size == 0 ? 0 : (size - 1) / kStep;
  return kSteps + static_cast<std::size_t>(std::bit_width((size - 1) / (kStep * kSteps))) - 1;
}

std::size_t capacity_of(std::size_t size_class) {
  return size_class < kSteps ? (size_class + 1) * kStep : (kStep * kSteps) << (size_class - kSteps + 1);
}

// One thread's blocks while it parses.
class Parse {
 public:
  void* take(std::size_t size) {
    const std::size_t size_class = class_of(size);
    if (void*& free = free_[size_class]) {
      void* out = free;
      std::memcpy(&free, out, sizeof free);
      return out;
    }
    const std::size_t whole = sizeof(Header) + capacity_of(size_class);
    if (left_ < whole) open_chunk(whole);
    auto* header = new (next_) Header{size_class};
    next_ += whole;
    left_ -= whole;
    return header + 1;
  }
  void give(void* block) {
    void*& free = free_[header_of(block).size_class];
    std::memcpy(block, &free, sizeof free);
    free = block;
  }
  static Header& header_of(void* block) { return static_cast<Header*>(block)[-1]; }

  // Keeps some chunks for the next one.
  void clear() {
    free_.fill(nullptr);
    left_ = 0;
    used_ = 0;
    std::size_t kept = 0;
    const auto too_many = std::find_if(chunks_.begin(), chunks_.end(),
                                       [&](const Chunk& each) { return (kept += each.size) > kKept; });
    chunks_.erase(too_many, chunks_.end());
  }

 private:
  struct Chunk {
    std::unique_ptr<std::byte[]> bytes;
    std::size_t size = 0;
  };
  void open_chunk(std::size_t needed) {
    while (used_ < chunks_.size() && chunks_[used_].size < needed) ++used_;
    if (used_ == chunks_.size()) {
      const std::size_t size = std::max(needed, kChunk);
      chunks_.push_back({std::unique_ptr<std::byte[]>(new std::byte[size]), size});
    }
    next_ = chunks_[used_].bytes.get();
    left_ = chunks_[used_].size;
    ++used_;
  }

  std::array<void*, 128> free_{};  // by class, each the first of a list
  std::vector<Chunk> chunks_;
  std::size_t used_ = 0;
  std::byte* next_ = nullptr;
  std::size_t left_ = 0;
};

std::mutex idle_mutex;
std::vector<std::unique_ptr<Parse>>& idle() {
  static auto* const all =
      new std::vector<std::unique_ptr<Parse>>();  // threads may outlive the program's end
  return *all;
}
thread_local Parse* current = nullptr;
}  // namespace

void* dtype_guard_begin_parse() {
  const std::scoped_lock lock(idle_mutex);
  if (idle().empty()) {
    current = new Parse();
  } else {
    current = idle().back().release();
    idle().pop_back();
  }
  return current;
}

void dtype_guard_end_parse(void* parse) {
  std::unique_ptr<Parse> ended(static_cast<Parse*>(parse));
  current = nullptr;
  ended->clear();
  const std::scoped_lock lock(idle_mutex);
  idle().push_back(std::move(ended));
}

void* dtype_guard_parse_malloc(std::size_t size) { return current->take(size); }

void* dtype_guard_parse_calloc(std::size_t count, std::size_t size) {
  void* out = current->take(count * size);
  std::memset(out, 0, count * size);
  return out;
}

void* dtype_guard_parse_realloc(void* block, std::size_t size) {
  if (!block) return current->take(size);
  const std::size_t before = capacity_of(Parse::header_of(block).size_class);
  if (size <= before) return block;
  void* out = current->take(size);
  std::memcpy(out, block, before);
  current->give(block);
  return out;
}

void dtype_guard_parse_free(void* block) {
  if (block) current->give(block);
}
