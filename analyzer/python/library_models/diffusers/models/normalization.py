"""diffusers 0.28 to 0.40."""
import torch


class RMSNorm(torch.nn.Module):
    """Half weights decide the result's dtype; float32 weights widen it."""

    def __init__(self, dim, eps, elementwise_affine=True, bias=False):
        super().__init__()
        self.eps = eps
        self.weight = torch.nn.Parameter(torch.ones(dim)) if elementwise_affine else None

    def forward(self, hidden_states):
        wide = hidden_states * torch.rsqrt(hidden_states.to(torch.float32).pow(2).mean(-1, keepdim=True) + self.eps)
        if self.weight is None:
            return wide.to(hidden_states.dtype)
        if self.weight.dtype in (torch.float16, torch.bfloat16):
            wide = wide.to(self.weight.dtype)
        return wide * self.weight


class FP32LayerNorm(torch.nn.LayerNorm):
    def forward(self, inputs):
        return inputs.float().to(inputs.dtype)
