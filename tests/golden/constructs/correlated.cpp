// Two different questions that may have one answer: what came under one of them is not known to pass the
// other. Options that a user chooses are independent, and what was made behind a question is not asked it
// again.
#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "attention.h"

using at::Tensor;

static Tensor wide(const Tensor& x) { return x.to(at::kFloat) * 2; }
static Tensor narrow(const Tensor& x) { return x.to(at::kHalf); }

// Two methods of one object.
void ok_empty_text(const Tensor& x, const std::string& mode) {
  const Tensor h = narrow(x);
  Tensor q = h;
  if (!mode.empty()) q = wide(q);
  if (mode != "") q = narrow(q);
  attend(q, h, h);
}
void ok_element_of_a_list(const Tensor& x, const std::vector<bool>& layers, int layer) {
  const Tensor h = narrow(x);
  Tensor q = h;
  if (layers[layer]) q = wide(q);
  if (layers.at(layer)) q = narrow(q);
  attend(q, h, h);
}
void ok_key(const Tensor& x, const std::map<std::string, int>& options) {
  const Tensor h = narrow(x);
  Tensor q = h;
  if (options.find("exact") != options.end()) q = wide(q);
  if (options.count("exact") > 0) q = narrow(q);
  attend(q, h, h);
}
void ok_kind_of_variant(const Tensor& x, const std::variant<int, double>& scale) {
  const Tensor h = narrow(x);
  Tensor q = h;
  if (std::holds_alternative<double>(scale)) q = wide(q);
  if (scale.index() == 1) q = narrow(q);
  attend(q, h, h);
}
void ok_largest(const Tensor& x, int a, int b) {
  const Tensor h = narrow(x);
  Tensor q = h;
  if (std::max(a, b) > 8) q = wide(q);
  if (a > 8 || b > 8) q = narrow(q);
  attend(q, h, h);
}
class Config {
 public:
  bool exact() const;
  bool training() const;
};
// Known miss: two methods that have nothing to do with each other.
void ok_another_getter(const Tensor& x, const Config& config) {
  const Tensor h = narrow(x);
  Tensor q = h;
  if (config.exact()) q = wide(q);
  if (config.training()) q = narrow(q);
  attend(q, h, h);
}

// Of tensors.
void ok_device(const Tensor& x, at::Device device) {
  const Tensor h = narrow(x);
  Tensor q = h;
  if (device.type() == at::kCPU) q = wide(q);
  if (device.is_cuda()) attend(q, h, h);
}
void ok_elements(const Tensor& x) {
  const Tensor h = narrow(x);
  Tensor q = h;
  if (x.dim() == 3) q = wide(q);
  if (x.sizes().size() != 3) attend(q, h, h);
}
// A caller that decodes passes one token.
void ok_argument_and_shape(const Tensor& x, bool prefills) {
  const Tensor h = narrow(x);
  Tensor q = h;
  if (prefills) q = wide(q);
  if (x.size(1) == 1) attend(q, h, h);
}

// A loop that ran, and a question whether it did.
void ok_ran(const Tensor& x, const std::vector<Tensor>& more) {
  const Tensor h = narrow(x);
  Tensor q = h;
  for (const Tensor& each : more) q = wide(q) + each;
  if (!more.empty()) q = narrow(q);
  attend(q, h, h);
}
void ok_ran_so_often(const Tensor& x, int count) {
  const Tensor h = narrow(x);
  Tensor q = h;
  for (int i = 0; i < count; ++i) q = wide(q);
  if (count > 0) q = narrow(q);
  attend(q, h, h);
}
void ok_counted(const Tensor& x, const std::vector<Tensor>& more) {
  const Tensor h = narrow(x);
  Tensor q = h;
  int count = 0;
  for (const Tensor& each : more) {
    if (!each.defined()) continue;
    q = wide(q) + each;
    ++count;
  }
  if (count) q = narrow(q);
  attend(q, h, h);
}
void ok_left(const Tensor& x, const Config* configs, int count) {
  const Tensor h = narrow(x);
  Tensor q = h;
  bool found = false;
  for (int i = 0; i < count && !found; ++i) {
    if (!configs[i].exact()) continue;
    q = wide(q);
    found = true;
  }
  if (found) q = narrow(q);
  attend(q, h, h);
}
void ok_filled(const Tensor& x, int mode) {
  const Tensor h = narrow(x);
  Tensor q = h;
  std::vector<Tensor> before;
  if (mode > 2) {
    before.push_back(q);
    q = wide(q);
  }
  if (!before.empty()) q = q.to(before.back().scalar_type());
  attend(q, h, h);
}
void bad_ran(const Tensor& x, const std::vector<Tensor>& more) {
  const Tensor h = narrow(x);
  Tensor q = h;
  for (const Tensor& each : more) q = q * each.to(at::kFloat).unsqueeze(0);  // expect: attention-mixed-dtypes
  attend(q, h, h);
}
void bad_in_a_round(const Tensor& x, int count) {
  const Tensor h = narrow(x);
  Tensor q = h;
  for (int i = 0; i < count; ++i) {
    attend(q, h, h);
    q = q.to(at::kFloat);  // expect: attention-mixed-dtypes
  }
}

