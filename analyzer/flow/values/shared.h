// A pointer that counts who shares what it points to: values, heap objects and the nodes of states, which the
// engine copies all the time. One thread runs an evaluation, so counting needs no atomic operations, which
// std::shared_ptr uses once a process has had a second thread. Memory of values without an owner is kept
// for the next of its type.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace dtype_guard::flow {

// Room for one T at a time. None is ever given back to the system.
template <class T>
class Rooms {
  union Room {
    Room* next;
    alignas(T) std::byte bytes[sizeof(T)];
  };

 public:
  static void* take() {
    if (!free_) return ::operator new(sizeof(Room));
    return std::exchange(free_, free_->next);
  }
  static void give_back(void* place) {
#ifdef __SANITIZE_ADDRESS__
    ::operator delete(place);  // so that a use of it is seen
#else
    Room* const room = static_cast<Room*>(place);
    room->next = std::exchange(free_, room);
#endif
  }

 private:
  inline static thread_local Room* free_ = nullptr;
};

template <class T>
struct SharedNode {
  template <class... Given>
  explicit SharedNode(Given&&... given) : value(std::forward<Given>(given)...) {}
  T value;
  std::size_t owners = 1;
};

template <class T>
class Shared {
  using Own = std::remove_const_t<T>;
  using Node = SharedNode<Own>;

 public:
  Shared() = default;
  Shared(std::nullptr_t) {}
  Shared(const Shared& other) noexcept : node_(other.node_) {
    if (node_) ++node_->owners;
  }
  Shared(Shared&& other) noexcept : node_(std::exchange(other.node_, nullptr)) {}
  // From one that may write.
  template <class Other, std::enable_if_t<std::is_same_v<const Other, T>, int> = 0>
  Shared(Shared<Other> other) noexcept : node_(other.give_up()) {}
  Shared& operator=(Shared other) noexcept {
    std::swap(node_, other.node_);
    return *this;
  }
  ~Shared() {
    if (!node_ || --node_->owners > 0) return;
    node_->~Node();
    Rooms<Node>::give_back(node_);
  }

  template <class... Given>
  static Shared make(Given&&... given) {
    void* const place = Rooms<Node>::take();
    Shared out;
    try {
      out.node_ = ::new (place) Node(std::forward<Given>(given)...);
    } catch (...) {
      Rooms<Node>::give_back(place);
      throw;
    }
    return out;
  }

  T* get() const { return node_ ? std::addressof(node_->value) : nullptr; }
  T& operator*() const { return node_->value; }
  T* operator->() const { return get(); }
  explicit operator bool() const { return node_ != nullptr; }
  // What it points to, of which the caller owns this one's share from then on.
  Node* give_up() noexcept { return std::exchange(node_, nullptr); }
  bool has_one_owner() const { return node_ && node_->owners == 1; }
  friend bool operator==(const Shared& a, const Shared& b) { return a.node_ == b.node_; }

 private:
  Node* node_ = nullptr;
};

}  // namespace dtype_guard::flow
