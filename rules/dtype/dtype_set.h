// A DtypeSet is a set of dtypes as a bit mask: what a contract accepts, what a value may be.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "rules/dtype/dtype.h"

namespace dtype_guard {

class DtypeSet {
 public:
  constexpr DtypeSet() = default;
  constexpr DtypeSet(std::initializer_list<Dtype> dtypes) {
    for (Dtype dtype : dtypes) insert(dtype);
  }
  static constexpr DtypeSet from_bits(std::uint64_t bits) {
    DtypeSet set;
    set.bits_ = bits;
    return set;
  }

  constexpr void insert(Dtype dtype) { bits_ |= std::uint64_t{1} << static_cast<unsigned>(dtype); }
  constexpr bool contains(Dtype dtype) const { return (bits_ >> static_cast<unsigned>(dtype)) & 1U; }
  constexpr bool empty() const { return bits_ == 0; }
  constexpr std::uint64_t bits() const { return bits_; }
  friend constexpr bool operator==(DtypeSet, DtypeSet) = default;

  // In table order.
  std::vector<std::string> names() const;
  // In tables: "float16", "float16 or bfloat16", "float16, bfloat16 or float32".
  std::string describe() const;
  // In findings: "'float16' or 'bfloat16'".
  std::string quoted() const;

 private:
  static_assert(kDtypeCount < 64, "a DtypeSet is one 64-bit word");
  std::uint64_t bits_ = 0;
};

}  // namespace dtype_guard
