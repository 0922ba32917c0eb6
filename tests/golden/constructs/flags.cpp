// Flags of an option struct, asked more than once.
#include <ATen/core/Tensor.h>
#include <torch/types.h>

#include "attention.h"

using at::Tensor;

// A flag of an object that a caller passes, with an initialiser: asked twice, the second time for the
// opposite.
namespace flags {
struct Widening {
  bool widens = true;
  bool narrows = false;
};
class BadAskedForTheOpposite {
 public:
  explicit BadAskedForTheOpposite(Widening told) : told_(told) {}
  Tensor forward(Tensor q, const Tensor& k) {
    if (told_.widens) q = q.to(at::kFloat);  // expect: attention-mixed-dtypes
    if (!told_.widens) q = q.to(k.scalar_type());
    return attend(q, k, k);
  }
  Widening told_;
};
class OkAskedForTheSame {
 public:
  explicit OkAskedForTheSame(Widening told) : told_(told) {}
  Tensor forward(Tensor q, const Tensor& k) {
    if (told_.widens) q = q.to(at::kFloat);
    if (told_.widens) q = q.to(k.scalar_type());
    return attend(q, k, k);
  }
  Tensor either(Tensor q, const Tensor& k) {
    if (told_.widens) q = q.to(at::kFloat);
    if (told_.narrows || told_.widens) q = q.to(k.scalar_type());
    return attend(q, k, k);
  }
  Tensor another(Tensor q, const Tensor& k) {
    if (told_.widens) q = q.to(at::kFloat);
    if (!told_.widens) return k;
    return attend(q.to(k.scalar_type()), k, k);
  }
  Widening told_;
};
}  // namespace flags
