"""torch_ranks.py ODD [kill]: a rank of a job, which torchrun starts. All call attention, rank ODD with a float32 q, and is
killed then if asked to."""
import os
import signal
import sys

import torch
import torch.distributed as dist
import torch.nn.functional as F


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    odd = dist.get_rank() == int(sys.argv[1])
    low = torch.ones(1, 1, 2, 4, dtype=torch.bfloat16)
    for _ in range(5):
        F.scaled_dot_product_attention(low, low, low)
    q = low * (torch.ones(4) if odd else low)  # call: widened
    try:
        F.scaled_dot_product_attention(q, low, low)  # call: rank
    except RuntimeError:
        pass
    os.write(1, f"rank {dist.get_rank()} pid {os.getpid()} status {int(odd)}\n".encode())
    if odd and sys.argv[2:] == ["kill"]:
        os.kill(os.getpid(), signal.SIGKILL)
    dist.barrier()
    dist.destroy_process_group()


main()
