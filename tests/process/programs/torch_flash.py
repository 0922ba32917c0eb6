"""Calls of flash-attn, which is stood in for (stand_in/flash_attn); the comments mark what a report opens with."""
import os
import pathlib
import signal
import sys

import torch

sys.path.insert(0, str(pathlib.Path(__file__).parent / "stand_in"))
import flash_attn  # pylint: disable=wrong-import-position
from flash_attn.layers import rotary  # pylint: disable=wrong-import-position

LOW = torch.bfloat16


def low(*shape):
    return torch.randn(*shape or (1, 8, 2, 16), dtype=LOW)


def right():
    print(flash_attn.flash_attn_func(low(), low(), low(), causal=True).dtype)
    table = low(8, 8)
    print(rotary.apply_rotary_emb(low(), table, table).dtype)


def wide_key():
    key = low() * torch.ones(16)  # call: wide_key
    print(flash_attn.flash_attn_func(low(), key, low()).dtype)


def killed():
    wide_key()
    os.kill(os.getpid(), signal.SIGKILL)


def all_wide():
    """A float32 model with flash attention asked for."""
    q, k, v = (torch.randn(1, 8, 2, 16) for _ in range(3))  # call: all_wide
    print(flash_attn.flash_attn_func(q, k, v).dtype)


def operator_alone():
    q = low().float()  # call: operator_alone
    print(torch.ops.flash_attn._flash_attn_forward(q, low(), low(), 0.0, 0.25, False, -1, -1, 0.0, None, False).dtype)


def wide_input_of_rotary():
    """As Qwen2.5-Omni's vision attention calls it: x is float32, the tables are what the buffers are."""
    table = torch.randn(8, 8, dtype=LOW)
    x = low().float()  # call: wide_input_of_rotary
    try:
        rotary.apply_rotary_emb(x, table, table)
    except AssertionError as error:
        print(error)


def wide_input_of_newer_rotary():
    rotary.checks = False
    table = low(8, 8)
    print(rotary.apply_rotary_emb(low().float(), table, table).dtype)


torch.manual_seed(0)
globals()[sys.argv[1]]()
