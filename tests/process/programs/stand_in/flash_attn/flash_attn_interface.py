"""flash_attn_func as flash-attn 2.7 has it: an autograd Function around an operator of the dispatcher."""
from typing import Optional

import torch
import torch.nn.functional as F

from .stood_in import say


@torch.library.custom_op("flash_attn::_flash_attn_forward", mutates_args=())
def _flash_attn_forward(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, dropout_p: float, softmax_scale: float, causal: bool,
                        window_size_left: int, window_size_right: int, softcap: float,
                        alibi_slopes: Optional[torch.Tensor], return_softmax: bool) -> torch.Tensor:
    say(q)
    wide = (tensor.transpose(1, 2).float() for tensor in (q, k, v))
    return F.scaled_dot_product_attention(*wide, is_causal=causal, scale=softmax_scale).transpose(1, 2).to(q.dtype).contiguous()


class FlashAttnFunc(torch.autograd.Function):
    @staticmethod
    def forward(ctx, q, k, v, dropout_p, softmax_scale, causal):
        scale = softmax_scale or q.shape[-1] ** -0.5
        return torch.ops.flash_attn._flash_attn_forward(q, k, v, dropout_p, scale, causal, -1, -1, 0.0, None, False)


def flash_attn_func(q, k, v, dropout_p=0.0, softmax_scale=None, causal=False):
    return FlashAttnFunc.apply(q, k, v, dropout_p, softmax_scale, causal)


@torch.library.custom_op("flash_attn::_flash_attn_backward", mutates_args=("dq", "dk", "dv"))
def _flash_attn_backward(dout: torch.Tensor, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, out: torch.Tensor, softmax_lse: torch.Tensor,
                         dq: Optional[torch.Tensor], dk: Optional[torch.Tensor], dv: Optional[torch.Tensor], dropout_p: float,
                         softmax_scale: float, causal: bool, window_size_left: int, window_size_right: int, softcap: float,
                         alibi_slopes: Optional[torch.Tensor], deterministic: bool) -> torch.Tensor:
    say(q)
    return softmax_lse.clone()


class FlashAttnWithBackward(torch.autograd.Function):
    """Its backward takes the gradient as it comes, here in float32, which the interface of flash-attn would hand on too."""

    @staticmethod
    def forward(ctx, q, k, v):
        out = torch.ops.flash_attn._flash_attn_forward(q, k, v, 0.0, 0.25, False, -1, -1, 0.0, None, False)
        ctx.save_for_backward(q, k, v, out)
        return out.float()

    @staticmethod
    def backward(ctx, dout):
        q, k, v, out = ctx.saved_tensors
        dq, dk, dv = (torch.zeros_like(x) for x in (q, k, v))
        torch.ops.flash_attn._flash_attn_backward(dout, q, k, v, out, torch.zeros(1, 2, 8), dq, dk, dv, 0.0, 0.25, False, -1, -1, 0.0, None,
                                                  False)
        return dq, dk, dv


def flash_attn_with_backward(q, k, v):
    return FlashAttnWithBackward.apply(q, k, v)
