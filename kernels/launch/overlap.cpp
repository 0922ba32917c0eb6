#include "kernels/launch/overlap.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

namespace flash_ref {
namespace {

// A term of the equation: `step` times a number from 0 to `most`.
struct Term {
  std::int64_t step, most;
};

// Sum of terms = target, in bytes. What read_tensor lets through keeps all of it below 2^62.
class Equation {
 public:
  // Bytes of `a` less bytes of `b`, each counted from its lowest one.
  Equation(const Tensor& a, const Tensor& b) {
    add(a, +1);
    add(b, -1);
    push({1, a.element_bytes - 1});
    push({1, b.element_bytes - 1});
    target_ += b.element_bytes - 1;
    std::sort(terms_, terms_ + count_, [](const Term& x, const Term& y) { return x.step > y.step; });
    merge_equal_steps();
    for (int i = count_ - 1; i >= 0; --i) reach_[i] = reach_[i + 1] + terms_[i].step * terms_[i].most;
    for (int i = count_ - 1; i >= 0; --i) divisor_[i] = std::gcd(divisor_[i + 1], terms_[i].step);
  }

  bool solvable(std::int64_t distance) { return search(0, target_ + distance); }

 private:
  // A term of b is subtracted: number n stands for most - n, which adds the reach to the target.
  void add(const Tensor& tensor, int sign) {
    for (int i = 0; i < tensor.rank; ++i) {
      const Term term{std::abs(tensor.strides[i]) * tensor.element_bytes, tensor.sizes[i] - 1};
      push(term);
      if (sign < 0) target_ += term.step * term.most;
    }
  }

  void push(const Term& term) {
    if (term.step != 0 && term.most > 0) terms_[count_++] = term;
  }

  void merge_equal_steps() {
    int kept = 0;
    for (int i = 0; i < count_; ++i) {
      if (kept > 0 && terms_[kept - 1].step == terms_[i].step) {
        terms_[kept - 1].most += terms_[i].most;
      } else {
        terms_[kept++] = terms_[i];
      }
    }
    count_ = kept;
  }

  bool search(int i, std::int64_t rest) {
    if (rest < 0 || rest > reach_[i] || --steps_left_ < 0) return false;
    if (i == count_) return true;
    if (rest % divisor_[i] != 0) return false;
    const Term& term = terms_[i];
    const std::int64_t beyond = rest - reach_[i + 1];
    const std::int64_t first = beyond <= 0 ? 0 : (beyond + term.step - 1) / term.step;
    const std::int64_t last = std::min(term.most, rest / term.step);
    for (std::int64_t n = last; n >= first && steps_left_ > 0; --n) {
      if (search(i + 1, rest - n * term.step)) return true;
    }
    return false;
  }

  static constexpr int kMost = 2 * kMaxRank + 2;
  Term terms_[kMost];
  int count_ = 0;
  std::int64_t target_ = 0;
  std::int64_t reach_[kMost + 1] = {};    // of the terms from i on
  std::int64_t divisor_[kMost + 1] = {};  // of their steps
  int steps_left_ = 100000;
};

std::uintptr_t first_byte(const Tensor& tensor) {
  return reinterpret_cast<std::uintptr_t>(tensor.data) +
         static_cast<std::uintptr_t>(tensor.lowest * tensor.element_bytes);
}

std::uintptr_t last_byte(const Tensor& tensor) {
  return reinterpret_cast<std::uintptr_t>(tensor.data) +
         static_cast<std::uintptr_t>((tensor.highest + 1) * tensor.element_bytes - 1);
}

bool share_memory(const Tensor& a, const Tensor& b) {
  // Without data a question about shapes is asked.
  if (a.empty() || b.empty() || a.data == nullptr || b.data == nullptr) return false;
  if (first_byte(a) > last_byte(b) || first_byte(b) > last_byte(a)) return false;
  // a's byte = b's byte: steps of a - steps of b = first of b - first of a.
  return Equation(a, b).solvable(static_cast<std::int64_t>(first_byte(b) - first_byte(a)));
}

}  // namespace

int check_apart(const Call& call, const Tensor& out, const Tensor& other) {
  if (!share_memory(out, other)) return FLASH_REF_OK;
  return call.fail(FLASH_REF_BAD_LAYOUT, "%s shares memory with %s", out.role, other.role);
}

int check_workspace(const Call& call, void* workspace, std::size_t bytes,
                    std::initializer_list<const Tensor*> tensors) {
  if (workspace == nullptr || bytes == 0) return FLASH_REF_OK;
  Tensor memory;
  memory.role = "options.workspace";
  memory.data = static_cast<char*>(workspace);
  memory.rank = 1;
  memory.sizes[0] = memory.elements = static_cast<std::int64_t>(bytes);
  memory.strides[0] = memory.element_bytes = 1;
  memory.highest = memory.elements - 1;
  for (const Tensor* tensor : tensors) {
    if (!share_memory(memory, *tensor)) continue;
    return call.fail(FLASH_REF_BAD_WORKSPACE, "options.workspace shares memory with %s", tensor->role);
  }
  return FLASH_REF_OK;
}

}  // namespace flash_ref
