// Attention by hand whose products agree, and products that are no attention.
struct ScoresImpl : torch::nn::Module {
  ScoresImpl() { scale = register_buffer("scale", torch::ones({64})); }
  at::Tensor forward(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                     const std::optional<at::Tensor>& mask) {
    at::Tensor q = (query * scale).type_as(query);
    at::Tensor scores = at::matmul(q, key.type_as(q).transpose(-2, -1)) * 0.125;
    if (mask) scores = scores + *mask;
    at::Tensor weights = scores.softmax(-1).type_as(value);
    return at::matmul(weights, value);
  }
  // Both in float32 on purpose, and back before the second product.
  at::Tensor exact(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value) {
    at::Tensor scores = at::matmul(query.to(torch::kFloat), key.to(torch::kFloat).transpose(-2, -1));
    return at::matmul(torch::nn::functional::softmax(scores, -1).type_as(value), value);
  }
  at::Tensor scale;
};
TORCH_MODULE(Scores);

// The product is no attention score: the softmax is of another value.
at::Tensor project(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& value) {
  at::Tensor hidden = at::matmul(x, weight.type_as(x));
  hidden = x.softmax(-1);
  return at::matmul(hidden, value.type_as(hidden));
}
