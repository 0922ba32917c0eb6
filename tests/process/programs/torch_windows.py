"""A job whose q is widened in each turn: its calls raise and are made again, for some seconds, with a pause
behind each turn. A line of stdin begins it."""
import sys
import time

import torch
import torch.nn.functional as F


def attend(x, table):
    q = x * table  # call: widened
    try:
        F.scaled_dot_product_attention(q, x, x)  # call: attended
    except RuntimeError:
        pass


def main():
    x, table = torch.randn(1, 2, 8, 16).bfloat16(), torch.randn(16)
    print("ready", flush=True)
    sys.stdin.readline()
    end, pause = time.monotonic() + float(sys.argv[1]), float(sys.argv[2]) if len(sys.argv) > 2 else 0
    while time.monotonic() < end:
        attend(x, table)
        time.sleep(pause)


if __name__ == "__main__":
    main()
