#include "rules/report/line_hash.h"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <unordered_map>

#include "rules/text/utf8.h"

namespace dtype_guard {
namespace {

constexpr std::size_t kBlock = 100;
constexpr std::uint64_t kBase = 37;
constexpr char32_t kEndOfFile = 65535;

constexpr std::uint64_t power(std::uint64_t base, std::size_t exponent) {
  std::uint64_t result = 1;
  for (std::size_t i = 0; i < exponent; ++i) result *= base;
  return result;
}
constexpr std::uint64_t kLeaving = power(kBase, kBlock);  // the factor of the unit that leaves the block

// Takes the kept UTF-16 units one by one and remembers which slots of its ring begin a line.
class LineHasher {
 public:
  void take(char32_t unit) {
    emit_slot();
    if (line_due_) {
      ++line_;
      line_at_[slot_] = line_;
      line_due_ = false;
    }
    if (unit == U'\n') line_due_ = true;
    roll(unit);
  }

  std::vector<std::string> finish() {
    take(kEndOfFile);
    for (std::size_t i = 0; i < kBlock; ++i) {
      emit_slot();
      roll(0);
    }
    return std::move(hashes_);
  }

 private:
  // The hash covers the block that starts at the slot about to be overwritten.
  void emit_slot() {
    if (line_at_[slot_] == 0) return;
    const int equals = ++seen_[hash_];
    hashes_.push_back(fmt::format("{:x}:{}", hash_, equals));
    line_at_[slot_] = 0;
  }

  void roll(char32_t unit) {
    hash_ = kBase * hash_ + unit - kLeaving * ring_[slot_];
    ring_[slot_] = unit;
    slot_ = (slot_ + 1) % kBlock;
  }

  std::array<std::uint64_t, kBlock> ring_{};
  std::array<std::size_t, kBlock> line_at_{};  // 0: no line starts here
  std::size_t slot_ = 0;
  std::size_t line_ = 0;
  bool line_due_ = true;
  std::uint64_t hash_ = 0;
  std::unordered_map<std::uint64_t, int> seen_;
  std::vector<std::string> hashes_;
};

void take_character(LineHasher& hasher, char32_t code) {
  if (code <= 0xFFFF) {
    hasher.take(code);
    return;
  }
  hasher.take(0xD800 + ((code - 0x10000) >> 10U));
  hasher.take(0xDC00 + ((code - 0x10000) & 0x3FFU));
}

}  // namespace

std::vector<std::string> line_hashes(std::string_view text) {
  LineHasher hasher;
  bool after_return = false;
  for (std::size_t at = 0; at < text.size();) {
    const Utf8Character character = utf8_character(text, at);
    at += character.length;
    const bool second_of_pair = after_return && character.code == U'\n';
    after_return = character.code == U'\r';
    if (character.code == U' ' || character.code == U'\t' || second_of_pair) continue;
    take_character(hasher, after_return ? U'\n' : character.code);
  }
  return hasher.finish();
}

}  // namespace dtype_guard
