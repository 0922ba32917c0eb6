"""Stands in for flash-attn, which needs CUDA: its names of functions, operators and autograd Functions, its order of
arguments, and PyTorch's own attention behind them. It checks no dtype of attention itself; the rotary function makes the
one assertion that flash-attn makes before 2.8."""
from .flash_attn_interface import flash_attn_func, flash_attn_with_backward

__version__ = "0+stand.in"
__all__ = ["flash_attn_func", "flash_attn_with_backward"]
