"""Calls of each family of attention, rotary and cache operators, by the schemas that its library registers: with all operands, with
each optional one absent, with all absent, and each of these with one operand in a dtype that no kernel takes. What they
compute is not computed here. Each call is on a line of its own of `calls.py`, which there need not be.

Prints a list of JSON: the line, the call, the dtypes that were given by role, and the role that was wrong.
"""
import json

import torch

LOW, WRONG = torch.bfloat16, torch.int16
RIGHT = {"cu_seqlens_q": torch.int32, "cu_seqlens_k": torch.int32, "block_table": torch.int32, "leftpad_k": torch.int32, "seqused_k": torch.int32,
         "seqlens_k": torch.int32, "positions": torch.int64, "lse": torch.float32, "alibi_slopes": torch.float32}
ROLES = {"query": "q", "key": "k", "value": "v", "softmax_lse": "lse", "logsumexp": "lse", "key_cache": "k_cache", "value_cache": "v_cache",
         "block_tables": "block_table", "seq_lens": "seqlens_k", "cos_sin_cache": "cos_sin", "attn_mask": "mask", "attn_bias": "bias",
         "cum_seq_q": "cu_seqlens_q", "cum_seq_k": "cu_seqlens_k", "grad_out": "dout", "grad_out_": "dout"}
WINDOW = "int window_size_left, int window_size_right, float softcap"
VARLEN = "Tensor q, Tensor k, Tensor v, Tensor cu_seqlens_q, Tensor cu_seqlens_k, int max_seqlen_q, int max_seqlen_k, "
GRADIENTS = "Tensor dout, Tensor q, Tensor k, Tensor v, Tensor out, Tensor softmax_lse, Tensor(a!)? dq, Tensor(b!)? dk, Tensor(c!)? dv, "
PAGED = ("Tensor query, Tensor key_cache, Tensor value_cache, int num_kv_heads, float scale, Tensor block_tables, Tensor seq_lens, int block_size, "
         "int max_seq_len, Tensor? alibi_slopes, str kv_cache_dtype, Tensor k_scale, Tensor v_scale) -> ()")
SCHEMAS = {
    "flash_attn": (
        f"_flash_attn_forward(Tensor q, Tensor k, Tensor v, float dropout_p, float softmax_scale, bool causal, {WINDOW}, Tensor? alibi_slopes, "
        "bool return_softmax) -> Tensor",
        f"_flash_attn_varlen_forward({VARLEN}float dropout_p, float softmax_scale, bool causal, {WINDOW}, Tensor? alibi_slopes, "
        "bool return_softmax, Tensor? block_table, Tensor? leftpad_k, Tensor? seqused_k, bool zero_tensors) -> Tensor",
        f"_flash_attn_backward({GRADIENTS}float dropout_p, float softmax_scale, bool causal, {WINDOW}, Tensor? alibi_slopes, bool deterministic, "
        "Tensor? rng_state) -> Tensor",
        f"_flash_attn_varlen_backward({GRADIENTS}Tensor cu_seqlens_q, Tensor cu_seqlens_k, int max_seqlen_q, int max_seqlen_k, float dropout_p, "
        f"float softmax_scale, bool causal, {WINDOW}, Tensor? alibi_slopes, bool deterministic, Tensor? rng_state, bool zero_tensors) -> Tensor"),
    "xformers_flash": (
        "flash_fwd(Tensor query, Tensor key, Tensor value, Tensor? cu_seqlens_q, Tensor? cu_seqlens_k, Tensor? seqused_k, int max_seqlen_q, "
        "int max_seqlen_k, float p, float softmax_scale, bool is_causal, int window_left, int window_right, bool return_softmax, "
        "Tensor? block_tables) -> Tensor",),
    "_C": (
        "rotary_embedding(Tensor positions, Tensor(a!) query, Tensor(b!)? key, int head_size, Tensor cos_sin_cache, bool is_neox) -> ()",
        f"paged_attention_v1(Tensor(a!) out, {PAGED}",
        f"paged_attention_v2(Tensor(a!) out, Tensor(b!) exp_sums, Tensor(c!) max_logits, Tensor(d!) tmp_out, {PAGED}"),
    "_C_cache_ops": (
        "reshape_and_cache_flash(Tensor key, Tensor value, Tensor(a!) key_cache, Tensor(b!) value_cache, Tensor slot_mapping, "
        "str kv_cache_dtype, Tensor k_scale, Tensor v_scale) -> ()",),
    "_vllm_fa2_C": (
        "varlen_fwd(Tensor(a!) q, Tensor k, Tensor v, Tensor(b!)? out, Tensor cu_seqlens_q, Tensor cu_seqlens_k, Tensor? seqused_k, "
        "Tensor? leftpad_k, Tensor? block_table, Tensor? alibi_slopes, int max_seqlen_q, int max_seqlen_k, float p_dropout, "
        "float softmax_scale, bool zero_tensors, bool is_causal, int window_size_left, int window_size_right, float softcap, "
        "bool return_softmax) -> Tensor",),
    "vllm": (
        "unified_attention(Tensor query, Tensor? key, Tensor? value, str layer_name) -> Tensor",),
}
# PyTorch's own, of which a CPU has no kernel.
OWN = ("_flash_attention_forward", "_efficient_attention_forward", "_scaled_dot_product_efficient_attention",
       "_scaled_dot_product_efficient_attention_backward", "_scaled_dot_product_flash_attention")
