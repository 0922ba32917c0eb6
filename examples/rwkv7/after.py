"""RWKV-7's time mixing, with the cure of flash-linear-attention's bug: k is cast back after addcmul with the float32 parameter k_a. The
addcmul in front of the projections promotes as well and is harmless: the projections bring its result back."""
import torch
import torch.nn as nn
from fla.ops.rwkv7 import chunk_rwkv7


class TimeMix(nn.Module):
    def __init__(self, hidden_size=64, num_heads=1):
        super().__init__()
        self.num_heads = num_heads
        self.x_k = nn.Parameter(torch.zeros(1, 1, hidden_size))
        self.k_a = nn.Parameter(torch.zeros(hidden_size))
        self.time_shift = nn.ZeroPad2d((0, 0, 1, -1))
        self.r_proj = nn.Linear(hidden_size, hidden_size, bias=False)
        self.k_proj = nn.Linear(hidden_size, hidden_size, bias=False)
        self.v_proj = nn.Linear(hidden_size, hidden_size, bias=False)
        self.w_proj = nn.Linear(hidden_size, hidden_size)
        self.a_proj = nn.Linear(hidden_size, hidden_size)
        self.o_proj = nn.Linear(hidden_size, hidden_size, bias=False)

    def forward(self, hidden_states):
        delta = self.time_shift(hidden_states) - hidden_states
        xk = hidden_states.addcmul(delta, self.x_k)
        r, k, v = self.r_proj(hidden_states), self.k_proj(xk), self.v_proj(hidden_states)
        w = -0.6065 * self.w_proj(hidden_states).to(torch.float).sigmoid()
        a = self.a_proj(hidden_states).sigmoid()
        k = k.addcmul(k * (a - 1), self.k_a).to(r.dtype)
        r, w, k, v, a = (each.unflatten(-1, (self.num_heads, -1)) for each in (r, w, k, v, a))
        out, _ = chunk_rwkv7(r, w, k, v, -a, a, scale=1.0)
        return self.o_proj(out.flatten(-2))
