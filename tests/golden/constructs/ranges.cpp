// Lists by iterators and standard algorithms: what is done to every element is done to each, to some to none
// for certain.
#include <c10/util/irange.h>

#include <algorithm>
#include <deque>
#include <iterator>
#include <list>
#include <numeric>
#include <vector>

#include "attention.h"

using at::Tensor;

static Tensor table() { return torch::ones({8}); }
static Tensor wide(const Tensor& t) { return t * torch::ones({8}); }  // expect: attention-implicit-promotion

// Iterators.
void bad_iterator(const Tensor& x) {
  std::vector<Tensor> v{x * torch::ones({8}), x + torch::ones({8})};  // expect: attention-implicit-promotion
  for (auto it = v.begin(); it != v.end(); ++it) attend(*it, x, x);
}
void bad_backwards(const Tensor& x) {
  std::deque<Tensor> v{x * torch::ones({8})};  // expect: attention-implicit-promotion
  for (auto it = v.rbegin(); it != v.rend(); ++it) attend(it->contiguous(), x, x);
}
void ok_iterator(const Tensor& x) {
  std::vector<Tensor> v{x * torch::ones({8}), x};
  for (auto it = v.begin(); it != v.end(); ++it) attend(it->to(x.dtype()), x, x);
  const auto found =
      std::find_if(v.begin(), v.end(), [&](const Tensor& t) { return t.dtype() == x.dtype(); });
  if (found != v.end()) attend(*found, x, x);
}
void bad_part_of_list(const Tensor& x) {
  const std::list<Tensor> v{x * torch::ones({8})};  // expect: attention-implicit-promotion
  std::vector<Tensor> copied(v.begin(), v.end()), added;
  added.insert(added.end(), v.begin(), v.end());
  attend(copied[0], added[0], x);
}
void ok_part_of_list(const Tensor& x) {
  std::vector<Tensor> v{x, x * torch::ones({8})}, more{x};
  std::vector<Tensor> copied(v.begin(), v.end()), first(v.begin(), v.begin() + 1);
  more.insert(more.begin(), v.begin(), v.end());
  attend(copied[0], first[0], more[2]);
}

// An index that is not constant: which element it is makes no difference, or it does.
void bad_any_of_alike(const Tensor& x, int n) {
  std::vector<Tensor> v{x * torch::ones({8}), x - torch::ones({8})};  // expect: attention-implicit-promotion
  attend(v[n], x, x);
}
void ok_any_of_different(const Tensor& x, int n) {
  std::vector<Tensor> v{x * torch::ones({8}), x};
  attend(v[n], x, x);
  std::vector<Tensor> made;
  for (const auto i : c10::irange(n)) made.push_back(i == 2 ? x * torch::ones({8}) : x);
  attend(made[0], x, x);
}
void bad_counted(const Tensor& x) {
  Tensor q = x;
  for (const auto i : c10::irange(4)) q = q * i + torch::ones({8});  // expect: attention-implicit-promotion
  attend(q, x, x);
}

// Algorithms.
void bad_for_each(const Tensor& x) {
  std::vector<Tensor> v{x, x};
  std::for_each(v.begin(), v.end(),
                [](Tensor& t) { t = t * torch::ones({8}); });  // expect: attention-implicit-promotion
  attend(v[0], x, x);
}
void ok_for_each(const Tensor& x) {
  std::vector<Tensor> v{x * torch::ones({8}), x}, some{x, x};
  std::for_each(v.begin(), v.end(), [&](Tensor& t) { t = t.to(x.scalar_type()); });
  attend(v[0], v[1], x);
  std::for_each(some.begin(), some.end(),
                [i = 0](Tensor& t) mutable { t = i++ == 1 ? t * torch::ones({8}) : t; });
  attend(some[0], x, x);
  std::vector<Tensor> generic{x * torch::ones({8})};
  std::for_each(generic.begin(), generic.end(), [&](auto& t) { t = t.to(x.dtype()); });
  attend(generic[0], x, x);
}
void bad_transform(const Tensor& x) {
  std::vector<Tensor> v{x, x}, out(2), added;
  std::transform(v.begin(), v.end(), out.begin(), wide);
  std::transform(v.begin(), v.end(), std::back_inserter(added), &wide);
  attend(out[0], added[0], x);
}
void bad_transform_of_two(const Tensor& x) {
  std::vector<Tensor> a{x, x}, b{torch::ones({8}), torch::ones({8})}, out(2);
  std::transform(a.begin(), a.end(), b.begin(), out.begin(), [](const Tensor& p, const Tensor& q) {
    return p * q;  // expect: attention-implicit-promotion
  });
  attend(out[0], out[1], x);
}
void ok_transform(const Tensor& x) {
  std::vector<Tensor> v{x * torch::ones({8}), x}, out(2), some{x, x, x, x};
  std::transform(v.begin(), v.end(), out.begin(), [&](const Tensor& t) { return t.to(x.dtype()); });
  std::transform(v.begin(), v.end(), some.begin() + 2, wide);
  std::transform(some.begin(), some.begin() + 1, some.begin(), wide);
  attend(out[0], out[1], some[3]);
}
void bad_copied(const Tensor& x) {
  const std::vector<Tensor> v{x * torch::ones({8})};  // expect: attention-implicit-promotion
  std::vector<Tensor> out;
  std::copy(v.begin(), v.end(), std::back_inserter(out));
  attend(out[0], x, x);
}
void bad_sum(const Tensor& x) {
  std::vector<Tensor> v{x, x};
  Tensor q = std::accumulate(v.begin(), v.end(), table());  // expect: attention-implicit-promotion
  attend(q, x, x);
}
void ok_sum(const Tensor& x) {
  std::vector<Tensor> v{x, x};
  attend(std::accumulate(v.begin(), v.end(), torch::zeros({8}, x.options())), x, x);
  attend(std::accumulate(v.begin() + 1, v.end(), v[0],
                         [](Tensor a, const Tensor& b) { return a.add_(b * torch::ones({8})); }),
         x, x);
  std::vector<int64_t> shape{2, 3};
  std::transform(shape.begin(), shape.end(), shape.begin(), [](int64_t i) { return i + 1; });
  attend(x * torch::full(shape, 1.0).sum(), x.view({std::accumulate(shape.begin(), shape.end(), int64_t{0})}),
         x);
}
void ok_ordered(const Tensor& x) {
  std::vector<Tensor> v{x * torch::ones({8}), x};
  std::sort(v.begin(), v.end(), [](const Tensor& a, const Tensor& b) { return a.size(0) < b.size(0); });
  attend(v[0], x, x);
  v.erase(std::remove_if(v.begin(), v.end(), [&](const Tensor& t) { return t.dtype() != x.dtype(); }),
          v.end());
  attend(v.front(), x, x);
}
