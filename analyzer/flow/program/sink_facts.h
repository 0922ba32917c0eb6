// What of a function's body decides whether evaluating it may come to a call that has a contract
// (roots/reach.cpp).
#pragma once

#include <cstdint>
#include <vector>

namespace dtype_guard::flow {

struct SinkFacts {
  bool has_sink = false, makes_sine = false, makes_attention = false;
  std::vector<std::uint32_t> closures;  // what they run
};

}  // namespace dtype_guard::flow
