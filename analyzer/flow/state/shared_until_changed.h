// What the copies of a heap object share until one of them changes it: its type's name and what it registers.
// Objects are copied whenever one of their fields is written, and these are seldom what changed.
#pragma once

#include <concepts>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "analyzer/flow/values/shared.h"

namespace dtype_guard::flow {

template <class T>
class SharedUntilChanged {
 public:
  SharedUntilChanged() = default;
  SharedUntilChanged(T value) : value_(Shared<T>::make(std::move(value))) {}

  const T& get() const {
    static const T nothing{};
    return value_ ? *value_ : nothing;
  }
  // For writing; the reference holds until a copy is made.
  T& change() {
    if (!value_ || !value_.has_one_owner()) value_ = Shared<T>::make(get());
    return *value_;
  }
  bool empty() const { return get().empty(); }
  auto begin() const { return get().begin(); }
  auto end() const { return get().end(); }
  auto size() const { return get().size(); }
  friend bool operator==(const SharedUntilChanged& a, const SharedUntilChanged& b) {
    return a.value_ == b.value_ || a.get() == b.get();
  }

 private:
  Shared<T> value_;
};

class TypeName : public SharedUntilChanged<std::string> {
 public:
  TypeName() = default;
  TypeName(std::string name) : SharedUntilChanged(std::move(name)) {}
  TypeName(std::string_view name) : SharedUntilChanged(std::string(name)) {}
  TypeName(const char* name) : SharedUntilChanged(std::string(name)) {}
  operator const std::string&() const { return get(); }
  operator std::string_view() const { return get(); }
  bool starts_with(std::string_view text) const { return get().starts_with(text); }
  friend bool operator==(const TypeName&, const TypeName&) = default;
  template <std::convertible_to<std::string_view> Text>
  requires(!std::is_same_v<Text, TypeName>) friend bool operator==(const TypeName& name, const Text& text) {
    return name.get() == std::string_view(text);
  }
};

}  // namespace dtype_guard::flow
