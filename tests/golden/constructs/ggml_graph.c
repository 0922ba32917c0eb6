/* A graph of ggml in C: tensors in variables and arrays, made by functions of their own. */
#include "../lint/fixtures/ggml.h"

struct layer {
  tensor_t wq, wk, wv;
};

static tensor_t make_mask(context_t ctx, enum ggml_type type) {
  tensor_t mask = ggml_new_tensor_2d(ctx, type, 64, 64); /* // expect: attention-mask-dtype */
  ggml_set_name(mask, "mask");
  return mask;
}

static tensor_t attend(context_t ctx, const struct layer* layer, tensor_t x, tensor_t mask) {
  tensor_t positions = ggml_new_tensor_1d(ctx, GGML_TYPE_I32, 64);
  tensor_t q = ggml_mul_mat(ctx, layer->wq, x);
  tensor_t kv[2];
  kv[0] = ggml_mul_mat(ctx, layer->wk, x);
  kv[1] = ggml_cast(ctx, ggml_mul_mat(ctx, layer->wv, x), GGML_TYPE_F16);
  q = ggml_rope_ext(ctx, q, positions, NULL, 64, 0, 0, 1e4f, 1, 0, 1, 32, 1);
  return ggml_flash_attn_ext(ctx, q, kv[0], kv[1], mask, 1.0f, 0.0f, 0.0f);
}

tensor_t wide(context_t ctx, const struct layer* layer, tensor_t x) {
  return attend(ctx, layer, x, make_mask(ctx, GGML_TYPE_F32));
}

tensor_t ok_narrow(context_t ctx, const struct layer* layer, tensor_t x) {
  return attend(ctx, layer, x, make_mask(ctx, GGML_TYPE_F16));
}

tensor_t ok_cast(context_t ctx, const struct layer* layer, tensor_t x, tensor_t mask) {
  if (mask) mask = ggml_cast(ctx, mask, GGML_TYPE_F16);
  return attend(ctx, layer, x, mask);
}

tensor_t narrow_query(context_t ctx, const struct layer* layer, tensor_t x) {
  tensor_t q = ggml_mul_mat(ctx, layer->wq, x);
  q = ggml_cast(ctx, q, GGML_TYPE_F16); /* // expect: attention-unsupported-dtype */
  return ggml_flash_attn_ext(ctx, q, layer->wk, layer->wv, NULL, 1.0f, 0.0f, 0.0f);
}
