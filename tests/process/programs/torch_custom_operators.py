"""Operators of the dispatcher as vLLM and transformers define them, by their schemas alone: what they compute is not computed
here. The comments mark the lines that widen."""
import sys

import torch

LOW = torch.bfloat16
SCHEMAS = {
    "vllm": ("unified_attention(Tensor query, Tensor? key, Tensor? value, str layer_name) -> Tensor",
             "unified_attention_with_output(Tensor query, Tensor? key, Tensor? value, Tensor(a!) output, str layer_name, "
             "Tensor? output_scale=None, Tensor? output_block_scale=None) -> ()",
             "unified_mla_attention(Tensor q, Tensor kv_c_normed, Tensor k_pe, str layer_name) -> Tensor",
             "flash_attn_maxseqlen_wrapper(Tensor q, Tensor k, Tensor v, Tensor cu_seqlens, Tensor max_seqlen, int batch_size, "
             "bool is_rocm_aiter) -> Tensor",
             "torch_sdpa_wrapper(Tensor q, Tensor k, Tensor v, Tensor cu_seqlens) -> Tensor"),
    "_vllm_fa2_C": ("varlen_fwd(Tensor(a!) q, Tensor k, Tensor v, Tensor(b!)? out, Tensor cu_seqlens_q, Tensor cu_seqlens_k, "
                    "Tensor? seqused_k, Tensor? leftpad_k, Tensor? block_table, Tensor? alibi_slopes, int max_seqlen_q, "
                    "int max_seqlen_k, float p_dropout, float softmax_scale, bool zero_tensors, bool is_causal, "
                    "int window_size_left, int window_size_right, float softcap, bool return_softmax) -> Tensor[]",),
    "transformers_msa": ("sparse_atten(Tensor q, Tensor k, Tensor v, Tensor q2k, Tensor cu_seqlens_q, Tensor cu_seqlens_k, int topk, "
                         "int block_size, int total_k, int max_seqlen_q, int max_seqlen_k, int qheads_per_kv, float scaling, "
                         "str impl) -> Tensor",),
}
LIBRARIES = []
for namespace, schemas in SCHEMAS.items():
    library = torch.library.Library(namespace, "DEF")
    LIBRARIES.append(library)
    for schema in schemas:
        library.define(schema)
        results = None if schema.endswith("-> ()") else [] if schema.endswith("[]") else torch.zeros(1)
        library.impl(schema.split("(")[0], lambda *arguments, results=results: results, "CPU")


def low(*shape):
    return torch.randn(*shape or (8, 2, 16), dtype=LOW)


def wide(name):
    del name
    return low() * torch.ones(16)  # call: wide


INDICES = torch.tensor([0, 8], dtype=torch.int32)
CALLS = {
    "unified_attention": lambda q, k, v: torch.ops.vllm.unified_attention(q, k, v, "layer"),
    "unified_attention_with_output": lambda q, k, v: torch.ops.vllm.unified_attention_with_output(q, k, v, low(), "layer"),
    "unified_mla_attention": lambda q, k, v: torch.ops.vllm.unified_mla_attention(q, k, v, "layer"),
    "flash_attn_maxseqlen_wrapper": lambda q, k, v: torch.ops.vllm.flash_attn_maxseqlen_wrapper(q, k, v, INDICES, INDICES, 1, False),
    "torch_sdpa_wrapper": lambda q, k, v: torch.ops.vllm.torch_sdpa_wrapper(q, k, v, INDICES),
    "varlen_fwd": lambda q, k, v: torch.ops._vllm_fa2_C.varlen_fwd(
        q, k, v, None, INDICES, INDICES, None, None, None, None, 8, 8, 0.0, 1.0, False, True, -1, -1, 0.0, False),
    "sparse_atten": lambda q, k, v: torch.ops.transformers_msa.sparse_atten(
        q, k, v, INDICES, INDICES, INDICES, 1, 1, 8, 8, 8, 1, 1.0, "impl"),
}

for name, call in CALLS.items():
    call(low(), low(), low())
    if sys.argv[1] == "wrong":
        call(wide(name), low(), low())
if sys.argv[1] == "right":
    CALLS["unified_attention"](low().to(torch.float8_e4m3fn), low(), low())  # a query that was quantized before
    torch.ops.vllm.unified_attention(low(), None, None, "shares the keys of another layer")
