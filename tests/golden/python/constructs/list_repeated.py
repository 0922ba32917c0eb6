# run: go(Model(64, 2), x(2, 8, 64))
# breaks: fp32-buffers, bf16
# fixed: yes
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, dim, layers):
        super().__init__()
        self.q = nn.ModuleList([nn.Linear(dim, dim) for _ in range(layers)])
        self.layers = layers

    def forward(self, x):
        scales = [torch.full((1,), 0.5)] * self.layers  #! bad
        scales = [torch.full((1,), 0.5).to(x)] * self.layers  #! ok
        for layer, scale in zip(self.q, scales):
            q = layer(x).unsqueeze(1)
            x = F.scaled_dot_product_attention(q * scale, q, q).squeeze(1)  # expect: attention-implicit-promotion
        return x
