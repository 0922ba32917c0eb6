// Values as bytes for the cache, and back: numbers by seven bits a byte, texts and lists with their length
// first. A struct is its members in order: `pack(bytes, value)` is found for it, with Packer and Unpacker
// alike.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace dtype_guard::driver {

class Packer {
 public:
  template <typename... Each>
  void operator()(const Each&... each) {
    (put(each), ...);
  }
  const std::string& text() const { return out_; }

 private:
  template <typename T>
  void put(const T& value) {
    if constexpr (std::is_enum_v<T>) {
      put(static_cast<std::uint64_t>(value));
    } else if constexpr (std::is_signed_v<T>) {
      const auto wide = static_cast<std::int64_t>(value);
      put((static_cast<std::uint64_t>(wide) << 1U) ^ static_cast<std::uint64_t>(wide >> 63));
    } else if constexpr (std::is_integral_v<T>) {
      std::uint64_t rest = value;
      for (; rest >= 0x80; rest >>= 7U) out_ += static_cast<char>(rest | 0x80U);
      out_ += static_cast<char>(rest);
    } else {
      pack(*this, value);
    }
  }
  void put(const std::string& value) {
    put(value.size());
    out_ += value;
  }
  template <typename T>
  void put(const std::vector<T>& value) {
    put(value.size());
    for (const T& each : value) put(each);
  }
  template <typename T>
  void put(const std::set<T>& value) {
    put(value.size());
    for (const T& each : value) put(each);
  }
  template <typename Map>
  requires requires { typename Map::mapped_type; }
  void put(const Map& value) {
    put(value.size());
    for (const auto& [key, each] : value) (*this)(key, each);
  }
  template <typename T>
  void put(const std::optional<T>& value) {
    put(value.has_value());
    if (value) put(*value);
  }

  std::string out_;
};

// What is not as a Packer leaves it ends in an exception, wherever it is damaged.
class PackedError : public std::runtime_error {
 public:
  PackedError() : std::runtime_error("not as it was packed") {}
};

class Unpacker {
 public:
  explicit Unpacker(std::string_view text) : rest_(text) {}
  template <typename... Each>
  void operator()(Each&... each) {
    (get(each), ...);
  }
  bool is_at_end() const { return rest_.empty(); }

 private:
  std::uint64_t number() {
    std::uint64_t out = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (rest_.empty()) throw PackedError();
      const auto byte = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      out |= static_cast<std::uint64_t>(byte & 0x7fU) << shift;
      if (byte < 0x80) return out;
    }
    throw PackedError();
  }
  // Of things that take at least a byte each.
  std::size_t count() {
    const std::uint64_t out = number();
    if (out > rest_.size()) throw PackedError();
    return static_cast<std::size_t>(out);
  }

  template <typename T>
  void get(T& value) {
    if constexpr (std::is_enum_v<T>) {
      value = static_cast<T>(number());
    } else if constexpr (std::is_signed_v<T>) {
      const std::uint64_t folded = number();
      value =
          static_cast<T>(static_cast<std::int64_t>(folded >> 1U) ^ -static_cast<std::int64_t>(folded & 1U));
    } else if constexpr (std::is_integral_v<T>) {
      value = static_cast<T>(number());
    } else {
      pack(*this, value);
    }
  }
  void get(std::string& value) {
    const std::size_t size = count();
    value = rest_.substr(0, size);
    rest_.remove_prefix(size);
  }
  template <typename T>
  void get(std::vector<T>& value) {
    value.resize(count());
    for (T& each : value) get(each);
  }
  template <typename T>
  void get(std::set<T>& value) {
    value.clear();
    for (std::size_t left = count(); left > 0; --left) {
      T each{};
      get(each);
      value.insert(value.end(), std::move(each));
    }
  }
  template <typename Map>
  requires requires { typename Map::mapped_type; }
  void get(Map& value) {
    value.clear();
    for (std::size_t left = count(); left > 0; --left) {
      typename Map::key_type key{};
      get(key);
      get(value[std::move(key)]);
    }
  }
  template <typename T>
  void get(std::optional<T>& value) {
    bool has_some = false;
    get(has_some);
    if (has_some) get(value.emplace());
  }

  std::string_view rest_;
};

}  // namespace dtype_guard::driver
