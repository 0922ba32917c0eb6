// A row of things that never changes, in one block with the number of those who share it. Most values have
// one alternative, and a block is one place of memory to take, to give back and to look at where a shared
// vector is two.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

namespace dtype_guard::flow {

template <class T>
class SharedRow {
  struct Block {
    std::size_t owners;
    std::size_t size;  // of the row behind it
  };
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);
  static_assert(sizeof(Block) % alignof(T) == 0 && alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);

 public:
  SharedRow() = default;
  explicit SharedRow(std::span<const T> row) {
    block_ = ::new (::operator new(sizeof(Block) + row.size_bytes())) Block{1, row.size()};
    std::uninitialized_copy(row.begin(), row.end(), reinterpret_cast<T*>(block_ + 1));
  }
  SharedRow(const SharedRow& other) noexcept : block_(other.block_) {
    if (block_) ++block_->owners;
  }
  SharedRow(SharedRow&& other) noexcept : block_(std::exchange(other.block_, nullptr)) {}
  SharedRow& operator=(SharedRow other) noexcept {
    std::swap(block_, other.block_);
    return *this;
  }
  ~SharedRow() {
    if (block_ && --block_->owners == 0) ::operator delete(block_);
  }

  const T* begin() const { return reinterpret_cast<const T*>(block_ + (block_ ? 1 : 0)); }
  const T* end() const { return begin() + size(); }
  std::size_t size() const { return block_ ? block_->size : 0; }
  const void* address() const { return block_; }  // of the block that is shared
  explicit operator bool() const { return block_ != nullptr; }

 private:
  Block* block_ = nullptr;
};

}  // namespace dtype_guard::flow
