"""nn.MultiheadAttention and an encoder layer where they take PyTorch's fast path, `_native_multi_head_attention`: `right` calls, or
`wrong` ones, each of an operand of its own. Prints what each gave."""
import sys

import torch
from torch import nn

LOW = torch.bfloat16
torch.manual_seed(0)
LAYER = nn.MultiheadAttention(32, 4, batch_first=True).to(LOW).eval()
ENCODER = nn.TransformerEncoderLayer(32, 4, batch_first=True, dropout=0.0).to(LOW).eval()
FLOATS = nn.MultiheadAttention(32, 4, batch_first=True).eval()
NARROW = torch.randn(2, 8, 32, dtype=LOW)
WEIGHTS = LAYER.in_proj_weight, LAYER.in_proj_bias, LAYER.out_proj.weight, LAYER.out_proj.bias


def native(q, k, v, *rest):
    return torch._native_multi_head_attention(q, k, v, 32, 4, *WEIGHTS, *rest)


def autocast():
    wide = NARROW.float()
    with torch.autocast("cpu", dtype=LOW):
        return FLOATS(wide, wide, wide, need_weights=False)


RIGHT = {
    "itself": lambda x: LAYER(x, x, x, need_weights=False),
    "with_weights": lambda x: LAYER(x, x, x),
    "others": lambda x: LAYER(x, x[:, :4], x[:, :4], need_weights=False),
    "mask": lambda x: LAYER(x, x, x, need_weights=False, attn_mask=torch.zeros(8, 8, dtype=torch.bool)),
    "float_mask": lambda x: LAYER(x, x, x, need_weights=False, attn_mask=torch.zeros(8, 8, dtype=LOW)),
    "padding": lambda x: LAYER(x, x, x, key_padding_mask=torch.zeros(2, 8, dtype=torch.bool)),
    "operator": lambda x: native(x, x, x),
    "operator_with_mask": lambda x: native(x, x, x, torch.zeros(2, 8, dtype=torch.bool), True, True, 1),
    "encoder": lambda x: ENCODER(x),
    "encoder_with_padding": lambda x: ENCODER(x, src_key_padding_mask=torch.zeros(2, 8, dtype=torch.bool)),
    "autocast": lambda x: autocast(),
}
WRONG = {
    "wide_q": lambda x: native(x * torch.ones(32), x, x),  # call: wide_q
    "other_q": lambda x: LAYER(x * torch.ones(32), x, x, need_weights=False),  # call: other_q
    "wide_k": lambda x: native(x, x * torch.ones(32), x),  # call: wide_k
    "wide_v": lambda x: native(x, x, x * torch.ones(32), None),  # call: wide_v
    "wide_mask": lambda x: LAYER(x, x, x, attn_mask=torch.zeros(8, 8)),  # call: wide_mask
    "wide_input": lambda x: ENCODER(x * torch.ones(32)),  # call: wide_input
}


def shown(result):
    return str((result[0] if isinstance(result, tuple) else result).dtype)


with torch.inference_mode():
    for name, call in (RIGHT if sys.argv[1] == "right" else WRONG).items():
        try:
            print(name, shown(call(NARROW)))
        except RuntimeError as error:
            print(name, type(error).__name__)
