// ScaleLLM's fix: the table is made in the dtype of the model.
struct RotaryImpl : torch::nn::Module {
  explicit RotaryImpl(at::ScalarType dtype) {
    at::Tensor angles = torch::full({16, 64}, 1.0, torch::dtype(torch::kFloat32));
    cos = register_buffer("cos", angles.cos().to(dtype));
  }
  at::Tensor forward(const at::Tensor& x, const at::Tensor& positions) {
    at::Tensor rows = torch::nn::functional::embedding(positions, cos);
    return x * rows;
  }
  at::Tensor cos;
};
TORCH_MODULE(Rotary);

struct AttentionImpl : torch::nn::Module {
  explicit AttentionImpl(at::ScalarType dtype) { rotary = register_module("rotary", Rotary(dtype)); }
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

// Sums over nothing: an outer product promotes like any multiplication.
at::Tensor outer(const at::Tensor& x) {
  at::Tensor rotated = x * x.cos();
  return at::einsum("i,j->ij", {rotated, rotated.to(torch::kFloat32)});
}
