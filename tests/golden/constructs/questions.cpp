// A condition that is asked twice: what the first answer widened, the second one narrows, returns or refuses.
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "attention.h"

using at::Tensor;

static Tensor wide(const Tensor& x) { return x.to(at::kFloat) * 2; }
static Tensor narrow(const Tensor& x) { return x.to(at::kHalf); }

// The second is a check, or throws.
void ok_checked(const Tensor& x, bool up) {
  const Tensor h = narrow(x);
  const Tensor q = up ? wide(h) : h;
  TORCH_CHECK(!up, "not with attention");
  attend(q, h, h);
}
void ok_thrown(const Tensor& x, bool up) {
  const Tensor h = narrow(x);
  Tensor q = h;
  if (up) q = wide(h);
  if (up) throw std::runtime_error("not with attention");
  attend(q, h, h);
}
static void refuse(bool up) { TORCH_CHECK(!up, "not with attention"); }
void ok_refused_by_another(const Tensor& x, bool up) {
  const Tensor h = narrow(x);
  Tensor q = h;
  if (up) q = wide(h);
  refuse(up);
  attend(q, h, h);
}
void ok_one_check_for_both(const Tensor& x, bool up) {
  const Tensor h = narrow(x);
  const Tensor q = up ? wide(h) : h, k = up ? wide(h) : h;
  TORCH_CHECK(q.scalar_type() == at::kHalf);
  attend(h, k, h);
}
void bad_checked_for_another_reason(const Tensor& x, bool up, int heads) {
  const Tensor h = narrow(x);
  Tensor q = h;
  if (up) q = h.to(at::kFloat);  // expect: attention-mixed-dtypes
  TORCH_CHECK(q.is_contiguous() && q.dim() == 4 && q.size(1) % heads == 0);
  if (heads > 64) throw std::runtime_error("too many heads");
  attend(q, h, h);
}

// One property of a tensor, asked in different ways.
void ok_sizes(const Tensor& x) {
  const Tensor h = narrow(x);
  Tensor q = h;
  if (x.sizes()[1] == 1) q = wide(q);
  if (x.size(-1) == 1) q = narrow(q);
  attend(q, h, h);
}
void ok_computed(const Tensor& x, int flags) {
  const Tensor h = narrow(x);
  const int bits = flags & 6;
  Tensor q = h;
  if (flags * 2 > 8) q = wide(q);
  if (bits > 4) q = narrow(q);
  attend(q, h, h);
}

// A flag, and its opposite.
void bad_inverted(const Tensor& x, bool up) {
  const Tensor h = narrow(x);
  Tensor q = h;
  if (up) q = h.to(at::kFloat);  // expect: attention-mixed-dtypes
  if (!up) q = narrow(q);
  attend(q, h, h);
}
void bad_same_way(const Tensor& x, bool up) {
  const Tensor h = narrow(x);
  Tensor q = h;
  if (up) q = h.to(at::kFloat);  // expect: attention-mixed-dtypes
  if (up != false) attend(q, h, h);
}
void ok_the_other_way(const Tensor& x, bool up) {
  const Tensor h = narrow(x);
  const Tensor q = up ? wide(h) : h, k = up ? wide(h) : h;
  if (!up) attend(q * k, h, h);
}
struct Block {
  bool up;
  void bad_member(const Tensor& x) {
    const Tensor h = narrow(x);
    const Tensor q = up ? h.to(at::kFloat) : h;  // expect: attention-mixed-dtypes
    if (up) attend(q, h, h);
  }
  void ok_member(const Tensor& x) {
    const Tensor h = narrow(x);
    const Tensor q = up ? wide(h) : h;
    if (!up) attend(q, h, h);
  }
  // Another function may set it in between.
  void ok_set(const Tensor& x) {
    const Tensor h = narrow(x);
    Tensor q = h;
    if (up) q = wide(h);
    set();
    if (!up) q = narrow(q);
    attend(q, h, h);
  }
  void set();
};
void ok_alternating(const Tensor& x, bool up, int layers) {
  const Tensor h = narrow(x);
  Tensor q = h;
  for (int i = 0; i < layers; ++i) {
    if (up) q = q.to(at::kFloat);
    if (!up) q = narrow(q);
    up = !up;
  }
  attend(narrow(q), h, h);
}
// Whichever it is, it is half.
void bad_half_either_way(const Tensor& x) {
  const Tensor h = narrow(x), t = at::rand({8});
  Tensor q = h.add(1);
  if (x.size(0) > 1) q = (q * t).to(at::kHalf);
  q = q.add(2);
  if (x.size(0) > 2) q = (q * t).to(at::kHalf);
  q = q.add(3);
  if (x.size(0) > 3) q = (q * t).to(at::kHalf);
  q = q * t;  // expect: attention-implicit-promotion
  attend(q, h, h);
}

