"""PyTorch's CPU flash attention as a process of its own, so that its libraries do not meet another libtorch's.

Usage: torch_process.py THREADS {cpu|wall}

Reads lines. "tensors HEADS SEQ DIM CAUSAL" is followed by the bytes of q, k and v, bfloat16 (SEQ, HEADS, DIM) each;
"fwd" and "bwd" run once and answer with the seconds. The first line of output is the version.
"""
import sys
import time

import torch

ATTEND = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu
GRADIENTS = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward


def say(text):
    print(text, flush=True)


def read_tensor(heads, seq, dim):
    data = bytearray(sys.stdin.buffer.read(2 * heads * seq * dim))
    tensor = torch.frombuffer(data, dtype=torch.bfloat16).view(1, seq, heads, dim)
    return tensor.transpose(1, 2).contiguous()


def main():
    threads = int(sys.argv[1])
    torch.set_num_threads(threads)
    clock = time.process_time if sys.argv[2] == "cpu" else time.perf_counter
    share = threads if sys.argv[2] == "cpu" else 1
    say(torch.__version__)
    tensors, causal, result = [], False, None
    for line in iter(sys.stdin.buffer.readline, b""):
        words = line.decode().split()
        if words[0] == "tensors":
            heads, seq, dim, causal = (int(word) for word in words[1:])
            tensors, causal = [read_tensor(heads, seq, dim) for _ in range(3)], bool(causal)
            result = ATTEND(*tensors, 0.0, causal)
            say("ready")
            continue
        before = clock()
        with torch.no_grad():
            if words[0] == "fwd":
                result = ATTEND(*tensors, 0.0, causal)
            else:
                GRADIENTS(tensors[0], *tensors, result[0], result[1], 0.0, causal)
        say((clock() - before) / share)


main()
