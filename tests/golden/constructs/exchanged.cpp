// std::exchange, std::swap and moves into a caller's variable.
#include <memory>
#include <utility>
#include <vector>

#include "attention.h"

using at::Tensor;

void ok_exchanged(const Tensor& x) {
  Tensor q = x.to(at::kFloat);
  const Tensor before = std::exchange(q, x.contiguous());
  attend(q, x, x);
  (void)before;
}
void bad_what_was_there(const Tensor& x) {
  Tensor q = x.to(at::kFloat);  // expect: attention-mixed-dtypes
  const Tensor before = std::exchange(q, x.contiguous());
  attend(before, x, x);
}
void bad_what_is_there(const Tensor& x) {
  Tensor q = x;
  const Tensor before = std::exchange(q, x.to(at::kFloat));  // expect: attention-mixed-dtypes
  attend(before, x, x);
  attend(q, x, x);
}
void ok_emptied(const Tensor& x) {
  Tensor q = x.to(at::kFloat);
  const Tensor before = std::exchange(q, {});
  if (q.defined()) attend(q, x, x);
  (void)before;
}
void ok_exchanged_flag(const Tensor& x) {
  Tensor q = x;
  bool wide = true;
  if (std::exchange(wide, false)) q = q.contiguous();
  if (wide) q = q.to(at::kFloat);
  attend(q, x, x);
}
void bad_exchanged_flag(const Tensor& x) {
  Tensor q = x;
  bool wide = true;
  if (std::exchange(wide, false)) q = q.to(at::kFloat);  // expect: attention-mixed-dtypes
  attend(q, x, x);
}

class Pending {
 public:
  void ok(const Tensor& x) {
    pending_ = x.to(at::kFloat);
    last_ = std::exchange(pending_, x);
    attend(pending_, x, x);
  }
  void bad(const Tensor& x) {
    pending_ = x.to(at::kFloat);  // expect: attention-mixed-dtypes
    last_ = std::exchange(pending_, x);
    attend(last_, x, x);
  }
  void ok_swapped(const Tensor& x) {
    pending_ = x.to(at::kFloat);
    last_ = x;
    std::swap(pending_, last_);
    attend(pending_, x, x);
  }
  void bad_swapped(const Tensor& x) {
    pending_ = x.to(at::kFloat);  // expect: attention-mixed-dtypes
    last_ = x;
    std::swap(pending_, last_);
    attend(last_, x, x);
  }

 private:
  Tensor pending_, last_;
};

// Objects are known by identity: what they hold changes places.
struct Part {
  Tensor q;
};
void ok_swapped_objects(const Tensor& x) {
  Part wide{x.to(at::kFloat)}, half{x};
  std::swap(wide, half);
  attend(wide.q, x, x);
}
void bad_swapped_objects(const Tensor& x) {
  Part wide{x.to(at::kFloat)}, half{x};  // expect: attention-mixed-dtypes
  std::swap(wide, half);
  attend(half.q, x, x);
}
void ok_exchanged_object(const Tensor& x) {
  Part part{x.to(at::kFloat)};
  const Part before = std::exchange(part, Part{x});
  attend(part.q, x, x);
  (void)before;
}
void bad_exchanged_object(const Tensor& x) {
  Part part{x.to(at::kFloat)};  // expect: attention-mixed-dtypes
  const Part before = std::exchange(part, Part{x});
  attend(before.q, x, x);
}
void ok_swapped_lists(const Tensor& x) {
  std::vector<Tensor> wide = {x.to(at::kFloat)}, half = {x};
  wide.swap(half);
  attend(wide[0], x, x);
}
void bad_swapped_lists(const Tensor& x) {
  std::vector<Tensor> wide = {x.to(at::kFloat)}, half = {x};  // expect: attention-mixed-dtypes
  wide.swap(half);
  attend(half[0], x, x);
}

void hand_over(Tensor& to, Tensor from) { to = std::move(from); }
void ok_handed_over(const Tensor& x) {
  Tensor q = x.to(at::kFloat);
  hand_over(q, x);
  attend(q, x, x);
}
void bad_handed_over(const Tensor& x) {
  Tensor q = x;
  hand_over(q, x.to(at::kFloat));  // expect: attention-mixed-dtypes
  attend(q, x, x);
}
