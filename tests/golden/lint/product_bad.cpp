// ScaleLLM's rotary: the table keeps the float32 that it was made in, so rotated queries and keys are
// float32, and so are the scores that meet the half values in the second product.
struct RotaryImpl : torch::nn::Module {
  explicit RotaryImpl(int64_t dim) {
    at::Tensor angles = torch::full({16, 64}, 1.0, torch::dtype(torch::kFloat32));
    cos = register_buffer("cos", angles.cos());
  }
  at::Tensor forward(const at::Tensor& x, const at::Tensor& positions) {
    at::Tensor rows = torch::nn::functional::embedding(positions, cos);
    return x * rows;  // expect: attention-mixed-dtypes
  }
  at::Tensor cos;
};
TORCH_MODULE(Rotary);

struct AttentionImpl : torch::nn::Module {
  AttentionImpl() { rotary = register_module("rotary", Rotary(64)); }
  at::Tensor forward(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                     const at::Tensor& positions) {
    at::Tensor q = rotary->forward(query, positions), k = rotary->forward(key, positions);
    at::Tensor scores = at::einsum("qhd,khd->hqk", {q, k});
    scores = scores.to(torch::kFloat).softmax(-1).type_as(q);
    return at::einsum("hqk,khd->qhd", {scores, value});
  }
  Rotary rotary{nullptr};
};
TORCH_MODULE(Attention);
