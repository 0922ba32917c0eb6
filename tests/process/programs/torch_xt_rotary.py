"""x-transformers with rotary embeddings, one step of training, with the precision that the argument names:
params    only the parameters are bfloat16, as under FSDP's MixedPrecision(param_dtype=...); buffers stay float32
half_params  the same in float16
xpos      the whole model is bfloat16, with the embeddings' xpos scale
full      the whole model is bfloat16
autocast  a float32 model under autocast of the CPU
"""
import sys
import warnings

import torch

warnings.simplefilter("ignore")
from x_transformers import Decoder, TransformerWrapper  # pylint: disable=wrong-import-position

how = sys.argv[1]
torch.manual_seed(0)
model = TransformerWrapper(num_tokens=64, max_seq_len=32, attn_layers=Decoder(
    dim=32, depth=2, heads=2, attn_dim_head=32, rotary_pos_emb=True, rotary_xpos=how == "xpos", attn_flash=True))
if how in ("params", "half_params"):
    for parameter in model.parameters():
        parameter.data = parameter.data.to(torch.bfloat16 if how == "params" else torch.float16)
elif how in ("full", "xpos"):
    model.bfloat16()
tokens = torch.randint(0, 64, (1, 16))
try:
    with torch.autocast("cpu", dtype=torch.bfloat16, enabled=how == "autocast"):
        logits = model(tokens)
        logits.float().logsumexp(-1).mean().backward()
    gradient = sum(parameter.grad.double().abs().sum() for parameter in model.parameters() if parameter.grad is not None)
    print(f"ok, logits {logits.dtype}, sum {logits.double().sum().item()!r}, gradient {gradient.item()!r}")
except RuntimeError as error:
    print(f"RuntimeError: {str(error).splitlines()[0]}")