// A flag beside the tensor.
static std::pair<Tensor, bool> paired(const Tensor& x, bool up) {
  if (up) return {wide(x), true};
  return {x, false};
}
void ok_paired(const Tensor& x, bool up) {
  const Tensor h = narrow(x);
  auto [q, is_wide] = paired(h, up);
  if (is_wide) q = narrow(q);
  attend(q, h, h);
}
struct Widened {
  Tensor tensor;
  bool is_wide = false;
};
static Widened in_a_struct(const Tensor& x, int mode) {
  if (mode > 2) return {wide(x), true};
  return {x, false};
}
void ok_in_a_struct(const Tensor& x, int mode) {
  const Tensor h = narrow(x);
  const Widened q = in_a_struct(h, mode);
  if (!q.is_wide) attend(q.tensor, h, h);
}
enum class Kind { kPlain, kWide };
static std::tuple<Kind, Tensor> with_kind(const Tensor& x, int mode) {
  return mode > 3 ? std::make_tuple(Kind::kWide, wide(x)) : std::make_tuple(Kind::kPlain, x);
}
void ok_with_kind(const Tensor& x, int mode) {
  const Tensor h = narrow(x);
  const auto [kind, q] = with_kind(h, mode);
  if (kind == Kind::kPlain) attend(q, h, h);
}
static std::pair<Tensor, bool> narrower(const Tensor& x, bool up) {
  if (up) return {x.to(at::kFloat), true};  // expect: attention-mixed-dtypes
  return {x, false};
}
void bad_paired(const Tensor& x, bool up) {
  const Tensor h = narrow(x);
  const auto [q, is_wide] = narrower(h, up);
  attend(q, h, h);
}
void ok_saved(const Tensor& x, bool up) {
  const Tensor h = narrow(x);
  Tensor q = h;
  std::optional<at::ScalarType> before;
  if (up) {
    before = q.scalar_type();
    q = wide(q);
  }
  attend(q.to(before.value_or(q.scalar_type())), h, h);
}
// Fields that are set alike.
struct Initialised {
  bool is_wide;
  at::ScalarType dtype;
  explicit Initialised(bool up) : is_wide(up), dtype(up ? at::kFloat : at::kHalf) {}
  void forward(const Tensor& x) const {
    const Tensor h = narrow(x);
    Tensor q = h.to(dtype);
    if (is_wide) q = narrow(q);
    attend(q, h, h);
  }
};
struct SetByAMode {
  bool is_wide = false;
  at::ScalarType dtype;
  explicit SetByAMode(int mode) {
    is_wide = mode == 2;
    dtype = is_wide ? at::kFloat : at::kHalf;
  }
  void forward(const Tensor& x) const {
    const Tensor h = narrow(x);
    Tensor q = is_wide ? wide(h) : h;
    if (dtype == at::kFloat) q = narrow(q);
    attend(q, h, h);
  }
};
struct SetLater {
  bool is_wide = false;
  at::ScalarType dtype = at::kHalf;
  void set(bool up) {
    is_wide = up;
    dtype = up ? at::kFloat : at::kHalf;
  }
  void forward(const Tensor& x) const {
    const Tensor h = narrow(x);
    Tensor q = is_wide ? wide(h) : h;
    if (dtype == at::kFloat) q = narrow(q);
    attend(q, h, h);
  }
};
struct Made {
  bool is_wide;
  at::ScalarType dtype;
  static Made made(bool up) {
    Made out;
    out.is_wide = up;
    out.dtype = up ? at::kHalf : at::ScalarType::Undefined;
    return out;
  }
  void forward(const Tensor& x) const {
    const Tensor h = narrow(x);
    Tensor q = is_wide ? wide(h) : h;
    if (dtype != at::ScalarType::Undefined) q = q.to(at::kHalf);
    attend(q, h, h);
  }
};
struct Filled {
  bool is_wide = false;
  bool is_narrowed = false;
};
void fill(Filled& out, int mode) {
  out.is_wide = mode == 2;
  out.is_narrowed = mode > 1;
}
void ok_filled(const Tensor& x, const Filled& config) {
  const Tensor h = narrow(x);
  Tensor q = config.is_wide ? wide(h) : h;
  if (config.is_narrowed) q = narrow(q);
  attend(q, h, h);
}
struct Usual {
  bool is_raised = false;
  bool is_lowered = false;
};
Usual usual() {
  Usual out;
  out.is_raised = false;
  out.is_lowered = true;
  return out;
}
void bad_of_constants(const Tensor& x, const Usual& config) {
  const Tensor h = narrow(x);
  Tensor q = h;
  if (config.is_raised) q = q.to(at::kFloat);  // expect: attention-mixed-dtypes
  if (config.is_lowered) q = narrow(q);
  attend(q, h, h);
}
struct Named {
  std::string precision = "half";
  bool flash = true;
  bool norm = false;
};
void ok_named(const Tensor& x, const Named& config) {
  const Tensor h = narrow(x);
  Tensor q = h;
  if (config.precision.compare("float") == 0) q = wide(q);
  if (config.precision == "float") q = narrow(q);
  attend(q, h, h);
}
void bad_named(const Tensor& x, const Named& config) {
  const Tensor h = narrow(x);
  Tensor q = h;
  if (config.precision == "float") q = q.to(at::kFloat);  // expect: attention-mixed-dtypes
  attend(q, h, h);
}

