# run: run(x)
# breaks: fp32-buffers, bf16
import torch
import torch.nn.functional as F


def attend(q, k, v, at):
    kept = torch.zeros(2, 4, 8, 16, device=k.device)  # expect: attention-mixed-dtypes
    kept[:, :, at : at + 8] = k  # slices and numbers take any dtype
    kept[:, at, 0] = k[:, 0, 0]
    return F.scaled_dot_product_attention(q, kept, v)  #! bad
    return F.scaled_dot_product_attention(q, kept.to(q.dtype), v)  #! ok


def run(x):
    return attend(x(2, 4, 8, 16), x(2, 4, 8, 16), x(2, 4, 8, 16), 0)
