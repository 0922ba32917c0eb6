// How many dimensions a tensor has that a loop makes. An element of a list has any number of them.
#include <c10/util/Exception.h>

#include "attention.h"

using at::Tensor;

// Within a round of a loop what it makes has one rank.
void bad_in_round(const std::vector<Tensor>& xs) {
  for (const Tensor& x : xs) {
    const Tensor q = x.to(at::kHalf);
    const Tensor wide = q.to(at::kFloat);  // expect: attention-mixed-dtypes
    attend(q * torch::rsqrt(wide.pow(2).mean(-1, true) + 1e-6), q, q);
  }
}
Tensor bad_in_round_fed_by_the_call(Tensor x, int64_t layers) {
  for (int64_t i = 0; i < layers; ++i) {
    const Tensor q = x.to(at::kHalf);
    x = attend(q * q.to(at::kFloat), q, q);  // expect: attention-mixed-dtypes
  }
  return x;
}
static Tensor normed(const Tensor& x) {
  const Tensor h = x.to(at::kHalf);
  return h * torch::rsqrt(h.to(at::kFloat).mean(-1, true));  // expect: attention-mixed-dtypes
}
void bad_in_function_called_by_round(const std::vector<Tensor>& xs, const Tensor& k) {
  for (const Tensor& x : xs) attend(normed(x), k, k);
}
void bad_outer_in_inner_round(const std::vector<Tensor>& xs) {
  for (const Tensor& x : xs) {
    const Tensor q = x.to(at::kHalf);
    for (int i = 0; i < 3; ++i) {
      const Tensor wide = q.to(at::kFloat);  // expect: attention-mixed-dtypes
      attend(q * wide, q, q);
    }
  }
}
void bad_proved_in_round(const std::vector<Tensor>& xs, const Tensor& q) {
  for (const Tensor& x : xs) {
    const Tensor wide = x.to(at::kFloat);  // expect: attention-mixed-dtypes
    TORCH_CHECK(wide.dim() == 2);
    attend(q * wide, q, q);
  }
}
void bad_after_rounds(const std::vector<Tensor>& xs) {
  Tensor q;
  for (const Tensor& x : xs) q = x.to(at::kHalf);
  attend(q * q.to(at::kFloat), q, q);  // expect: attention-mixed-dtypes
}

// Those of two rounds may differ, and what is proved of one says nothing of the next.
void ok_of_the_last_round(const std::vector<Tensor>& xs, const Tensor& k) {
  Tensor last = k;
  for (const Tensor& x : xs) {
    const Tensor q = x.to(at::kHalf);
    attend(q * last, k, k);
    last = q.to(at::kFloat);
  }
}
void ok_of_the_last_round_elsewhere(const std::vector<Tensor>& xs, const Tensor& k) {
  std::vector<Tensor> kept = {k};
  struct {
    Tensor wide;
  } held{k};
  for (const Tensor& x : xs) {
    const Tensor q = x.to(at::kHalf);
    attend(q * kept[0], k, k);
    attend(q * held.wide, k, k);
    kept[0] = q.to(at::kFloat);
    held.wide = kept[0];
  }
}
void ok_of_two_elements(const std::vector<Tensor>& xs, const Tensor& k) {
  std::vector<Tensor> wide, narrow;
  for (const Tensor& x : xs) {
    narrow.push_back(x.to(at::kHalf));
    wide.push_back(narrow.back().to(at::kFloat));
  }
  attend(narrow[0] * wide[1], k, k);
  for (size_t i = 1; i < wide.size(); ++i) attend(narrow[i] * wide[i - 1], k, k);
}
void ok_last_round_proved(const std::vector<Tensor>& xs, const Tensor& k) {
  bool proved = false;
  for (const Tensor& x : xs) {
    const Tensor wide = x.to(at::kFloat);
    if (proved) attend(k * wide, k, k);
    proved = wide.dim() == 2;
    if (!proved) return;
  }
}
void ok_last_round_counted(const std::vector<Tensor>& xs, const Tensor& k) {
  int64_t dimensions = 0;
  for (const Tensor& x : xs) {
    const Tensor wide = x.to(at::kFloat);
    if (dimensions == 2) attend(k * wide, k, k);
    dimensions = wide.dim();
  }
}
void ok_outer_round(const std::vector<Tensor>& xs, const Tensor& k) {
  Tensor last = k;
  for (int i = 0; i < 3; ++i) {
    for (const Tensor& x : xs) {
      const Tensor q = x.to(at::kHalf);
      if (i > 0) attend(q * last, k, k);
      last = q.to(at::kFloat);
    }
  }
}
static Tensor kept_from_round(const Tensor& x, Tensor& last) {
  const Tensor h = x.to(at::kHalf);
  const Tensor out = h * last;
  last = h.to(at::kFloat);
  return out;
}
void ok_function_called_by_round(const std::vector<Tensor>& xs, const Tensor& k) {
  Tensor last = k;
  for (const Tensor& x : xs) attend(kept_from_round(x, last), k, k);
}
void ok_by_goto(const std::vector<Tensor>& xs, const Tensor& k) {
  Tensor last = k;
  size_t i = 0;
again:
  const Tensor q = xs[i].to(at::kHalf);
  attend(q * last, k, k);
  last = q.to(at::kFloat);
  if (++i < xs.size()) goto again;
}
void ok_other_of_round(const std::vector<Tensor>& xs, const std::vector<Tensor>& ys, const Tensor& k) {
  for (size_t i = 0; i < xs.size(); ++i) attend(xs[i].to(at::kHalf) * ys[i].to(at::kFloat), k, k);
}
void ok_sum_over_rounds(const std::vector<Tensor>& xs, const Tensor& k) {
  Tensor sum = torch::zeros({}, at::kFloat);
  for (const Tensor& x : xs) {
    const Tensor q = x.to(at::kHalf);
    attend(q * sum, k, k);
    sum = q.to(at::kFloat).sum();
  }
}
// A known miss: an element that is taken from the list twice.
void ok_element_itself(const std::vector<Tensor>& xs, const Tensor& k) {
  for (const Tensor& x : xs) attend(x * x.to(at::kFloat), k, k);
}

