"""flash_ref's kernels beside PyTorch's attention backends on one GPU: the same tensors, random, median of many runs,
and what the GPU can do measured in the same run. The table comes last.

Usage: bench.py LIBFLASH_REF [--seconds N]    (N: for each figure; 0.4 by default)
"""
import argparse
import datetime
import statistics
import sys

import flash_ref_torch

try:
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel
    import torch.nn.functional as F
except ImportError as error:
    print(f"skipped: no PyTorch with attention backends: {error}")
    sys.exit(77)

PEERS = {"flash": "FLASH_ATTENTION", "cudnn": "CUDNN_ATTENTION", "efficient": "EFFICIENT_ATTENTION", "math": "MATH"}


def median_seconds(run, seconds):
    """Median over single runs between events, after three that warm up; the cache is cold for none of them."""
    for _ in range(3):
        run()
    torch.cuda.synchronize()
    times, spent = [], 0.0
    while (spent < seconds or len(times) < 10) and len(times) < 400:
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        run()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end) / 1e3)
        spent += times[-1]
    return statistics.median(times)


class Table:
    def __init__(self):
        self.rows = []

    def add(self, name, seconds, figure, limit, peers=()):
        ratios = "  ".join(f"{peer} {peer_seconds / seconds:.2f}x" if peer_seconds else f"{peer} -"
                           for peer, peer_seconds in peers)
        self.rows.append(f"{name:44} {seconds * 1e3:9.3f} ms  {figure:>16}  {limit:>16}  {ratios}")
        print(self.rows[-1], flush=True)

    def show(self, title):
        print(f"\n{title}\n{'case':44} {'median':>12}  {'rate':>16}  {'of the limit':>16}  speed relative to PyTorch's")
        print("\n".join(self.rows))


class Limits:
    """A bf16 matrix product, a copy and a read stream, as fast as this GPU does them."""

    def __init__(self, seconds):
        a, b = (torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16) for _ in range(2))
        self.flops = 2 * 8192**3 / median_seconds(lambda: torch.mm(a, b), seconds)
        source = torch.randn(1 << 28, device="cuda")
        target = torch.empty_like(source)
        self.copy = 2 * 4 * source.numel() / median_seconds(lambda: target.copy_(source), seconds)
        self.read = 4 * source.numel() / median_seconds(source.sum, seconds)
        print(f"limits: product {self.flops / 1e12:.0f} TFLOP/s, copy {self.copy / 1e9:.0f} GB/s, "
              f"read {self.read / 1e9:.0f} GB/s")


def peers_of(run, seconds):
    found = []
    for name, backend in PEERS.items():
        try:
            with sdpa_kernel(getattr(SDPBackend, backend)):
                found.append((name, median_seconds(run, seconds)))
        except (RuntimeError, torch.cuda.OutOfMemoryError, AttributeError):
            found.append((name, None))
        torch.cuda.empty_cache()
    return found


def close(name, actual, expected, tolerance=0.02):
    """The benchmark of a wrong answer is worth nothing."""
    error = (actual.float() - expected.float()).norm() / expected.float().norm()
    if not error < tolerance:
        sys.exit(f"{name}: wrong by {error:.3g} relative to PyTorch")


