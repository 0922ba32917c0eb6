# run: attend(rotate(x(2, 8, 4, 16), ids(8)), x(2, 8, 4, 16))
# breaks: fp32-buffers, bf16, autocast
import torch


def rotate(x: torch.Tensor, positions: torch.Tensor, base: float = 10000.0) -> torch.Tensor:
    half = x.shape[-1] // 2
    scale = base ** (-torch.arange(half, dtype=torch.float32, device=x.device) / half)
    angle = positions[:, None, None].float() * scale
    sin, cos = torch.sin(angle), torch.cos(angle)
    sin, cos = sin.to(x.dtype), cos.to(x.dtype)  #! ok
    a, b = x[..., :half], x[..., half:]
    return torch.cat([a * cos - b * sin, b * cos + a * sin], dim=-1)  # expect: rotary-dtype-mismatch