// Objects that rounds make: each of them has ranks of its own. One that was there before the loop is one
// object.
struct Both {
  Tensor narrow, wide;
};
void ok_of_two_objects(const std::vector<Tensor>& xs, const Tensor& k) {
  std::vector<Both> all;
  for (const Tensor& x : xs) {
    Both both;
    both.narrow = x.to(at::kHalf);
    both.wide = both.narrow.to(at::kFloat);
    all.push_back(both);
    attend(all.back().narrow * all[0].wide, k, k);
  }
  attend(all[0].narrow * all[1].wide, k, k);
}
void ok_of_two_copies(const std::vector<Tensor>& xs, const Tensor& k) {
  std::vector<Both> all;
  Both both;
  for (const Tensor& x : xs) {
    both.narrow = x.to(at::kHalf);
    both.wide = both.narrow.to(at::kFloat);
    all.push_back(both);
  }
  attend(all[0].narrow * all[1].wide, k, k);
}
void ok_of_two_shared(const std::vector<Tensor>& xs, const Tensor& k) {
  std::vector<std::shared_ptr<Both>> all;
  for (const Tensor& x : xs) {
    all.push_back(std::make_shared<Both>());
    all.back()->narrow = x.to(at::kHalf);
    all.back()->wide = all.back()->narrow.to(at::kFloat);
  }
  attend(all[0]->narrow * all[1]->wide, k, k);
}
void ok_of_two_pairs(const std::vector<Tensor>& xs, const Tensor& k) {
  std::vector<std::pair<Tensor, Tensor>> all;
  for (const Tensor& x : xs) {
    const Tensor narrow = x.to(at::kHalf);
    all.push_back({narrow, narrow.to(at::kFloat)});
  }
  Tensor last = k;
  for (const auto& [narrow, wide] : all) {
    attend(narrow * last, k, k);
    last = wide;
  }
  attend(all[0].first * all[1].second, k, k);
}
void ok_of_two_lists(const std::vector<Tensor>& xs, const Tensor& k) {
  std::vector<std::vector<Tensor>> all;
  for (const Tensor& x : xs) {
    const Tensor narrow = x.to(at::kHalf);
    const std::vector<Tensor> both = {narrow, narrow.to(at::kFloat)};
    all.push_back(both);
  }
  attend(all[0][0] * all[1][1], k, k);
}
struct Kept {
  Tensor narrow;
  void bad_kept_of_round(const std::vector<Tensor>& xs, const Tensor& k) {
    for (const Tensor& x : xs) {
      narrow = x.to(at::kHalf);
      const Tensor wide = narrow.to(at::kFloat);  // expect: attention-mixed-dtypes
      attend(narrow * wide, k, k);
    }
  }
};
// A known miss: two of one such object.
void ok_of_one_object(const std::vector<Tensor>& xs, const Tensor& k) {
  for (const Tensor& x : xs) {
    const Tensor narrow = x.to(at::kHalf);
    const Both both{narrow, narrow.to(at::kFloat)};
    attend(both.narrow * both.wide, k, k);
  }
}
