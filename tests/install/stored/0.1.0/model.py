import torch
import torch.nn.functional as F


def attend(q, k, v, scale):
    q = q * scale
    return F.scaled_dot_product_attention(q, k, v)


def main():
    q = torch.randn(1, 2, 8, 16, dtype=torch.bfloat16)
    scale = torch.ones(16)
    try:
        attend(q, q, q, scale)
    except RuntimeError as refused:
        print(refused)


main()
