// A check that an input is float32 leaves open what the others are, and a question is no check.
// The calls are made here, and not by attention.h, whose functions external code may call.
extern "C" int flash_ref_attention_fwd(const DLTensor* q, const DLTensor* k, const DLTensor* v, DLTensor* out,
                                       DLTensor* lse, const void* options);

namespace {

void call(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v) {
  at::Tensor out = v * 1.0;
  DLTensor *a = &at::toDLPack(q)->dl_tensor, *b = &at::toDLPack(k)->dl_tensor,
           *c = &at::toDLPack(v)->dl_tensor;
  flash_ref_attention_fwd(a, b, c, &at::toDLPack(out)->dl_tensor, nullptr, nullptr);
}

void turn(const at::Tensor& x, const at::Tensor& cosine, const at::Tensor& sine) {
  DLTensor* a = &at::toDLPack(x)->dl_tensor;
  flash_ref_rotary(a, &at::toDLPack(cosine)->dl_tensor, &at::toDLPack(sine)->dl_tensor, a, nullptr);
}

}  // namespace

// All of it runs in float32.
void float_kernel(const at::Tensor& x, const at::Tensor& cosine, const at::Tensor& sine) {
  TORCH_CHECK(x.scalar_type() == torch::kFloat, "this kernel is for float32");
  turn(x, cosine, sine);
}

void by_question(const at::Tensor& x, const at::Tensor& k) {
  if (x.scalar_type() == torch::kFloat) {
    call(x.to(torch::kHalf), k.to(torch::kHalf), k.to(torch::kHalf));
  } else {
    call(x, k, k);
  }
}

void by_early_return(const at::Tensor& x, const at::Tensor& table) {
  if (x.scalar_type() != torch::kFloat) return;
  call((x * table).to(torch::kHalf), x.to(torch::kHalf), x.to(torch::kHalf));
}

// The half that the other settings are for.
void bfloat16_only(const at::Tensor& x, const at::Tensor& k) {
  TORCH_CHECK(x.scalar_type() == torch::kBFloat16, "this kernel is for bfloat16");
  call(x, k, k);
}

// What was computed says nothing of the input that it was computed from.
void of_a_result(const at::Tensor& x) {
  at::Tensor sum = x + x;
  TORCH_CHECK(sum.scalar_type() == torch::kFloat, "float32 was expected");
  turn(sum, x, x);
}

void cast_after(const at::Tensor& x, const at::Tensor& cosine) {
  TORCH_CHECK(cosine.scalar_type() == torch::kFloat, "the table must be float32");
  turn((x * cosine).to(x.scalar_type()), x, x);
}
