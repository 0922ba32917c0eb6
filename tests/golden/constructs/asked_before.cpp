// Questions that were decided before: by the round of a loop, by an early return, a check or an outer
// condition.
#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "attention.h"

using at::Tensor;

static Tensor wide(const Tensor& x) { return x.to(at::kFloat) * 2; }
static Tensor narrow(const Tensor& x) { return x.to(at::kHalf); }

// The last round.
Tensor ok_last(const Tensor& x, const Tensor& k, int count) {
  Tensor q = narrow(x);
  const Tensor h = narrow(k);
  for (int i = 0; i < count; ++i) {
    q = attend(q, h, h).to(at::kHalf);
    if (i == count - 1) q = wide(q);
  }
  return q;
}
Tensor ok_last_of_a_list(const Tensor& x, const std::vector<Tensor>& more) {
  Tensor q = narrow(x);
  for (const Tensor& each : more) {
    q = attend(q, narrow(each), narrow(each)).to(at::kHalf);
    if (&each == &more.back()) q = wide(q);
  }
  return q;
}
Tensor ok_done(const Tensor& x, const Tensor& k) {
  Tensor q = narrow(x);
  const Tensor h = narrow(k);
  bool done = false;
  while (!done) {
    q = attend(q, h, h).to(at::kHalf);
    if (q.max().item<float>() < 1) {
      q = wide(q);
      done = true;
    }
  }
  return q;
}
void ok_last_narrows(const Tensor& x, int count) {
  const Tensor h = narrow(x);
  Tensor q = h;
  for (int i = 0; i < count; ++i) {
    q = wide(q);
    if (i + 1 == count) q = narrow(q);
  }
  attend(q, h, h);
}
// The first.
void ok_first(const Tensor& x, int count) {
  const Tensor h = narrow(x);
  Tensor q = wide(x);
  for (int i = 0; i < count; ++i) {
    if (i == 0) q = narrow(q);
    attend(q, h, h);
  }
}
void ok_first_by_flag(const Tensor& x, int count) {
  const Tensor h = narrow(x);
  Tensor q = wide(x);
  bool first = true;
  while (count--) {
    if (first) q = narrow(q);
    first = false;
    attend(q, h, h);
  }
}
void ok_in_turn(const Tensor& x) {
  const Tensor h = narrow(x);
  Tensor q = h;
  for (int i = 0; i < 4; ++i) q = i % 2 == 0 ? wide(q) : narrow(q);
  attend(q, h, h);
}

// Decided against.
void ok_returned(const Tensor& x, int mode) {
  const Tensor h = narrow(x);
  if (mode == 2) return;
  const Tensor q = mode == 2 ? wide(h) : h;
  attend(q, h, h);
}
void ok_checked_range(const Tensor& x, int count) {
  const Tensor h = narrow(x);
  Tensor q = h;
  TORCH_CHECK(count < 4);
  if (count > 5) q = wide(q);
  attend(q, h, h);
}
void ok_thrown(const Tensor& x, const std::string& mode) {
  const Tensor h = narrow(x);
  Tensor q = h;
  if (mode == "math") throw std::runtime_error("not here");
  if (mode == "math") q = wide(q);
  attend(q, h, h);
}
void ok_inside(const Tensor& x, int bits) {
  const Tensor h = narrow(x);
  if (bits == 16) {
    Tensor q = h;
    if (bits == 32) q = wide(q);
    attend(q, h, h);
  }
}
void ok_implied(const Tensor& x, bool up, bool down) {
  const Tensor h = narrow(x);
  Tensor q = h;
  TORCH_CHECK(!up || down);
  if (up) q = wide(q);
  if (down) q = narrow(q);
  attend(q, h, h);
}
void ok_checked_device(const Tensor& x) {
  const Tensor h = narrow(x);
  Tensor q = h;
  TORCH_CHECK(x.is_cuda());
  if (x.is_cpu()) q = wide(q);
  attend(q, h, h);
}
void bad_another(const Tensor& x, int mode) {
  const Tensor h = narrow(x);
  if (mode == 2) return;
  const Tensor q = mode == 3 ? h.to(at::kFloat) : h;  // expect: attention-mixed-dtypes
  attend(q, h, h);
}

// Set together.
class Together {
 public:
  void enable() {
    up_ = true;
    down_ = true;
  }
  void forward(const Tensor& x) const {
    const Tensor h = narrow(x);
    Tensor q = h;
    if (up_) q = wide(q);
    if (down_) q = narrow(q);
    attend(q, h, h);
  }

 private:
  bool up_ = false, down_ = false;
};
