// Attention by hand without a rotary embedding: that the first product is attention shows in the softmax and
// the product after it.
struct ScoresImpl : torch::nn::Module {
  ScoresImpl() { scale = register_buffer("scale", torch::ones({64})); }
  at::Tensor forward(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                     const std::optional<at::Tensor>& mask) {
    at::Tensor q = query * scale;  // expect: attention-mixed-dtypes
    at::Tensor scores = at::matmul(q, key.transpose(-2, -1)) * 0.125;
    if (mask) scores = scores + *mask;
    at::Tensor weights = scores.softmax(-1).type_as(value);
    return at::matmul(weights, value);
  }
  at::Tensor scale;
};
TORCH_MODULE(Scores);