# Those that it has one of.
REAL = ("scaled_dot_product_attention", "_scaled_dot_product_flash_attention_for_cpu")
SHAPES = {"mask": (2, 2)}
# autograd Functions, with what they are given; a question mark where that may be None
FLASH = (0.0, 0.5, False, (-1, -1), 0.0, "alibi_slopes?", False, False)
TABLES = ("cos", "sin", False, False, "offsets?", "cu_seqlens?", None)
FUNCTIONS = {
    "FlashAttnFunc": ("q", "k", "v", *FLASH),
    "FlashAttnVarlenFunc": ("q", "k", "v", "cu_seqlens_q", "cu_seqlens_k", 8, 8, *FLASH, "block_table?"),
    "FlashAttnQKVPackedFunc": ("qkv", *FLASH),
    "FlashAttnKVPackedFunc": ("q", "kv", *FLASH),
    "FlashAttnVarlenQKVPackedFunc": ("qkv", "cu_seqlens_q", 8, *FLASH),
    "FlashAttnVarlenKVPackedFunc": ("q", "kv", "cu_seqlens_q", "cu_seqlens_k", 8, 8, *FLASH),
    "ApplyRotaryEmb": ("x", *TABLES),
    "ApplyRotaryEmbQKV_": ("qkv", "cos", "sin", "cos_k?", "sin_k?", False),
    "ApplyRotaryEmbKV_": ("kv", *TABLES),
    "_fMHA": (True, None, "q", "k", "v", "bias?"),
    "RotaryEmbeddingFunction": ("x", *TABLES),
    "ChunkDeltaRuleFunction": ("q", "k", "v", "beta", 0.5, "initial_state?", False),
    "ChunkTTTLinearFunction": ("q", "k", "v", "w", "b", 16, 0.5, "eta", "initial_state?"),
    "ChunkDPLRDeltaRuleFunction": ("r", "k", "v", "a", "b", "w", 0.5, "initial_state?", "cu_seqlens?"),
}
LIBRARIES, CASES = [], []


def define():
    """Each operator by its name, with its arguments: of a tensor (role, whether it may be absent, a keyword where it
    has to be given by that), else a value."""
    for namespace, schemas in SCHEMAS.items():
        library = torch.library.Library(namespace, "DEF")
        LIBRARIES.append(library)
        for schema in schemas:
            library.define(schema)
            library.impl(schema.split("(")[0], nothing(schema.endswith("()")), "CPU")
            yield by_schema(getattr(getattr(torch.ops, namespace), schema.split("(")[0]))
    library = torch.library.Library("aten", "IMPL")
    LIBRARIES.append(library)
    for name in OWN:
        library.impl(name, nothing(False, len(getattr(torch.ops.aten, name).default._schema.returns)), "CPU")
    for name in OWN + REAL:
        yield by_schema(getattr(torch.ops.aten, name))
    for name, given in FUNCTIONS.items():
        arguments = [(value.rstrip("?"), value.endswith("?"), "") if isinstance(value, str) else value for value in given]
        yield name, type(name, (Function,), {}).apply, arguments


def nothing(is_void, results=1):
    def implementation(*_, **__):
        given = tuple(torch.zeros(1) for _ in range(results))
        return None if is_void else given[0] if results == 1 else given
    return implementation


class Function(torch.autograd.Function):
    @staticmethod
    def forward(_, *values):
        if any(value.dtype == WRONG for value in values if isinstance(value, torch.Tensor)):
            raise RuntimeError("as the kernel does")
        return torch.zeros(1)


def of_kind(kind):
    """What an operand that is no tensor is given."""
    return None if kind.startswith("Optional") else {"float": 0.0, "bool": False, "str": "auto", "List[bool]": [True] * 4}.get(kind, 1)


def by_schema(operator):
    arguments = []
    for argument in operator.default._schema.arguments:
        kind = str(argument.type)
        if "Tensor" in kind:
            arguments.append((ROLES.get(argument.name, argument.name), kind.startswith("Optional"), argument.name if argument.kwarg_only else ""))
        elif not argument.kwarg_only:
            arguments.append(of_kind(kind))
    return operator.default.name(), operator.default, arguments


def is_tensor(argument):
    return isinstance(argument, tuple) and isinstance(argument[0], str)


def call(name, function, arguments, absent=(), wrong=None):
    values, named, given = [], {}, {}
    for one in arguments:
        value = None if is_tensor(one) else one
        if is_tensor(one) and one[0] not in absent:
            dtype = WRONG if one[0] == wrong else RIGHT.get(one[0], LOW)
            given[one[0]] = str(dtype).removeprefix("torch.")
            value = torch.ones(SHAPES.get(one[0], (2, 2, 2, 8)), dtype=dtype)
        if is_tensor(one) and one[2]:
            named[one[2]] = value
        else:
            values.append(value)
    line = len(CASES) + 1
    CASES.append({"line": line, "name": name, "wrong": wrong, "given": given})
    try:
        exec(compile("\n" * (line - 1) + "function(*values, **named)", "calls.py", "exec"),
             {"function": function, "values": values, "named": named})
    except RuntimeError:
        if wrong is None:
            raise


def calls(name, function, arguments):
    tensors = [one for one in arguments if is_tensor(one)]
    optional = [role for role, may_be_absent, _ in tensors if may_be_absent]
    for absent in ((), *[(role,) for role in optional if len(optional) > 1], *([tuple(optional)] if optional else [])):
        call(name, function, arguments, absent)
        for role, _, _ in tensors:
            if role not in absent:
                call(name, function, arguments, absent, role)


def main():
    torch.set_grad_enabled(False)
    for one in define():
        calls(*one)
    print(json.dumps(CASES))


main()
