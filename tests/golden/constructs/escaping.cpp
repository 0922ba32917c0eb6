// Lambdas that escape to unseen code: findings stand in their bodies, with what they captured and with the
// inputs of any external caller.
#include <ATen/Parallel.h>
#include <torch/library.h>
#include <torch/types.h>

#include <functional>
#include <future>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "attention.h"

using at::Tensor;
using Kernel = std::function<Tensor(const Tensor&, const Tensor&, const Tensor&)>;

// Registered kernels.
TORCH_LIBRARY(escaping, m) {
  m.def("wide(Tensor q, Tensor k, Tensor v) -> Tensor",
        [](const Tensor& q, const Tensor& k, const Tensor& v) {
          auto scaled = q * torch::ones({64});  // expect: attention-implicit-promotion
          return attend(scaled, k, v);
        });
  m.def("narrow(Tensor q, Tensor k, Tensor v) -> Tensor",
        [](const Tensor& q, const Tensor& k, const Tensor& v) {
          auto scaled = (q * torch::ones({64})).to(q.scalar_type());
          return attend(scaled, k, v);
        });
}
TORCH_LIBRARY_IMPL(escaping, CUDA, m) {
  m.impl("other", [](const Tensor& q, const Tensor& k, const Tensor& v) {
    return attend(q, k * torch::ones({64}), v);  // expect: attention-implicit-promotion
  });
  m.impl("checked", [](const Tensor& q, const Tensor& k, const Tensor& v) {
    TORCH_CHECK(q.scalar_type() == at::kFloat && k.scalar_type() == at::kFloat, "float only");
    return at::bmm(at::softmax(at::bmm(q * torch::ones({64}), k.transpose(1, 2)), -1), v);
  });
}

// The body of a parallel loop, a thread's work and what a pool is given have what they captured.
struct WorkPool {
  void submit(std::function<void()> work);
  void run_on(const Tensor& x, const std::function<Tensor(const Tensor&)>& what);
};
Tensor bad_parallel(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& x) {
  const Tensor h = x.to(at::kHalf), table = torch::ones({64});
  Tensor out = torch::empty_like(h);
  at::parallel_for(0, h.size(0), 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      Tensor wide = h[i] * table;  // expect: attention-implicit-promotion
      out[i].copy_(attend(wide, h[i], h[i]));
    }
  });
  return out;
}
// What the body does not change is as it was.
std::vector<Tensor> parts_of(const Tensor& whole, int64_t n) {
  std::vector<Tensor> parts;
  for (int64_t i = 0; i < n; ++i) parts.push_back(torch::empty({8, 64}, whole.options()));
  at::parallel_for(0, n, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) parts[i].data_ptr();
  });
  return parts;
}
void bad_parts(const Tensor& x) {
  const std::vector<Tensor> parts = parts_of(x.to(at::kHalf), 3);
  const Tensor wide = parts[0] * torch::ones({64});  // expect: attention-implicit-promotion
  attend(wide, parts[1], parts[2]);
}
void ok_parts_that_the_body_narrows(const Tensor& x) {
  const Tensor h = x.to(at::kHalf), wide = h * torch::ones({64});
  std::vector<Tensor> parts = {wide, wide};
  at::parallel_for(0, 2, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) parts[i] = parts[i].to(at::kHalf);
  });
  attend(parts[0], h, parts[1]);
}
Tensor ok_parallel(const Tensor& x) {
  const Tensor h = x.to(at::kHalf), table = torch::ones({64});
  Tensor out = torch::empty_like(h);
  at::parallel_for(0, h.size(0), 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) out[i].copy_(attend((h[i] * table).to(at::kHalf), h[i], h[i]));
  });
  return out;
}
void bad_threads(const Tensor& x, WorkPool& pool) {
  Tensor h = x.to(at::kHalf);
  std::thread one([&] { attend(h * torch::ones({64}), h, h); });  // expect: attention-implicit-promotion
  one.join();
  std::vector<std::thread> several;
  for (int i = 0; i < 4; ++i)
    several.emplace_back(
        [=] { attend(h, h * torch::ones({64}), h); });  // expect: attention-implicit-promotion
  for (auto& each : several) each.join();
  auto later = std::async(std::launch::async, [h] {
    return attend(h, h, h * torch::ones({64}));  // expect: attention-implicit-promotion
  });
  pool.submit(
      [wide = h * torch::ones({64}), h] { attend(wide, h, h); });  // expect: attention-implicit-promotion
}
void ok_threads(const Tensor& x, WorkPool& pool) {
  Tensor h = x.to(at::kHalf);
  Tensor q = h * torch::ones({64});
  auto work = [&] { attend(q, h, h); };
  q = q.to(at::kHalf);  // before it runs
  std::thread one(work);
  one.join();
  pool.submit(work);
}
void ok_tasks(const Tensor& x) {
  Tensor h = x.to(at::kHalf);
  std::vector<std::function<void()>> tasks;
  Tensor k = h * torch::ones({64});
  tasks.push_back([&] { attend(h, k, h); });
  k = k.to(at::kHalf);
  for (auto& each : tasks) each();
}
// Autocast is off in a new thread, whatever it is in this one; in a loop it is on for one of those that share
// it.
void ok_autocast_in_a_thread(const Tensor& x) {
  const Tensor h = x.to(at::kHalf);
  std::thread one([h] { attend(at::layer_norm(h, {64}), h, h); });
  one.join();
}
void bad_autocast_in_a_loop(const Tensor& x) {
  const Tensor h = x.to(at::kHalf);
  at::parallel_for(0, 4, 1, [&](int64_t begin, int64_t end) {
    attend(at::layer_norm(h, {64}), h, h);  // expect: autocast-fp32-operator
  });
}
// What the thread leaves in a variable is not known.
Tensor ok_filled_by_a_thread(const Tensor& x) {
  Tensor h = x.to(at::kHalf), q = h * torch::ones({64});
  std::thread one([&] { q = q.to(at::kHalf); });
  one.join();
  return attend(q, h, h);
}
// Handed over with what it is to be run on.
Tensor ok_run_on_something_wide(const Tensor& x, WorkPool& pool) {
  Tensor h = x.to(at::kHalf), out;
  pool.run_on(h.to(at::kFloat), [](const Tensor& a) {
    return at::bmm(at::softmax(at::bmm(a * torch::ones({64}), a.transpose(1, 2)), -1), a);
  });
  return out;
}

