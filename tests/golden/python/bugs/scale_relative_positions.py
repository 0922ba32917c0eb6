# run: go(Encoder(64, 4), x(2, 8, 64))
# breaks: fp32-buffers, bf16
import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class RelPositionalEncoding(nn.Module):
    def __init__(self, d_model, max_len=100):
        super().__init__()
        self.d_model = d_model
        self.pe = None
        self.extend_pe(torch.tensor(0.0).expand(1, max_len))

    def extend_pe(self, x):
        pe = torch.zeros(x.size(1), self.d_model)
        position = torch.arange(0, x.size(1), dtype=torch.float32).unsqueeze(1)
        div_term = torch.exp(torch.arange(0, self.d_model, 2, dtype=torch.float32) * -(math.log(10000.0) / self.d_model))
        pe[:, 0::2] = torch.sin(position * div_term)
        pe[:, 1::2] = torch.cos(position * div_term)
        self.pe = pe.unsqueeze(0)

    def forward(self, x: torch.Tensor):
        pos = self.pe[:, : x.size(1)].to(x.device)  #! bad
        pos = self.pe[:, : x.size(1)].to(x.device, x.dtype)  #! ok
        return x, pos


class Encoder(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.embed = RelPositionalEncoding(dim)
        self.linear_q = nn.Linear(dim, dim)
        self.linear_k = nn.Linear(dim, dim)
        self.linear_v = nn.Linear(dim, dim)

    def forward(self, x):
        x, pos = self.embed(x)
        b, t, c = x.size()
        q = self.linear_q(x) + pos  # expect: attention-implicit-promotion  #! bad
        q = self.linear_q(x) + pos  #! ok
        k, v = self.linear_k(x), self.linear_v(x)
        q = q.view(b, -1, self.heads, c // self.heads).transpose(1, 2)
        k = k.view(b, -1, self.heads, c // self.heads).transpose(1, 2)
        v = v.view(b, -1, self.heads, c // self.heads).transpose(1, 2)
        return F.scaled_dot_product_attention(q, k, v)
