// What runs: branches, loops, early returns, lambdas, checks.
#include <algorithm>
#include <functional>
#include <numeric>

#include "attention.h"

using at::Tensor;

Tensor table() { return torch::ones({8}); }

// Ternaries, loops, early returns.
void bad_ternary(const Tensor& x, bool wide) {
  auto q = wide ? x * table() : x;  // expect: attention-implicit-promotion
  attend(q, x, x);
}
Tensor early(const Tensor& x, int64_t rows) {
  if (rows == 0) return x;
  if (rows < 0) {
    throw std::runtime_error("rows");
  }
  return x * table();  // expect: attention-implicit-promotion
}
void bad_early_return(const Tensor& x, int64_t rows) { attend(early(x, rows), x, x); }
void bad_loop(const Tensor& x) {
  Tensor q = x;
  for (int i = 0; i < 4; ++i) q = q * table();  // expect: attention-implicit-promotion
  attend(q, x, x);
}
void bad_while(const Tensor& x, int n) {
  Tensor q = x;
  do {
    q = q + table();  // expect: attention-implicit-promotion
  } while (--n > 0);
  attend(q, x, x);
}
void ok_branches(const Tensor& x, bool wide, int n) {
  Tensor q = wide ? x * table() : x;
  if (wide) q = q.to(x.dtype());
  attend(q.to(x), x, x);
  Tensor k = x;
  for (int i = 0; i < n; ++i) {
    Tensor inner = k * table();
    if (i % 2) continue;
    k = inner.to(x.scalar_type());
  }
  attend(k, x, x);
}
void ok_returned_before(const Tensor& x, bool wide) {
  const Tensor q = x * table();
  if (q.scalar_type() != x.scalar_type()) return;
  attend(q, x, x);
}
void ok_switch(const Tensor& x, int kind) {
  Tensor q = x * table();
  switch (kind) {
    case 0:
    case 1:
      q = q.to(x.scalar_type());
      break;
    default:
      throw std::invalid_argument("kind");
  }
  attend(q, x, x);
}

// Lambdas and std::function.
void bad_lambda(const Tensor& x) {
  const Tensor ones = table();
  auto widen = [&ones](const Tensor& t) { return t * ones; };  // expect: attention-implicit-promotion
  attend(widen(x), x, x);
}
void bad_init_capture(const Tensor& x) {
  auto widen = [ones = table()](Tensor t) mutable {
    return t.add(ones);  // expect: attention-implicit-promotion
  };
  attend(widen(x), x, x);
}
void bad_function(const Tensor& x) {
  std::function<Tensor(const Tensor&)> widen = [](const Tensor& t) {
    return t * table();  // expect: attention-implicit-promotion
  };
  attend(widen(x), x, x);
}
void bad_generic_lambda(const Tensor& x) {
  auto widen = [](const auto& t) { return t * table(); };  // expect: attention-implicit-promotion
  attend(widen(x), x, x);
}
Tensor apply(const std::function<Tensor(Tensor)>& f, const Tensor& x) { return f(x); }
void bad_passed_on(const Tensor& x) {
  attend(apply([](Tensor t) { return t * table(); }, x), x, x);  // expect: attention-implicit-promotion
}
void bad_assigned_in_lambda(const Tensor& x) {
  Tensor q;
  auto make = [&] { q = x * table(); };  // expect: attention-implicit-promotion
  make();
  attend(q, x, x);
}
void ok_lambda(const Tensor& x) {
  auto back = [dtype = x.scalar_type()](const Tensor& t) { return (t * table()).to(dtype); };
  attend(back(x), x, x);
  attend([&] { return x * 2; }(), x, x);
}
void ok_algorithms(const Tensor& x) {
  std::vector<Tensor> parts = {x, x};
  std::vector<Tensor> out(2);
  std::transform(parts.begin(), parts.end(), out.begin(), [](const Tensor& t) { return t * 2; });
  attend(out[0], out[1], x);
  std::vector<int> order(4);
  std::iota(order.begin(), order.end(), 0);
  attend(x[order[0]], x, x);
}

// Checks and facts.
void ok_checked(const Tensor& q, const Tensor& k) {
  const Tensor wide = q * table();
  TORCH_CHECK(wide.scalar_type() == k.scalar_type(), "q and k must agree");
  attend(wide, k, k);
}
void ok_checked_half(const Tensor& x) {
  const Tensor wide = x * table();
  TORCH_CHECK(wide.dtype() == torch::kFloat16 || wide.dtype() == torch::kBFloat16);
  attend(wide, x, x);
}
void ok_guarded(const Tensor& q, const Tensor& k) {
  Tensor wide = q * table();
  if (wide.dtype() == torch::kFloat) wide = wide.to(k.dtype());
  attend(wide, k, k);
}
void ok_guarded_by_name(const Tensor& q, const Tensor& k) {
  Tensor wide = q * table();
  const bool differs = wide.scalar_type() != k.scalar_type();
  if (differs) wide = wide.to(k.scalar_type());
  attend(wide, k, k);
}
void bad_guard_on_another(const Tensor& q, const Tensor& k) {
  const Tensor wide = q * table();  // expect: attention-implicit-promotion
  TORCH_CHECK(q.scalar_type() == k.scalar_type());
  attend(wide, k, k);
}
// What stands between the two assignments may throw, which the handler swallows.
void bad_half_done(Tensor q, const Tensor& k) {
  try {
    q = q.to(at::kFloat);  // expect: attention-mixed-dtypes
    q = torch::randn_like(q);
    q = q.to(k.scalar_type());
  } catch (const std::exception&) {
  }
  attend(q, k, k);
}
void ok_half_done_noticed(Tensor q, const Tensor& k) {
  bool done = false;
  const Tensor before = q;
  try {
    q = q.to(at::kFloat);
    q = torch::randn_like(q);
    q = q.to(k.scalar_type());
    done = true;
  } catch (const std::exception&) {
  }
  attend(done ? q : before, k, k);
}
void ok_half_done_returned(Tensor q, const Tensor& k) {
  try {
    q = q.to(at::kFloat);
    q = torch::randn_like(q);
    q = q.to(k.scalar_type());
  } catch (const std::exception&) {
    return;
  }
  attend(q, k, k);
}
void ok_half_done_restored(Tensor q, const Tensor& k) {
  const Tensor before = q;
  try {
    q = q.to(at::kFloat);
    q = torch::randn_like(q).to(k.scalar_type());
  } catch (const std::exception&) {
    q = before;
  }
  attend(q, k, k);
}
// Arithmetic is not what the block is there for.
void note(const char* text);
void ok_half_done_by_arithmetic(Tensor q, const Tensor& k) {
  try {
    q = q.to(at::kFloat);
    q = q * 2;
    note("scaled");
    q = q.to(k.scalar_type());
  } catch (const std::exception&) {
  }
  attend(q, k, k);
}
void ok_try(const Tensor& x) {
  Tensor q;
  try {
    q = (x * table()).to(x.dtype());
  } catch (const std::exception&) {
    q = x;
  }
  attend(q, x, x);
}
