"""Wrong calls of attention, each on a line of its own of a file that there need not be, to be killed among them.

After number N, which is called N % 5 + 1 times and raises each time, a line `PID N CALLS` says how many calls of attention there
were by then. Alone it goes through the numbers; with `forks` each line of stdin starts a child that does so, whose end is told
(`ended PID STATUS`).
"""
import os
import sys

import torch
import torch.nn.functional as F

NUMBERS = 900
CALL = "attend(torch.ones(1, 1, 2, 4, dtype=torch.float32), low, low)"


def numbers():
    low = torch.ones(1, 1, 2, 4, dtype=torch.bfloat16)
    names = {"torch": torch, "attend": F.scaled_dot_product_attention, "low": low}
    calls = 0
    for number in range(NUMBERS):
        code = compile("\n" * number + CALL, "numbers.py", "exec")
        F.scaled_dot_product_attention(low, low, low)
        for _ in range(number % 5 + 1):
            try:
                exec(code, names)
            except RuntimeError:
                calls += 1
        calls += 1
        os.write(1, f"{os.getpid()} {number} {calls}\n".encode())


def main():
    torch.set_num_threads(1)
    os.write(1, b"ready\n")
    if sys.argv[1:] != ["forks"]:
        return numbers()
    for _ in sys.stdin:
        child = os.fork()
        if child == 0:
            numbers()
            os._exit(0)
        os.write(1, f"ended {child} {os.waitpid(child, 0)[1]}\n".encode())


main()
