// Known false alarms on libtorch's own headers: nothing is wrong where `expect` says that a finding stands.
// What is silent one day moves to a fixture with ok_ in its name. analyzer/flow/known.md is made of this
// file.
#include <torch/types.h>

#include <algorithm>
#include <functional>
#include <string>

#include "attention.h"

using at::Tensor;

namespace alarms {

static Tensor narrow(const Tensor& x) { return x.to(at::kHalf); }

void by_arithmetic(const Tensor& x, int n) {
  const Tensor h = narrow(x);
  Tensor q = h;
  // False alarm: what arithmetic can give, `n % 4 == 5`, is not worked out.
  if (n % 4 == 5) q = h.to(at::kFloat);  // expect: attention-mixed-dtypes
  attend(q, h, h);
}

int clamped(int n) { return std::min(n, 4); }
void by_a_clamp(const Tensor& x, int given) {
  const Tensor h = narrow(x);
  const int n = clamped(given);
  Tensor q = h;
  // False alarm: that a function clamps a number is not known.
  if (n > 8) q = h.to(at::kFloat);  // expect: attention-mixed-dtypes
  attend(q, h, h);
}

void by_a_literal(const Tensor& x) {
  const Tensor h = narrow(x);
  const std::string mode = "narrow";
  Tensor q = h;
  // False alarm: methods of a literal, `mode.find("wide")`, are not run.
  if (mode.find("wide") != std::string::npos) q = h.to(at::kFloat);  // expect: attention-mixed-dtypes
  attend(q, h, h);
}

struct Other {
  bool up = false;
};
void set(Other& other) { other.up = true; }
class NeverSet {
 public:
  void run(const Tensor& x) const {
    const Tensor h = narrow(x);
    Tensor q = h;
    // False alarm: a flag that is never set is taken for one that may be, where a field of its name is
    // written in an object of another class.
    if (up) q = h.to(at::kFloat);  // expect: attention-mixed-dtypes
    attend(q, h, h);
  }

 private:
  bool up = false;
};

void by_reference(const Tensor& x) {
  Tensor q = narrow(x);
  const Tensor h = narrow(x);
  // False alarm: assignments through `std::ref(q)` are not followed.
  q = q.to(at::kFloat);  // expect: attention-mixed-dtypes
  for (Tensor& each : {std::ref(q)}) each = narrow(each);
  attend(q, h, h);
}

void by_one_round(const Tensor& x) {
  const Tensor h = narrow(x);
  // False alarm: that `while (i < 1)` runs at least once is not worked out.
  Tensor a = x.to(at::kFloat);  // expect: attention-mixed-dtypes
  int i = 0;
  while (i < 1) {
    a = narrow(a);
    ++i;
  }
  attend(a, h, h);
}

void by_integers(const Tensor& ids, const Tensor& k) {
  // False alarm: under autocast an input may hold integers, which `pow` leaves alone.
  const Tensor q = k * ids.unsqueeze(-1).pow(2);  // expect: autocast-fp32-operator
  attend(q, k, k);
}
void by_a_sum_of_integers(const Tensor& ids, const Tensor& k) {
  // False alarm: under autocast a sum of what was made like an input that may hold integers.
  const Tensor q = k * torch::ones_like(ids.unsqueeze(-1)).sum(-1, true);  // expect: autocast-fp32-operator
  attend(q, k, k);
}

}  // namespace alarms
