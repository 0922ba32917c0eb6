"""Models that are right as they are: each prints what it gives to the last bit, and nothing may be reported of any."""
import sys

import torch
import torch.nn.functional as F
from torch import nn

SDPA = F.scaled_dot_product_attention


def shown(*tensors):
    return " ".join(repr(tensor.detach().double().sum().item()) for tensor in tensors)


def heads(dtype, count=3):
    return [torch.randn(1, 2, 8, 16, dtype=dtype) for _ in range(count)]


def sdpa(dtype):
    q, k, v = heads(dtype)
    mask = torch.ones(8, 8, dtype=torch.bool).tril()
    return shown(SDPA(q, k, v), SDPA(q, k, v, is_causal=True), SDPA(q, k, v, attn_mask=mask),
                 SDPA(q, k, v, attn_mask=torch.zeros(8, 8, dtype=dtype)))


def rotary_in_float32():
    """Computed wide and cast back, as Llama does."""
    q, k, v = heads(torch.bfloat16)
    angle = torch.arange(8, dtype=torch.float32)[:, None] / torch.arange(1, 17, dtype=torch.float32)
    def rotate(x):
        return (x.float() * angle.cos() + x.float().roll(1, -1) * angle.sin()).to(x.dtype)
    return shown(SDPA(rotate(q), rotate(k), v))


def multi_head_attention():
    layer = nn.MultiheadAttention(32, 4, batch_first=True)
    x = torch.randn(2, 8, 32)
    trained = layer(x, x, x, need_weights=False)[0]
    trained.sum().backward()
    layer.eval()
    with torch.inference_mode():
        quick = layer(x, x, x)[0]
    return shown(trained, quick, layer.in_proj_weight.grad)


def encoder_layer():
    layer = nn.TransformerEncoderLayer(32, 4, batch_first=True, dropout=0.0).bfloat16()
    x = torch.randn(2, 8, 32, dtype=torch.bfloat16)
    trained = layer(x)
    trained.sum().backward()
    layer.eval()
    with torch.no_grad():
        quick = layer(x)
    return shown(trained, quick, layer.linear1.weight.grad)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.qkv, self.out = nn.LayerNorm(32), nn.Linear(32, 96), nn.Linear(32, 32)

    def forward(self, x):
        q, k, v = (part.unflatten(-1, (4, 8)).transpose(1, 2) for part in self.qkv(self.norm(x)).chunk(3, -1))
        return x + self.out(SDPA(q, k, v, is_causal=True).transpose(1, 2).flatten(2))


def training(autocast):
    model = nn.Sequential(Block(), Block())
    optimizer = torch.optim.AdamW(model.parameters(), 1e-3)
    for _ in range(3):
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=autocast):
            loss = model(torch.randn(2, 8, 32)).float().square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    return shown(loss, model[0].qkv.weight)


def wide_norm_under_autocast():
    """q and k are normalised in float32 and v is bfloat16: autocast recasts them inside the call."""
    norm, project = nn.LayerNorm(16), nn.Linear(16, 16)
    x = torch.randn(1, 2, 8, 16)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        v = project(x)
        out = SDPA(norm(v), norm(v), v)
    return shown(out)


def key_value_cache():
    cache = torch.zeros(2, 1, 2, 16, 16, dtype=torch.bfloat16)
    out = []
    for step in range(4):
        q, k, v = (part[..., :1, :] for part in heads(torch.bfloat16))
        cache[0, :, :, step:step + 1] = k
        cache[1, :, :, step:step + 1].copy_(v.float())
        out.append(SDPA(q, cache[0][:, :, :step + 1], cache[1][:, :, :step + 1]))
    return shown(*out)


def compiled():
    model = torch.compile(Block(), backend="eager")
    x = torch.randn(2, 8, 32)
    return shown(model(x), model(x))


def vmapped():
    q, k, v = heads(torch.float32)
    return shown(torch.vmap(SDPA)(q, k, v))


def on_meta():
    with torch.device("meta"):
        return str(SDPA(*heads(torch.float32)).device)


def checkpointed():
    from torch.utils.checkpoint import checkpoint
    model, x = Block(), torch.randn(2, 8, 32, requires_grad=True)
    checkpoint(model, x, use_reentrant=False).sum().backward()
    return shown(x.grad)


def scripted():
    def attend(q, k, v):
        return F.scaled_dot_product_attention(q, k, v) * 2.0
    traced = torch.jit.trace(attend, tuple(heads(torch.float32)))
    return shown(traced(*heads(torch.float32)))


ALL = {
    "sdpa float32": lambda: sdpa(torch.float32),
    "sdpa bfloat16": lambda: sdpa(torch.bfloat16),
    "sdpa float64": lambda: sdpa(torch.float64),
    "rotary in float32": rotary_in_float32,
    "multi-head attention": multi_head_attention,
    "encoder layer": encoder_layer,
    "training": lambda: training(False),
    "training under autocast": lambda: training(True),
    "wide norm under autocast": wide_norm_under_autocast,
    "key-value cache": key_value_cache,
    "vmap": vmapped,
    "meta": on_meta,
    "checkpoint": checkpointed,
    "jit trace": scripted,
    "compile eager": compiled,
}

torch.set_num_threads(1)
for name, model in ALL.items():
    if len(sys.argv) > 1 and name not in sys.argv[1:]:
        continue
    torch.manual_seed(0)
    print(name, model())