// Tables of functions.
const std::unordered_map<std::string, Kernel> kKernels = {
    {"wide",
     [](const Tensor& q, const Tensor& k, const Tensor& v) {
       return attend(q * torch::ones({64}), k, v);  // expect: attention-implicit-promotion
     }},
    {"narrow", [](const Tensor& q, const Tensor& k, const Tensor& v) {
       return attend((q * torch::ones({64})).to(q.scalar_type()), k, v);
     }}};
// Which of them runs goes with the dtype.
const std::map<at::ScalarType, Kernel> kByDtype = {
    {at::kFloat, [](const Tensor& q, const Tensor& k, const Tensor& v) {
       return at::bmm(at::softmax(at::bmm(q * torch::ones({64}), k.transpose(1, 2)), -1), v);
     }}};
std::map<std::string, Kernel>& kernels() {
  static std::map<std::string, Kernel> all;
  return all;
}
void add_kernel(const std::string& name, Kernel kernel) { kernels()[name] = std::move(kernel); }
void bad_table() {
  add_kernel("a", [](const Tensor& q, const Tensor& k, const Tensor& v) {
    return attend(q * torch::ones({64}), k, v);  // expect: attention-implicit-promotion
  });
  kernels().emplace("b", [](const Tensor& q, const Tensor& k, const Tensor& v) {
    return attend(q, k * torch::ones({64}), v);  // expect: attention-implicit-promotion
  });
  kernels()["c"] = [](const Tensor& q, const Tensor& k, const Tensor& v) {
    return attend(q, k, v * torch::ones({64}));  // expect: attention-implicit-promotion
  };
}
std::map<at::ScalarType, Kernel>& kernels_by_dtype() {
  static std::map<at::ScalarType, Kernel> all;
  return all;
}
void ok_table_by_dtype() {
  kernels_by_dtype()[at::kFloat] = [](const Tensor& q, const Tensor& k, const Tensor& v) {
    return at::bmm(at::softmax(at::bmm(q * torch::ones({64}), k.transpose(1, 2)), -1), v);
  };
}
Tensor run_a_kernel(const std::string& name, const Tensor& q, const Tensor& k, const Tensor& v) {
  return kernels().at(name)(q, k, v);
}
// A caller casts first: the inputs of the entry are not known.
using Rotation = std::function<Tensor(const Tensor&, const Tensor&)>;
struct Rotations {
  std::vector<Rotation> all;
};
void ok_called_with_casts(Rotations& rotations) {
  rotations.all.push_back([](const Tensor& q, const Tensor& k) {
    return at::bmm(at::softmax(at::bmm(q * torch::ones({64}), k.transpose(1, 2)), -1), k);
  });
}
Tensor run_a_rotation(const Rotations& rotations, const Tensor& q, const Tensor& k) {
  return rotations.all.front()(q.to(at::kFloat), k.to(at::kFloat));
}
// Given back, and kept in a field.
Kernel bad_given_back(const Tensor& x) {
  const Tensor table = torch::ones({64});
  return [table](const Tensor& q, const Tensor& k, const Tensor& v) {
    return attend(q * table, k, v);  // expect: attention-implicit-promotion
  };
}
struct NamedKernel {
  std::string name;
  Kernel run;
};
std::vector<NamedKernel> bad_list_of_kernels() {
  return {{"a", [](const Tensor& q, const Tensor& k, const Tensor& v) {
             return attend(q * torch::ones({64}), k, v);  // expect: attention-implicit-promotion
           }}};
}
// What the object will hold is not known where the lambda is made.
class KeepsKernel {
 public:
  KeepsKernel() {
    table_ = torch::ones({64});
    run_ = [this](const Tensor& q, const Tensor& k, const Tensor& v) { return attend(q * table_, k, v); };
    convert();
  }
  void convert() { table_ = table_.to(at::kHalf); }
  Kernel run_;

 private:
  Tensor table_;
};
// Handed in once and run with what is narrow.
Tensor with_kernel(const Kernel& kernel, const Tensor& q, const Tensor& k) { return kernel(q, k, k); }
Tensor ok_run_by_what_is_seen(const Tensor& x) {
  const Tensor h = x.to(at::kHalf);
  return with_kernel([](const Tensor& q, const Tensor& k, const Tensor& v) { return attend(q, k, v); }, h, h);
}

// A constructor leaves the call, and a method runs it.
struct LeftCall {
  std::function<Tensor(const Tensor&, const Tensor&)> run;
  LeftCall() {
    run = [](const Tensor& q, const Tensor& k) { return attend(q, k, k); };
  }
  Tensor bad_run(const Tensor& q, const Tensor& k) {
    return run(q.to(at::kFloat) * 2, k);  // expect: attention-mixed-dtypes
  }
  Tensor ok_run(const Tensor& q, const Tensor& k) { return run(q * 2, k); }
};
