# run: go(Attention(64), x(2, 8, 64))
# breaks: fp32-buffers, bf16
import torch
from torch import nn
import torch.nn.functional as F


def by_any(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor):
    q = q * torch.ones(64, device=q.device)  # expect: attention-implicit-promotion
    if any(each.dtype != v.dtype for each in (q, k)):  #! ok
        q = q.to(v.dtype)  #! ok
    return F.scaled_dot_product_attention(q, k, v)


def by_all(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor):
    q = q * torch.ones(64, device=q.device)
    if not all([q.dtype == v.dtype, k.dtype == v.dtype]):
        q = q.to(v.dtype)
    return F.scaled_dot_product_attention(q, k, v)


def by_pair(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor):
    q = q * torch.ones(64, device=q.device)
    if (q.dtype, k.dtype) != (v.dtype, v.dtype):
        q = q.to(v.dtype)
    return F.scaled_dot_product_attention(q, k, v)


def by_text(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor):
    q = q * torch.ones(64, device=q.device)
    if str(q.dtype) != str(v.dtype):
        q = q.to(v.dtype)
    return F.scaled_dot_product_attention(q, k, v)


def by_count(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor):
    q = q * torch.ones(64, device=q.device)
    if len({q.dtype, k.dtype, v.dtype}) > 1:
        q = q.to(v.dtype)
    return F.scaled_dot_product_attention(q, k, v)


def by_type(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor):
    q = q * torch.ones(64, device=q.device)
    if q.type() != v.type():
        q = q.type_as(v)
    return F.scaled_dot_product_attention(q, k, v)


class Attention(nn.Module):
    """any(), all() and pairs are the tests that they join; other questions for dtypes leave these open."""

    def __init__(self, dim):
        super().__init__()
        self.qkv = nn.Linear(dim, dim * 3)

    def forward(self, x: torch.Tensor):
        q, k, v = self.qkv(x).unsqueeze(1).chunk(3, -1)
        return [attend(q, k, v) for attend in (by_any, by_all, by_pair, by_text, by_count, by_type)]
