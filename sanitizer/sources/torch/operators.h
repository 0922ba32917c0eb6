// What is known of an operator by its name: whether a contract speaks of it, and whether the records inside
// it are its own parts. Looked up by the address of the name, which for an operator of the dispatcher stays;
// records that are named by a string (autograd Functions, regions) may use an address again, so the text is
// compared as well.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "sanitizer/contracts/contract_table.h"

namespace dtype_guard::san::torch {

// What an operator is, for attention that is written by hand.
enum class Part : std::uint8_t {
  kNone,
  kProjection,  // by weights: what comes out has the dtype of the model, whatever promoted before
  kProduct,     // of two activations, or by weights where one has two dimensions
  kSoftmax,
  kFunction,  // none of PyTorch's: an autograd Function, named by its class
  kNode,      // an autograd node that the engine runs
};

struct Operator {
  static constexpr std::size_t kLongestName = 80;
  std::atomic<const char*> address;
  std::atomic<std::uint32_t> is_ready;
  char name[kLongestName];
  std::int16_t record;  // number for record_row(), or -1
  Part part;
  bool is_whole;  // an operator of PyTorch's own: what runs inside is part of it
};

class Operators {
 public:
  static constexpr std::size_t kOperators = 4096, kProbes = 32;

  bool start();
  // Where there is no room, what an operator without a contract has.
  const Operator& find(const char* name);

 private:
  Operator* operators_ = nullptr;
};

inline constinit Operators operators;

}  // namespace dtype_guard::san::torch
