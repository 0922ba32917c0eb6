// ScaleLLM's fix: the table is made in the dtype of the model.
struct RotaryImpl : torch::nn::Module {
  explicit RotaryImpl(at::ScalarType dtype) {
    at::Tensor angles = torch::full({16, 64}, 1.0, torch::dtype(torch::kFloat32));
    cos = register_buffer("cos", angles.cos().to(dtype));
  }
  at::Tensor forward(const at::Tensor& x) { return x * cos; }
  at::Tensor cos;
};
TORCH_MODULE(Rotary);

struct AttentionImpl : torch::nn::Module {
  explicit AttentionImpl(at::ScalarType dtype) { rotary = register_module("rotary", Rotary(dtype)); }
  at::Tensor forward(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value) {
    at::Tensor q = rotary->forward(query), k = rotary->forward(key);
    at::Tensor scores = at::einsum("qhd,khd->hqk", {q, k});
    scores = scores.to(torch::kFloat).softmax(-1).type_as(q);
    return at::einsum("hqk,khd->qhd", {scores, value});
  }
  Rotary rotary{nullptr};
};
TORCH_MODULE(Attention);

at::Tensor attend_by_hand(Attention attention, const at::Tensor& query, const at::Tensor& key,
                          const at::Tensor& value) {
  return attention->forward(query, key, value);
}

// Sums over nothing: an outer product promotes like any multiplication.
at::Tensor outer(const at::Tensor& x) {
  at::Tensor rotated = x * x.cos();
  return at::einsum("i,j->ij", {rotated, rotated.to(torch::kFloat32)});
}
