"""nn.MultiheadAttention and an encoder layer where they take PyTorch's fast path, `_native_multi_head_attention`: `right` calls, `wrong`
ones, each of an operand of its own, and what autocast does `recast`; prints what each gave. Or `each` operand alone in each other dtype,
`plain`, under `autocast`, or under one that has the operator on no list, as on CUDA or before PyTorch 2.2 (`parts`); prints these as JSON."""
import contextlib
import json
import sys

import torch
from torch import nn

LOW = torch.bfloat16
DTYPES = torch.float16, LOW, torch.float32, torch.float64
torch.manual_seed(0)
LAYER = nn.MultiheadAttention(32, 4, batch_first=True).to(LOW).eval()
PADDING = torch.tensor([[False] * 8, [False] * 5 + [True] * 3])
STACK = nn.TransformerEncoder(nn.TransformerEncoderLayer(32, 4, batch_first=True), 2).to(LOW).eval()  # makes a nested tensor of what is padded
ENCODER = nn.TransformerEncoderLayer(32, 4, batch_first=True, dropout=0.0).to(LOW).eval()
FLOATS = nn.MultiheadAttention(32, 4, batch_first=True).eval()
FLOAT_ENCODER = nn.TransformerEncoderLayer(32, 4, batch_first=True, dropout=0.0).eval()
FORGOTTEN = nn.MultiheadAttention(32, 4, batch_first=True).to(LOW).eval()
FORGOTTEN.out_proj.float()  # call: forgotten
NARROW = torch.randn(2, 8, 32, dtype=LOW)
WEIGHTS = {"qkv_weight": LAYER.in_proj_weight, "qkv_bias": LAYER.in_proj_bias, "proj_weight": LAYER.out_proj.weight,
           "proj_bias": LAYER.out_proj.bias}


def native(q, k, v, *rest, **weights):
    return torch._native_multi_head_attention(q, k, v, 32, 4, *{**WEIGHTS, **weights}.values(), *rest)


def itself(layer, x):
    return layer(x, x, x, need_weights=False)


def autocast(call):
    with torch.autocast("cpu", dtype=LOW):
        return call()


RIGHT = {
    "itself": lambda x: itself(LAYER, x),
    "with_weights": lambda x: LAYER(x, x, x),
    "others": lambda x: LAYER(x, x[:, :4], x[:, :4], need_weights=False),
    "mask": lambda x: LAYER(x, x, x, need_weights=False, attn_mask=torch.zeros(8, 8, dtype=torch.bool)),
    "float_mask": lambda x: LAYER(x, x, x, need_weights=False, attn_mask=torch.zeros(8, 8, dtype=LOW)),
    "padding": lambda x: LAYER(x, x, x, key_padding_mask=torch.zeros(2, 8, dtype=torch.bool)),
    "operator": lambda x: native(x, x, x),
    "operator_with_mask": lambda x: native(x, x, x, torch.zeros(2, 8, dtype=torch.bool), True, True, 1),
    "operator_with_wide_mask": lambda x: native(x, x, x, torch.zeros(2, 8), True, True, 1),
    "operator_with_wide_bias": lambda x: native(x, x, x, qkv_bias=WEIGHTS["qkv_bias"].float()),
    "encoder": lambda x: ENCODER(x),
    "encoder_with_padding": lambda x: ENCODER(x, src_key_padding_mask=torch.zeros(2, 8, dtype=torch.bool)),
    "nested": lambda x: STACK(x, src_key_padding_mask=PADDING),
    "floats": lambda x: itself(FLOATS, x.float()),
    "autocast": lambda x: autocast(lambda: itself(FLOATS, x.float())),
}
WRONG = {
    "wide_q": lambda x: native(x * torch.ones(32), x, x),  # call: wide_q
    "other_q": lambda x: LAYER(x * torch.ones(32), x, x, need_weights=False),  # call: other_q
    "wide_k": lambda x: native(x, x * torch.ones(32), x),  # call: wide_k
    "wide_v": lambda x: native(x, x, x * torch.ones(32), None),  # call: wide_v
    "wide_qkv_weight": lambda x: native(x, x, x, qkv_weight=WEIGHTS["qkv_weight"] * torch.ones(32)),  # call: wide_qkv_weight
    "wide_proj_weight": lambda x: native(x, x, x, proj_weight=WEIGHTS["proj_weight"] * torch.ones(32)),  # call: wide_proj_weight
    "wide_proj_bias": lambda x: native(x, x, x, proj_bias=WEIGHTS["proj_bias"] * torch.ones(32)),  # call: wide_proj_bias
    "forgotten": lambda x: itself(FORGOTTEN, x),
    "wide_mask": lambda x: LAYER(x, x, x, attn_mask=torch.zeros(8, 8)),  # call: wide_mask
    "wide_nested": lambda x: STACK(x * torch.ones(32), src_key_padding_mask=PADDING),  # call: wide_nested
    "wide_input": lambda x: ENCODER(x * torch.ones(32)),  # call: wide_input
}


def shown(result):
    return str((result[0] if isinstance(result, tuple) else result).dtype)


def called(given, line):
    """Whether it raised."""
    q, k, v, mask, *weights = given.values()
    try:
        exec(compile("\n" * (line - 1) + "call(*values)", "calls.py", "exec"),
             {"call": torch._native_multi_head_attention, "values": (q, k, v, 32, 4, *weights, mask, True, True, 1)})
    except RuntimeError:
        return True
    return False


def each(how):
    cases = []
    autocasts = contextlib.nullcontext() if how == "plain" else torch.autocast("cpu", dtype=LOW)
    if how == "parts":
        library = torch.library.Library("aten", "IMPL")
        library.impl("_native_multi_head_attention", torch.library.fallthrough_kernel, "AutocastCPU")
    for most in DTYPES:
        right = {name: tensor.to(most) for name, tensor in {"q": NARROW, "k": NARROW, "v": NARROW, "mask": torch.zeros(2, 8), **WEIGHTS}.items()}
        for name in right:
            for dtype in DTYPES:
                given = {**right, "mask": torch.zeros(2, 8, dtype=torch.bool), name: right[name].to(dtype)}
                with autocasts:
                    raised = called(given, len(cases) + 1)
                cases.append({"role": name, "most": str(most), "dtype": str(dtype), "raised": raised})
    print(json.dumps(cases))


with torch.inference_mode():
    if sys.argv[1] == "each":
        each(sys.argv[2])
    elif sys.argv[1] == "recast":
        print("recast", *[shown(autocast(lambda: FLOAT_ENCODER(NARROW))) for _ in range(3)])  # call: recast
    else:
        for name, call in (RIGHT if sys.argv[1] == "right" else WRONG).items():
            try:
                print(name, shown(call(NARROW)))
            except RuntimeError as error:
                print(name, type(error).__name__)
