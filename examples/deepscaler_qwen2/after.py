"""The same float32 Qwen2 with flash attention as DeepScaleR trains it: under autocast the projections give bfloat16."""
import torch
import torch.nn as nn
from flash_attn import flash_attn_func


class Qwen2FlashAttention(nn.Module):
    def __init__(self, hidden_size=64, num_heads=4):
        super().__init__()
        self.num_heads = num_heads
        self.q_proj = nn.Linear(hidden_size, hidden_size, dtype=torch.float32)
        self.k_proj = nn.Linear(hidden_size, hidden_size, dtype=torch.float32)
        self.v_proj = nn.Linear(hidden_size, hidden_size, dtype=torch.float32)

    def forward(self, hidden_states):
        b, n, d = hidden_states.shape
        shape = (b, n, self.num_heads, d // self.num_heads)
        q = self.q_proj(hidden_states).view(shape)
        k = self.k_proj(hidden_states).view(shape)
        v = self.v_proj(hidden_states).view(shape)
        if q.dtype == torch.float32:
            target_dtype = self.q_proj.weight.dtype
            q, k, v = q.to(target_dtype), k.to(target_dtype), v.to(target_dtype)
        return flash_attn_func(q, k, v, causal=True)


def main():
    model = Qwen2FlashAttention().to("cuda")
    with torch.autocast("cuda", dtype=torch.bfloat16):
        return model(torch.ones(1, 8, 64, device="cuda"))


if __name__ == "__main__":
    main()
