// Functions that are put into jump slots: each passes its number, and where its arguments are, to
// dtype_san_enter_operator, and jumps to the function that this gives, with all arguments as they were.
#pragma once

#include <cstddef>
#include <cstdint>

namespace dtype_guard::san::torch {

inline constexpr std::size_t kOperatorThunks = 24;

// Null beyond the last.
void* operator_thunk(std::size_t number);

// The words of a call whose result is given in memory of the caller's, as tensors are.
class ArgumentWords {
 public:
  ArgumentWords(const std::uintptr_t* registers, const std::uintptr_t* stack)
      : registers_(registers), stack_(stack) {}
  // Of the argument at this position where it is a reference, and those before it are references or integers.
  std::uintptr_t reference(std::size_t position) const {
#if defined(__x86_64__)
    constexpr std::size_t kInRegisters = 5, kFirst = 1;  // the result's place is the first word
#else
    constexpr std::size_t kInRegisters = 8, kFirst = 0;  // it has a register of its own
#endif
    return position < kInRegisters ? registers_[kFirst + position] : stack_[position - kInRegisters];
  }

 private:
  const std::uintptr_t* registers_;
  const std::uintptr_t* stack_;
};

}  // namespace dtype_guard::san::torch

// What a thunk calls; defined where the operators are known. Gives the function to jump to.
extern "C" [[gnu::visibility("hidden")]] void* dtype_san_enter_operator(std::uint32_t number,
                                                                        const std::uintptr_t* registers,
                                                                        const std::uintptr_t* stack,
                                                                        std::uintptr_t caller);