// Options are independent of each other, and of the shapes that come later.
void bad_two_options(const Tensor& x, const Named& config) {
  const Tensor h = narrow(x);
  Tensor q = h;
  if (config.norm) q = q.to(at::kFloat);  // expect: attention-mixed-dtypes
  if (config.flash) attend(q, h, h);
}
struct Layer : torch::nn::Module {
  explicit Layer(bool norm) : norm_(norm) {}
  void forward(const Tensor& x) const {
    const Tensor h = narrow(x);
    Tensor q = h;
    if (norm_) q = q.to(at::kFloat);  // expect: attention-mixed-dtypes
    if (x.size(1) > 1) attend(q, h, h);
  }
  bool norm_;
};
void bad_checked(const Tensor& x, bool up) {
  const Tensor h = narrow(x);
  Tensor q = h;
  if (up) q = q.to(at::kFloat);  // expect: attention-mixed-dtypes
  TORCH_CHECK(x.dim() == 4 && x.size(3) % 8 == 0);
  try {
    attend(q, h, h);
  } catch (const std::exception&) {
  }
}

// Made behind a question: it is not asked again.
void bad_else_if(const Tensor& x, int mode) {
  const Tensor h = narrow(x);
  Tensor q = h;
  if (mode == 0) {
    q = h * 2;
  } else if (mode == 1) {
    q = h.to(at::kFloat);  // expect: attention-mixed-dtypes
  } else if (mode == 2) {
    q = h * 3;
  }
  attend(q, h, h);
}
void bad_case(const Tensor& x, int mode) {
  const Tensor h = narrow(x);
  Tensor q = h;
  switch (mode) {
    case 0:
      q = h * 2;
      break;
    case 1:
      q = h.to(at::kFloat);  // expect: attention-mixed-dtypes
      break;
    default:
      break;
  }
  attend(q, h, h);
}
void bad_after_return(const Tensor& x, const Config& config) {
  const Tensor h = narrow(x);
  Tensor q = h;
  if (config.exact()) return;
  if (config.training()) q = h.to(at::kFloat);  // expect: attention-mixed-dtypes
  attend(q, h, h);
}
void ok_returned_after(const Tensor& x, const Config& config) {
  const Tensor h = narrow(x);
  Tensor q = h;
  if (config.training()) q = wide(h);
  if (config.exact()) return;
  attend(q, h, h);
}
void bad_nested(const Tensor& x, const Config& config) {
  const Tensor h = narrow(x);
  if (config.exact()) {
    Tensor q = h;
    if (x.size(1) > 8) q = h.to(at::kFloat);  // expect: attention-mixed-dtypes
    attend(q, h, h);
  }
}
