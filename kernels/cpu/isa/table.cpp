// Compiled once per instruction set: everything in isa/, behind one table of functions.
#include "kernels/cpu/isa/attention.h"
#include "kernels/cpu/isa/attention_bwd.h"
#include "kernels/cpu/isa/decode.h"
#include "kernels/cpu/isa/rotary.h"
#include "kernels/cpu/isa/rwkv7.h"
#include "kernels/cpu/isa/rwkv7_bwd.h"
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

std::int64_t bwd_rows(Element element) {
  return element == Element::kFloat16 ? kBwdRows<Float16> : kBwdRows<BFloat16>;
}

std::int64_t bwd_keys_of_block(std::int64_t dim) { return bwd_keys(dim); }
std::int64_t bwd_row_width(std::int64_t dim) { return bwd_width(dim); }

std::size_t bwd_scratch(Element element, std::int64_t dim) {
  return element == Element::kFloat16 ? BwdMemory<Float16>::bytes(dim) : BwdMemory<BFloat16>::bytes(dim);
}

// Calls `step` on the solver of the piece's element.
template <class Step>
FLASH_REF_INLINE void bwd_step(const AttentionBwdPiece& piece, void* scratch, const Step& step) {
  if (piece.forward.element == Element::kFloat16) {
    BwdSolver<Float16> solver(piece, scratch);
    step(solver);
  } else {
    BwdSolver<BFloat16> solver(piece, scratch);
    step(solver);
  }
}

void bwd_prepare(const AttentionBwdPiece& piece, std::int64_t first, std::int64_t last, void* scratch) {
  bwd_step(piece, scratch, [=](auto& solver) { solver.prepare(first, last); });
}
void bwd_start_keys(const AttentionBwdPiece& piece, void* scratch) {
  bwd_step(piece, scratch, [](auto& solver) { solver.start_keys(); });
}
void bwd_add_rows(const AttentionBwdPiece& piece, std::int64_t first, std::int64_t last, void* scratch) {
  bwd_step(piece, scratch, [=](auto& solver) { solver.add_rows(first, last); });
}
void bwd_add_dq(const AttentionBwdPiece& piece, std::int64_t first, std::int64_t last, void* scratch) {
  bwd_step(piece, scratch, [=](auto& solver) { solver.add_dq(first, last); });
}
void bwd_finish_keys(const AttentionBwdPiece& piece, void* scratch) {
  bwd_step(piece, scratch, [](auto& solver) { solver.finish_keys(); });
}
void bwd_finish_rows(const AttentionBwdPiece& piece, std::int64_t first, std::int64_t last, void* scratch) {
  bwd_step(piece, scratch, [=](auto& solver) { solver.finish_rows(first, last); });
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

std::size_t rwkv7_bwd_scratch(std::int64_t dim, std::int64_t seq) {
  return static_cast<std::size_t>(Rwkv7BwdMemory::floats(dim, seq)) * sizeof(float);
}

void rwkv7_bwd(const Rwkv7Backward& problem, std::int64_t index, void* scratch) {
  float* memory = static_cast<float*>(scratch);
  switch (problem.forward.element) {
    case Element::kFloat16:
      return HeadGradients<Float16>(problem, index, memory).run();
    case Element::kBFloat16:
      return HeadGradients<BFloat16>(problem, index, memory).run();
    case Element::kFloat32:
      return HeadGradients<float>(problem, index, memory).run();
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
                         {bwd_rows, bwd_keys_of_block, bwd_row_width, bwd_scratch, bwd_prepare,
                          bwd_start_keys, bwd_add_rows, bwd_add_dq, bwd_finish_keys, bwd_finish_rows},
                         decode_scratch,
                         decode,
                         join_decoded,
                         rotary,
                         kStateRows,
                         rwkv7_scratch,
                         rwkv7,
                         rwkv7_bwd_scratch,
                         rwkv7_bwd,
                         widen_all<Float16>,
                         widen_all<BFloat16>,
                         narrow_all<Float16>,
                         narrow_all<BFloat16>,
                         exp2_all,
                         tanh_all};

}  // namespace flash_ref::cpu::FLASH_REF_ISA
