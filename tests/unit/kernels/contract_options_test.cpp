// The tensors among the options: refused exactly where rules/contracts/flash_ref.json refuses them, forward
// and backward.
#include <functional>

#include "rules/contracts/contract.h"
#include "tests/catch.h"
#include "tests/unit/kernels/backward_calls.h"
#include "tests/unit/kernels/kvcache_calls.h"

using namespace flash_ref_test;
using dtype_guard::Dtype;

namespace {

// Zeros of whatever dtype.
struct Zeros {
  explicit Zeros(std::vector<std::int64_t> the_shape) : shape(std::move(the_shape)), memory(4096) {
    tensor.data = memory.data();
    tensor.device.device_type = static_cast<DLDeviceType>(1);
    tensor.ndim = static_cast<int>(shape.size());
    tensor.shape = shape.data();
  }

  std::vector<std::int64_t> shape;
  std::vector<std::uint64_t> memory;
  DLTensor tensor{};
};

template <class Arguments>
int refusals(const char* api, const char* role, Dtype of_first, std::vector<std::int64_t> shape,
             const std::function<void(Arguments&, const DLTensor*)>& give) {
  static const dtype_guard::ContractSet set = dtype_guard::load_contracts(FLASH_REF_CONTRACTS);
  const dtype_guard::Api* contract = set.find(api);
  REQUIRE(contract != nullptr);
  const dtype_guard::Operand* rule = nullptr;
  for (const auto& option : contract->options) {
    if (option.role == role) rule = &option;
  }
  REQUIRE(rule != nullptr);
  int refused = 0;
  for (Dtype dtype : dtype_guard::all_dtypes()) {
    const auto type = dtype_guard::to_dlpack(dtype);
    if (!type) continue;
    Arguments arguments;
    Zeros zeros(shape);
    zeros.tensor.dtype = {type->code, type->bits, type->lanes};
    give(arguments, &zeros.tensor);
    const bool accepted = rule->takes(dtype, of_first);
    INFO(api << ": options." << role << " as " << name(dtype));
    const Outcome outcome = arguments.call();
    CHECK(outcome.status == (accepted ? FLASH_REF_OK : FLASH_REF_BAD_DTYPE));
    CHECK(outcome.written == accepted);
    const std::string said =
        std::string(api) + ": options." + role + " has dtype " + std::string(name(dtype));
    CHECK((outcome.message.rfind(said + "; accepted: ", 0) == 0) == !accepted);
    refused += accepted ? 0 : 1;
  }
  return refused;
}

template <class Arguments>
void require_attention(const char* api) {
  CHECK(refusals<Arguments>(api, "mask", Dtype::kFloat16, {2, 4, 5, 7},
                            [](auto& a, const DLTensor* t) { a.options.mask = t; }) > 5);
  CHECK(refusals<Arguments>(api, "alibi_slopes", Dtype::kFloat16, {4},
                            [](auto& a, const DLTensor* t) { a.options.alibi_slopes = t; }) > 5);
}

}  // namespace

TEST_CASE("tensors among the options are refused exactly where the contract refuses them") {
  require_attention<AttentionArguments>("flash_ref_attention_fwd");
  require_attention<AttentionBwdArguments>("flash_ref_attention_bwd");
  require_attention<VarlenFwdArguments>("flash_ref_attention_varlen_fwd");
  require_attention<VarlenBwdArguments>("flash_ref_attention_varlen_bwd");
  CHECK(refusals<RotaryArguments>("flash_ref_rotary", "seqlen_offsets", Dtype::kBFloat16, {2},
                                  [](auto& a, const DLTensor* t) { a.options.seqlen_offsets = t; }) > 5);
}