def attention(library, table, limits, seconds, dtype, tokens, heads, kv_heads, dim, causal):
    batch = max(1, 16384 // tokens)
    make = lambda h: torch.randn(batch, tokens, h, dim, device="cuda", dtype=dtype)
    q, k, v, dout = make(heads), make(kv_heads), make(kv_heads), make(heads)
    out, lse = torch.empty_like(q), torch.empty(batch, heads, tokens, device="cuda")
    flops = 4 * batch * heads * tokens * tokens * dim * (0.5 if causal else 1)
    label = f"{str(dtype)[6:]} {tokens} tokens, {heads}/{kv_heads} heads, dim {dim}{' causal' if causal else ''}"
    forward = lambda: library.attention_fwd(q, k, v, out, lse, causal)
    group = heads // kv_heads
    qs, ks, vs = (t.transpose(1, 2) for t in (q, k.repeat_interleave(group, 2), v.repeat_interleave(group, 2)))
    reference = lambda: F.scaled_dot_product_attention(qs, ks, vs, is_causal=causal)
    forward()
    with sdpa_kernel(SDPBackend.FLASH_ATTENTION):
        close(f"forward {label}", out, reference().transpose(1, 2))
    taken = median_seconds(forward, seconds)
    table.add(f"fwd {label}", taken, f"{flops / taken / 1e12:.0f} TFLOP/s", f"{flops / taken / limits.flops:.0%}",
              peers_of(reference, seconds))
    dq, dk, dv = (torch.empty_like(t) for t in (q, k, v))
    backward = lambda: library.attention_bwd(q, k, v, out, lse, dout, dq, dk, dv, causal)
    leaves = [t.detach().requires_grad_() for t in (qs, ks, vs)]
    grad = dout.transpose(1, 2)

    def peer(name):
        with sdpa_kernel(getattr(SDPBackend, PEERS[name])):
            result = F.scaled_dot_product_attention(*leaves, is_causal=causal)
            return lambda: torch.autograd.grad(result, leaves, grad, retain_graph=True)

    backward()
    close(f"backward {label}", dq, peer("flash")()[0].transpose(1, 2))
    taken, found = median_seconds(backward, seconds), []
    for name in ("flash", "cudnn", "efficient"):
        try:
            found.append((name, median_seconds(peer(name), seconds)))
        except RuntimeError:
            found.append((name, None))
    table.add(f"bwd {label}", taken, f"{2.5 * flops / taken / 1e12:.0f} TFLOP/s",
              f"{2.5 * flops / taken / limits.flops:.0%}", found)


def decoding(library, table, limits, seconds, batch, keys, heads, kv_heads, dim):
    q = torch.randn(batch, 1, heads, dim, device="cuda", dtype=torch.bfloat16)
    k, v = (torch.randn(batch, keys, kv_heads, dim, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    out = torch.empty_like(q)
    lengths = torch.full((batch,), keys, device="cuda", dtype=torch.int32)
    run = library.attention_kvcache(q, k, v, lengths, out)
    run()
    group = heads // kv_heads
    expected = F.scaled_dot_product_attention(*(t.transpose(1, 2) for t in (
        q, k.repeat_interleave(group, 2), v.repeat_interleave(group, 2)))).transpose(1, 2)
    close("decode", out, expected)
    taken, size = median_seconds(run, seconds), 2 * k.numel() * 2
    table.add(f"decode bf16 {batch} x {keys} keys, {heads}/{kv_heads} heads, dim {dim}", taken,
              f"{size / taken / 1e9:.0f} GB/s", f"{size / taken / limits.read:.0%} of read")


def rotary(library, table, limits, seconds):
    x = torch.randn(4, 8192, 32, 128, device="cuda", dtype=torch.bfloat16)
    cos, sin = (torch.randn(8192, 64, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    out = torch.empty_like(x)
    run = lambda: library.rotary(x, cos, sin, out)
    taken, size = median_seconds(run, seconds), 2 * x.numel() * 2
    table.add("rotary bf16 4 x 8192 x 32 x 128", taken, f"{size / taken / 1e9:.0f} GB/s",
              f"{size / taken / limits.copy:.0%} of copy")


def rwkv7(library, table, seconds):
    shape, dim = (8, 4096, 32, 64), 64
    r, k, v = (torch.randn(shape, device="cuda", dtype=torch.bfloat16) for _ in range(3))
    w = -0.6 * torch.rand(shape, device="cuda", dtype=torch.bfloat16)
    kk = F.normalize(torch.randn(shape, device="cuda"), dim=-1)
    a, b = (-kk).bfloat16(), (kk * torch.rand(shape, device="cuda")).bfloat16()
    tensors = (r, w, k, v, a, b)
    out, state_bytes = torch.empty_like(r), 4 * shape[0] * shape[1] * shape[2] * dim * dim
    forward = lambda: library.rwkv7_fwd(tensors, out)
    taken = median_seconds(forward, seconds)
    table.add("rwkv7 fwd bf16 8 x 4096 x 32 x 64", taken, f"{state_bytes / taken / 1e9:.0f} state GB/s", "-")
    backward = library.rwkv7_bwd(tensors, out, [torch.empty_like(r) for _ in range(6)])
    taken = median_seconds(backward, seconds)
    table.add("rwkv7 bwd bf16 8 x 4096 x 32 x 64", taken, f"{state_bytes / taken / 1e9:.0f} state GB/s", "-")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("library")
    parser.add_argument("--seconds", type=float, default=0.4)
    arguments = parser.parse_args()
    if not torch.cuda.is_available():
        print("skipped: PyTorch finds no CUDA device")
        return 77
    library, table = flash_ref_torch.Library(arguments.library), Table()
    limits, seconds = Limits(arguments.seconds), arguments.seconds
    for causal in (False, True):
        for tokens in (2048, 8192):
            attention(library, table, limits, seconds, torch.bfloat16, tokens, 16, 16, 128, causal)
    attention(library, table, limits, seconds, torch.float16, 8192, 16, 16, 64, False)
    attention(library, table, limits, seconds, torch.bfloat16, 8192, 16, 4, 96, True)
    attention(library, table, limits, seconds, torch.bfloat16, 8192, 8, 8, 256, False)
    for batch, keys in ((1, 65536), (16, 8192), (64, 8192)):
        decoding(library, table, limits, seconds, batch, keys, 32, 8, 128)
    rotary(library, table, limits, seconds)
    rwkv7(library, table, seconds)
    table.show(f"{datetime.date.today()}, {torch.cuda.get_device_name()}, PyTorch {torch.__version__}, product "
               f"{limits.flops / 1e12:.0f} TFLOP/s, copy {limits.copy / 1e9:.0f} GB/s, read {limits.read / 1e9:.0f} GB/s")
    return 0


sys.exit(main())
