"""Attention calls and other operators, for a mode that sees the calls alone. Prints how many attention calls were made."""
import sys

import torch
import torch.nn.functional as F

CALLS = 0


def attend(*operands, **rest):
    global CALLS  # pylint: disable=global-statement
    CALLS += 1
    return F.scaled_dot_product_attention(*operands, **rest)


def raises(*operands, **rest):
    try:
        attend(*operands, **rest)
    except RuntimeError:
        return
    raise SystemExit("the call was accepted")


def main():
    x = torch.randn(1, 2, 8, 16)
    half = x.bfloat16()
    for _ in range(20):
        attend(x, x, x)
        (x @ x.transpose(-1, -2)).softmax(-1)
        F.layer_norm(x, (16,))
    attend(half, half, half, attn_mask=torch.zeros(8, 8))
    attend(half, half, half, attn_mask=torch.zeros(8, 8).to(torch.bool))
    attend(half, half, half, attn_mask=None, dropout_p=0.25, is_causal=True, scale=0.5)
    attend(torch.empty_like(x, device="meta"), torch.empty_like(x, device="meta"), torch.empty_like(x, device="meta"))
    wanting = x.clone().requires_grad_()
    attend(wanting, x, x).sum().backward()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        attend(x, half, half)
    expected = torch.softmax(x @ x.transpose(-1, -2) * 0.5, -1) @ x
    if not torch.allclose(attend(x, x, x, scale=0.5), expected, atol=1e-5):
        raise SystemExit("an argument was lost")
    if "wrong" in sys.argv:
        raises(x, half, half)  # call: mixed
        raises(half, half, half, attn_mask=torch.zeros(8, 8, dtype=torch.float64))  # call: mask
    print(CALLS)


if __name__ == "__main__":
    main()
