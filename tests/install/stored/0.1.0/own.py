import torch
from mine import attention


def main():
    q = torch.randn(1, 2, 8, 16, dtype=torch.float16)
    attention(q.float(), q, q)


main()