// Both in each round of a loop.
void ok_each_round(const Tensor& x, bool up, int layers) {
  const Tensor h = narrow(x);
  Tensor q = h;
  for (int i = 0; i < layers; ++i) {
    if (up) q = q.to(at::kFloat);
    q = q + 1;
    if (up) q = narrow(q);
  }
  attend(q, h, h);
}
void ok_chosen_each_round(const Tensor& x, bool up, int layers) {
  const Tensor h = narrow(x);
  Tensor q = h;
  for (int i = 0; i < layers; ++i) {
    const Tensor t = up ? wide(q) : q;
    q = up ? narrow(t) : t;
  }
  attend(q, h, h);
}
void ok_residual(std::vector<Tensor> weights, const Tensor& x, bool wide_residual) {
  Tensor h = narrow(x);
  for (const Tensor& w : weights) {
    Tensor r = wide_residual ? h.to(at::kFloat) : h;
    r = r + w.to(r.scalar_type());
    h = wide_residual ? narrow(r) : r;
  }
  attend(h, h, h);
}
void ok_while(const Tensor& x, bool up) {
  Tensor h = narrow(x);
  int i = 0;
  while (i++ < 4) {
    const Tensor r = h;
    if (up) h = h.to(at::kFloat);
    h = h + r;
    if (up) h = h.to(r.scalar_type());
  }
  attend(h, h, h);
}
void bad_another_flag_each_round(const Tensor& x, bool up, bool down, int layers) {
  const Tensor h = narrow(x);
  Tensor q = h;
  for (int i = 0; i < layers; ++i) {
    if (up) q = q.to(at::kFloat);  // expect: attention-mixed-dtypes
    if (down) q = q - 1;
  }
  attend(q, h, h);
}

// A call that asks.
void ok_size(const Tensor& x) {
  Tensor q = narrow(x);
  if (x.size(-1) > 128) q = wide(q);
  q = q + 1;
  if (x.size(-1) > 128) q = narrow(q);
  attend(q, q, q);
}
void ok_size_of_a_copy(const Tensor& x) {
  Tensor q = narrow(x);
  const Tensor h = q;
  if (x.size(1) > 8) q = wide(q);
  if (!(h.size(1) <= 8)) q = narrow(q);
  attend(q, h, h);
}
void ok_list(const Tensor& x, const std::vector<Tensor>& tables) {
  const Tensor h = narrow(x);
  Tensor q = h;
  if (!tables.empty()) q = q.to(at::kFloat);
  for (const Tensor& each : tables) q = q + each.to(at::kFloat);
  if (tables.size() > 0) q = narrow(q);
  attend(q, h, h);
}
void ok_bits(const Tensor& x, int flags) {
  const Tensor h = narrow(x);
  Tensor q = h;
  if (flags & 2) q = wide(q);
  if ((flags & 2) != 0) q = narrow(q);
  attend(q, h, h);
}
void ok_pointer(const Tensor& x, const Tensor* table) {
  const Tensor h = narrow(x);
  Tensor q = h;
  if (table) q = q.to(at::kFloat) * *table;
  if (table != nullptr) q = narrow(q);
  attend(q, h, h);
}
void ok_text(const Tensor& x, const char* mode) {
  const Tensor h = narrow(x);
  Tensor q = h;
  if (!std::strcmp(mode, "float")) q = wide(q);
  if (std::strcmp(mode, "float") == 0) q = narrow(q);
  attend(q, h, h);
}
struct Config {
  bool exact() const;  // by another file
  bool training() const;
  std::string mode() const { return mode_; }
  std::string mode_;
};
void ok_getter(const Tensor& x, const Config& config) {
  const Tensor h = narrow(x);
  Tensor q = h;
  if (config.exact()) q = wide(q);
  if (config.exact()) q = narrow(q);
  attend(q, h, h);
}
static Tensor prepared(const Tensor& x, const Config& c) { return c.exact() ? wide(x) : x; }
static Tensor finished(const Tensor& x, const Config& c) { return c.exact() == false ? x : narrow(x); }
void ok_getter_of_two_functions(const Tensor& x, const Config& config) {
  const Tensor h = narrow(x);
  attend(finished(prepared(h, config) + 1, config), h, h);
}
void ok_getter_of_text(const Tensor& x, const Config& config) {
  const Tensor h = narrow(x);
  Tensor q = h;
  if (config.mode() == "float") q = wide(q);
  if (config.mode() == "float") q = narrow(q);
  attend(q, h, h);
}
// Known miss: which dimension is asked for is not looked at.
void ok_another_size(const Tensor& x) {
  const Tensor h = narrow(x);
  Tensor q = h;
  if (x.size(1) > 8) q = h.to(at::kFloat);
  if (x.size(2) > 8) q = narrow(q);
  attend(q, h, h);
}

