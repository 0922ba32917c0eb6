"""Attention with a wrong dtype on many threads that live at once: `torch_threads.py NUMBER`. With `deep` as the number, behind more autograd
Functions that are open than there is room for."""
import sys
import threading

import torch
import torch.nn.functional as F

torch.set_num_threads(1)
sys.setswitchinterval(0.0001)
q = torch.randn(1, 1, 4, 8).bfloat16()


def attend():
    wide = q * torch.ones(4, 8)  # WIDEN
    try:
        F.scaled_dot_product_attention(wide, q, q)
    except RuntimeError:
        pass


def on_threads(number):
    over = threading.Event()
    threading.stack_size(256 * 1024)

    def attend_and_stay():
        attend()
        over.wait()

    threads = [threading.Thread(target=attend_and_stay) for _ in range(number)]
    for thread in threads:
        thread.start()
    over.set()
    for thread in threads:
        thread.join()


class Inside(torch.autograd.Function):
    @staticmethod
    def forward(context, x, depth):
        attend() if depth == 0 else Inside.apply(x, depth - 1)
        return x.clone()


if sys.argv[1] == "deep":
    Inside.apply(q, 40)
else:
    on_threads(int(sys.argv[1]))
print("done")
