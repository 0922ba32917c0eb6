// Read by the report tests as the source of their findings; never compiled.
void attend(at::Tensor q, at::Tensor k, at::Tensor v) {
  auto scale = at::full({1, 8, 1, 1}, 4.0).log();
  q = q * scale;
  q.to(k.dtype());

  flash_ref_attention_fwd(q, k, v);
}