// Several comparisons lead to one case of a switch.
enum class Mode { kFloat, kExact, kHalf };
void ok_two_switches(const Tensor& x, Mode mode) {
  const Tensor h = narrow(x);
  Tensor q = h;
  switch (mode) {
    case Mode::kFloat:
    case Mode::kExact:
      q = wide(q);
      break;
    default:
      break;
  }
  switch (mode) {
    case Mode::kFloat:
    case Mode::kExact:
      q = narrow(q);
      break;
    case Mode::kHalf:
      break;
  }
  attend(q, h, h);
}
void ok_switch_and_if(const Tensor& x, Mode mode) {
  const Tensor h = narrow(x);
  Tensor q = h;
  switch (mode) {
    case Mode::kFloat:
    case Mode::kExact:
      q = wide(q);
      break;
    default:
      break;
  }
  if (mode != Mode::kHalf) q = narrow(q);
  attend(q, h, h);
}
void bad_another_switch(const Tensor& x, Mode mode, Mode other) {
  const Tensor h = narrow(x);
  Tensor q = h;
  switch (mode) {
    case Mode::kFloat:
    case Mode::kExact:
      q = h.to(at::kFloat);  // expect: attention-mixed-dtypes
      break;
    default:
      break;
  }
  if (other != Mode::kHalf) q = narrow(q);
  attend(q, h, h);
}
void ok_nested(const Tensor& x, bool a, bool b) {
  const Tensor h = narrow(x);
  Tensor q = h;
  if (a && b) q = wide(q);
  if (a) {
    if (b) q = narrow(q);
  }
  attend(q, h, h);
}
// All ways of what was asked in between have met again.
void bad_asked_in_between(const Tensor& x, bool up, int mode) {
  const Tensor h = narrow(x);
  Tensor q = h, k = h;
  if (mode == 1) {
    if (up) k = k + 1;
  } else if (mode == 2) {
    k = k + 2;
  }
  if (up) q = h.to(at::kFloat);  // expect: attention-mixed-dtypes
  attend(q, k, h);
}
// A copy answers as the original does, until either may have changed.
struct Flags {
  bool up;
  int level;
  void load();
};
static Tensor finish(const Tensor& x, Flags flags) { return flags.up ? narrow(x) : x; }
void ok_copied_flags(const Tensor& x, const Flags& flags) {
  const Tensor h = narrow(x);
  Tensor q = h;
  if (flags.up) q = wide(q);
  attend(finish(q, flags), h, h);
}
void ok_assigned_flags(const Tensor& x, const Flags& flags) {
  const Tensor h = narrow(x);
  Flags own;
  own = flags;
  Tensor q = h;
  if (own.up) q = wide(q);
  if (flags.up) q = narrow(q);
  attend(q, h, h);
}
void ok_loaded_flags(const Tensor& x, Flags flags) {
  const Tensor h = narrow(x);
  Tensor q = h;
  if (flags.up) q = wide(q);
  flags.load();
  if (!flags.up) q = narrow(q);
  attend(q, h, h);
}
void bad_copied_flags(const Tensor& x, const Flags& flags) {
  const Tensor h = narrow(x);
  const Flags own = flags;
  Tensor q = h;
  if (own.up) q = h.to(at::kFloat);  // expect: attention-mixed-dtypes
  if (!flags.up) q = narrow(q);
  attend(q, h, h);
}
// A number is true without being 1.
void ok_level(const Tensor& x, const Flags& flags) {
  const Tensor h = narrow(x);
  Tensor q = h;
  if (flags.level == 1) q = wide(q);
  if (flags.level != 2) q = narrow(q);
  attend(q, h, h);
}
