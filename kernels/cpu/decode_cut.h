// How attention of few queries is cut: the keys of a sequence into ranges, and its kv heads into blocks. What
// decides about the bits of a result, the length of a range, depends on the sequence alone; threads only
// decide how many heads a piece has.
#pragma once

#include <algorithm>

#include "kernels/cpu/isa.h"

namespace flash_ref::cpu {

struct DecodeCut {
  static constexpr std::int64_t kRows = 32;  // of a kv head at most; with more, packing K and V pays off
  static constexpr std::int64_t kLeastKeys = 512;  // of a range; a multiple of a tile of keys
  static constexpr std::int64_t kTile = 256;
  static constexpr std::int64_t kMostParts = 64;
  // Sequences are attended to in waves that leave so much unfinished at most, or one by one: the memory does
  // not grow with the batch, and a wave has pieces enough for a thousand threads.
  static constexpr std::int64_t kWaveFloats = std::int64_t{4} << 20;
  static constexpr std::int64_t kPieceRows = 128;  // of all kv heads of a piece
  static constexpr std::int64_t kPieceColumns =
      512;  // likewise: a tile of K and one of V in a cache of 1 MiB

  std::int64_t splits = 0;  // ranges asked for; 0: as many as pay off

  // Whether a sequence with so many queries is decoded; `group` query heads share a kv head.
  static bool decodes(std::int64_t group, std::int64_t queries) {
    return group <= kRows && queries <= kRows / std::max<std::int64_t>(group, 1);
  }

  std::int64_t most_parts() const { return splits == 0 ? kMostParts : splits; }
  std::int64_t least_keys() const { return splits == 0 ? kLeastKeys : kTile; }

  std::int64_t keys_of_part(std::int64_t length) const {
    const std::int64_t keys = (length + most_parts() - 1) / most_parts();
    return std::max((keys + kTile - 1) / kTile * kTile, least_keys());
  }

  std::int64_t parts_of(std::int64_t length) const {
    const std::int64_t keys = keys_of_part(length);
    return std::max<std::int64_t>((length + keys - 1) / keys, 1);
  }

  // kv heads of a piece: all of them, whose keys lie side by side, unless threads would idle or the rows,
  // `rows` for a kv head, or the keys would outgrow the cache. There are `ranges` of keys.
  static std::int64_t kv_heads_of_piece(std::int64_t kv_heads, std::int64_t rows, std::int64_t dim,
                                        std::int64_t ranges, int threads) {
    for (std::int64_t count = kv_heads; count > 1; --count) {
      if (kv_heads % count != 0 || count * rows > kPieceRows || count * dim > kPieceColumns) continue;
      if (threads == 1 || ranges * (kv_heads / count) >= 4 * threads) return count;
    }
    return 1;
  }
};

// Floats that a row leaves unfinished: sums, maximum and sum of exponentials.
inline std::int64_t unfinished_floats(std::int64_t dim) { return dim + 2; }

// Range `part` of the keys of `whole`, a piece of one kv head with all of its sequence's keys, for the
// `kv_heads` kv heads from there on, whose rows go to `unfinished`.
inline void decode_part(const DecodeCut& cut, const AttentionPiece& whole, std::int64_t part,
                        std::int64_t kv_heads, float* unfinished, void* scratch) {
  const std::int64_t keys = cut.keys_of_part(whole.last_key);
  if (part > 0 && part * keys >= whole.last_key) return;
  AttentionPiece piece = whole;
  piece.kv_heads = kv_heads;
  piece.first_key = part * keys;
  piece.last_key = std::min(piece.first_key + keys, whole.last_key);
  piece.unfinished = unfinished;
  selected_isa()->table->decode(piece, scratch);
}

}  // namespace flash_ref::cpu
