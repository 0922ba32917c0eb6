// Compiled once per instruction set: everything in isa/, behind one table of functions.
#include "kernels/cpu/isa/attention.h"
#include "kernels/cpu/isa/decode.h"
#include "kernels/cpu/isa/rotary.h"
#include "kernels/cpu/isa/rwkv7.h"
#include "kernels/cpu/isa_table.h"

namespace flash_ref::cpu::FLASH_REF_ISA {
namespace {

std::size_t attention_scratch(std::int64_t dim, std::int64_t rows) {
  return static_cast<std::size_t>(Tiles::floats(dim, rows)) * sizeof(float);
}

void attention(const AttentionPiece& piece, void* scratch) {
  if (piece.element == Element::kFloat16) {
    PieceSolver<Float16>(piece, static_cast<float*>(scratch)).solve();
  } else {
    PieceSolver<BFloat16>(piece, static_cast<float*>(scratch)).solve();
  }
}

void join(const AttentionPiece& piece, const float* unfinished, std::int64_t parts, std::int64_t stride,
          void* scratch) {
  if (piece.element == Element::kFloat16) {
    PieceSolver<Float16>(piece, static_cast<float*>(scratch)).join(unfinished, parts, stride);
  } else {
    PieceSolver<BFloat16>(piece, static_cast<float*>(scratch)).join(unfinished, parts, stride);
  }
}

std::size_t decode_scratch(std::int64_t dim, std::int64_t rows) {
  return static_cast<std::size_t>(DecodeMemory<Float16>::floats(dim, rows)) * sizeof(float);
}

void decode(const AttentionPiece& piece, void* scratch) {
  if (piece.element == Element::kFloat16) {
    DecodeSolver<Float16>(piece, static_cast<float*>(scratch)).solve();
  } else {
    DecodeSolver<BFloat16>(piece, static_cast<float*>(scratch)).solve();
  }
}

void join_decoded(const AttentionPiece& piece, const float* unfinished, std::int64_t parts,
                  std::int64_t stride, void* scratch) {
  if (piece.element == Element::kFloat16) {
    join_rows<Float16>(piece, unfinished, parts, stride, static_cast<float*>(scratch));
  } else {
    join_rows<BFloat16>(piece, unfinished, parts, stride, static_cast<float*>(scratch));
  }
}

void rotary(const RotaryProblem& problem, std::int64_t first, std::int64_t last) {
  for (std::int64_t i = first; i < last; ++i) {
    switch (problem.element) {
      case Element::kFloat16:
        PositionRotator<Float16>(problem, i).rotate();
        break;
      case Element::kBFloat16:
        PositionRotator<BFloat16>(problem, i).rotate();
        break;
      case Element::kFloat32:
        PositionRotator<float>(problem, i).rotate();
        break;
    }
  }
}

std::size_t rwkv7_scratch(std::int64_t dim) {
  return static_cast<std::size_t>(StateRows<float>::floats(dim)) * sizeof(float);
}

void rwkv7(const Rwkv7Problem& problem, std::int64_t index, void* scratch) {
  float* memory = static_cast<float*>(scratch);
  switch (problem.element) {
    case Element::kFloat16:
      return StateRows<Float16>(problem, index, memory).run();
    case Element::kBFloat16:
      return StateRows<BFloat16>(problem, index, memory).run();
    case Element::kFloat32:
      return StateRows<float>(problem, index, memory).run();
  }
}

template <class T>
void widen_all(const std::uint16_t* from, float* to, std::int64_t count) {
  for (std::int64_t i = 0; i < count; i += kLanes) {
    const std::int64_t some = smaller(kLanes, count - i);
    narrow_some(to + i, 1, some, widen_some(reinterpret_cast<const T*>(from) + i, 1, some));
  }
}

template <class T>
void narrow_all(const float* from, std::uint16_t* to, std::int64_t count) {
  for (std::int64_t i = 0; i < count; i += kLanes) {
    const std::int64_t some = smaller(kLanes, count - i);
    narrow_some(reinterpret_cast<T*>(to) + i, 1, some, widen_some(from + i, 1, some));
  }
}

template <Vec (*kFunction)(Vec)>
void map(const float* from, float* to, std::int64_t count) {
  for (std::int64_t i = 0; i < count; i += kLanes) {
    const std::int64_t some = smaller(kLanes, count - i);
    narrow_some(to + i, 1, some, kFunction(widen_some(from + i, 1, some)));
  }
}

void exp2_all(const float* from, float* to, std::int64_t count) { map<exp2_nonpositive>(from, to, count); }
void tanh_all(const float* from, float* to, std::int64_t count) { map<tanh_of>(from, to, count); }

}  // namespace

extern const IsaTable kTable;
const IsaTable kTable = {attention_scratch,
                         attention,
                         join,
                         decode_scratch,
                         decode,
                         join_decoded,
                         rotary,
                         kStateRows,
                         rwkv7_scratch,
                         rwkv7,
                         widen_all<Float16>,
                         widen_all<BFloat16>,
                         narrow_all<Float16>,
                         narrow_all<BFloat16>,
                         exp2_all,
                         tanh_all};

}  // namespace flash_ref::cpu::FLASH_REF_ISA
