"""flash_ref's kernels beside PyTorch's attention backends on one GPU: the same tensors, random, median of many runs,
and what the GPU can do measured in the same run. The table comes last.

Usage: bench.py LIBFLASH_REF [--seconds N] [--table FILE] [--dry-run]
  --seconds N   for each figure; 0.4 by default
  --table FILE  the table goes there
  --dry-run     without a GPU: small tensors on CPU, so that every line of this runs and every result is checked;
                its figures say nothing about a GPU
"""
import argparse
import datetime
import pathlib
import statistics
import sys
import time

import flash_ref_torch

try:
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel
    import torch.nn.functional as F
except ImportError as error:
    print(f"skipped: no PyTorch with attention backends: {error}")
    sys.exit(77)

PEERS = {"flash": "FLASH_ATTENTION", "cudnn": "CUDNN_ATTENTION", "efficient": "EFFICIENT_ATTENTION", "math": "MATH"}


class Machine:
    """The GPU, or for a dry run the CPU."""

    def __init__(self, dry):
        self.device = "cpu" if dry else "cuda"
        self.name = "DRY RUN on CPU, no figure of a GPU" if dry else torch.cuda.get_device_name()
        self.wait = (lambda: None) if dry else torch.cuda.synchronize

    def random(self, *shape, dtype=torch.bfloat16):
        return torch.randn(shape, device=self.device, dtype=dtype)

    def single(self, run):
        if self.device == "cpu":
            begin = time.perf_counter()
            run()
            return time.perf_counter() - begin
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        torch.cuda._sleep(400_000)  # pylint: disable=protected-access  # some 0.2 ms: what follows is in the queue when it begins
        begin.record()
        run()
        end.record()
        end.synchronize()
        return begin.elapsed_time(end) / 1e3

    def median(self, run, seconds):
        """Of single runs, after three that warm up; the cache is cold for none of them."""
        for _ in range(3):
            run()
        self.wait()
        times = []
        while (sum(times) < seconds or len(times) < 10) and len(times) < 400:
            times.append(self.single(run))
        return statistics.median(times)


class Table:
    def __init__(self):
        self.rows = []

    def add(self, name, seconds, figure, limit, peers=()):
        ratios = "  ".join(f"{peer} {peer_seconds / seconds:.2f}x" if peer_seconds else f"{peer} -"
                           for peer, peer_seconds in peers)
        self.rows.append(f"{name:52} {seconds * 1e3:9.3f} ms  {figure:>16}  {limit:>16}  {ratios}".rstrip())
        print(self.rows[-1], flush=True)

    def text(self, title):
        head = f"{'case':52} {'median':>12}  {'rate':>16}  {'of the limit':>16}  speed relative to PyTorch's"
        return "\n".join([title, head, *self.rows])


wrong = []


def close(name, actual, expected, tolerance=0.02):
    """The benchmark of a wrong answer is worth nothing; the others are still made."""
    error = (actual.float() - expected.float()).norm() / expected.float().norm()
    if not error < tolerance:
        wrong.append(f"{name}: wrong by {error:.3g} relative to PyTorch")
        print(wrong[-1], flush=True)


def repeated(keys, group):
    """Of (batch, rows, kv heads, dim), as PyTorch wants keys of grouped heads: (batch, heads, rows, dim)."""
    return keys.repeat_interleave(group, 2).transpose(1, 2)


class Bench:
    def __init__(self, library, machine, seconds, dry):
        self.library, self.machine, self.seconds, self.dry = library, machine, seconds, dry
        self.table = Table()
        self.measure_limits()

    def size(self, full, small):
        return small if self.dry else full

    def measure_limits(self):
        """A bf16 matrix product, a copy and a read stream, as fast as this machine does them."""
        side, count = self.size(8192, 128), self.size(1 << 28, 1 << 16)
        a, b = self.machine.random(side, side), self.machine.random(side, side)
        self.flops = 2 * side**3 / self.machine.median(lambda: torch.mm(a, b), self.seconds)
        source = self.machine.random(count, dtype=torch.float32)
        target = torch.empty_like(source)
        self.copy = 2 * 4 * count / self.machine.median(lambda: target.copy_(source), self.seconds)
        self.read = 4 * count / self.machine.median(source.sum, self.seconds)
        print(self.limits())

    def limits(self):
        return (f"product {self.flops / 1e12:.4g} TFLOP/s, copy {self.copy / 1e9:.0f} GB/s, "
                f"read {self.read / 1e9:.0f} GB/s")

    def peers(self, start, names):
        """Seconds of each of PyTorch's backends; start(), in its context, gives what is measured."""
        found = []
        for name in names:
            try:
                with sdpa_kernel(getattr(SDPBackend, PEERS[name])):
                    found.append((name, self.machine.median(start(), self.seconds)))
            except (RuntimeError, AttributeError):  # not for these tensors, or this PyTorch has none
                found.append((name, None))
            if self.machine.device == "cuda":
                torch.cuda.empty_cache()
        return found

    def add_attention(self, name, flops, run, peers):
        taken = self.machine.median(run, self.seconds)
        self.table.add(name, taken, f"{flops / taken / 1e12:.4g} TFLOP/s", f"{flops / taken / self.flops:.0%}", peers())

    def attention(self, dtype, tokens, heads, kv_heads, dim, causal):
        batch, group = max(1, 16384 // tokens), heads // kv_heads
        tokens, batch = self.size(tokens, tokens // 64), self.size(batch, 1)
        q, dout = (self.machine.random(batch, tokens, heads, dim, dtype=dtype) for _ in range(2))
        k, v = (self.machine.random(batch, tokens, kv_heads, dim, dtype=dtype) for _ in range(2))
        out, lse = torch.empty_like(q), torch.empty(batch, heads, tokens, device=q.device)
        dq, dk, dv = (torch.empty_like(t) for t in (q, k, v))
        flops = 4 * batch * heads * tokens * tokens * dim * (0.5 if causal else 1)
        label = f"{str(dtype)[6:]} {tokens} tokens, {heads}/{kv_heads} heads, dim {dim}{' causal' if causal else ''}"
        leaves = [t.detach().requires_grad_() for t in (q.transpose(1, 2), repeated(k, group), repeated(v, group))]

        def reference():
            return F.scaled_dot_product_attention(*leaves, is_causal=causal)

        def reference_backward():
            result, gradient = reference(), dout.transpose(1, 2)
            return lambda: torch.autograd.grad(result, leaves, gradient, retain_graph=True)

        def forward():
            self.library.attention_fwd(q, k, v, out, lse, causal)

        def forward_only():
            with torch.no_grad():
                return reference()

        forward()
        with sdpa_kernel(SDPBackend.FLASH_ATTENTION):
            close(f"forward {label}", out, forward_only().transpose(1, 2))
        self.add_attention(f"fwd {label}", flops, forward, lambda: self.peers(lambda: forward_only, PEERS))
        backward = self.library.attention_bwd(q, k, v, out, lse, dout, dq, dk, dv, causal)
        backward()
        with sdpa_kernel(SDPBackend.FLASH_ATTENTION):
            expected = [t.transpose(1, 2) for t in reference_backward()()]
        for name, mine, its in zip(("dq", "dk", "dv"), (dq, dk, dv), expected):
            its = its.float().unflatten(2, (mine.shape[2], -1)).sum(3)  # of the heads that share keys
            close(f"backward {label}: {name}", mine, its)
        self.add_attention(f"bwd {label}", 2.5 * flops, backward,
                           lambda: self.peers(reference_backward, ("flash", "cudnn", "efficient")))

    def decoding(self, batch, keys, heads, kv_heads, dim):
        batch, keys = self.size(batch, 2), self.size(keys, 600)
        q = self.machine.random(batch, 1, heads, dim)
        k, v = (self.machine.random(batch, keys, kv_heads, dim) for _ in range(2))
        out = torch.empty_like(q)
        lengths = torch.full((batch,), keys, device=q.device, dtype=torch.int32)
        run = self.library.attention_kvcache(q, k, v, lengths, out)
        run()
        group = heads // kv_heads
        close("decode", out, F.scaled_dot_product_attention(q.transpose(1, 2), repeated(k, group),
                                                            repeated(v, group)).transpose(1, 2))
        self.add_stream(f"decode bf16 {batch} x {keys} keys, {heads}/{kv_heads} heads, dim {dim}", run,
                        2 * k.numel() * 2, self.read, "read")

    def rotary(self):
        batch, tokens, heads, dim = self.size((4, 8192, 32, 128), (1, 128, 2, 128))
        x = self.machine.random(batch, tokens, heads, dim)
        cos, sin = (self.machine.random(tokens, dim // 2) for _ in range(2))
        out = torch.empty_like(x)

        def run():
            self.library.rotary(x, cos, sin, out)

        run()
        c, s = (t.float()[None, :, None, :] for t in (cos, sin))
        low, high = x.float().chunk(2, -1)
        close("rotary", out, torch.cat((low * c - high * s, high * c + low * s), -1))
        self.add_stream(f"rotary bf16 {batch} x {tokens} x {heads} x {dim}", run, 2 * x.numel() * 2, self.copy, "copy")

    def add_stream(self, name, run, size, limit, of):
        taken = self.machine.median(run, self.seconds)
        self.table.add(name, taken, f"{size / taken / 1e9:.0f} GB/s", f"{size / taken / limit:.0%} of {of}")

    def rwkv7(self):
        shape = self.size((8, 4096, 32, 64), (1, 40, 2, 64))
        dim, label = shape[3], " x ".join(str(n) for n in shape)
        r, k, v, noise = (self.machine.random(*shape) for _ in range(4))
        w = -0.6 * torch.rand_like(r)
        kk = F.normalize(noise.float(), dim=-1)
        tensors = (r, w, k, v, (-kk).bfloat16(), (kk * torch.rand_like(kk)).bfloat16())
        out, gradients = torch.empty_like(r), [torch.empty_like(r) for _ in range(6)]
        backward = self.library.rwkv7_bwd(tensors, out, gradients)
        state_bytes = 4 * shape[0] * shape[1] * shape[2] * dim * dim
        for way, run in (("fwd", lambda: self.library.rwkv7_fwd(tensors, out)), ("bwd", backward)):
            taken = self.machine.median(run, self.seconds)
            self.table.add(f"rwkv7 {way} bf16 {label}", taken, f"{state_bytes / taken / 1e9:.0f} state GB/s", "-")
        if not all(t.isfinite().all() for t in (out, *gradients)):
            wrong.append("rwkv7: a result is not finite")

    def run(self):
        for causal in (False, True):
            for tokens in (2048, 8192):
                self.attention(torch.bfloat16, tokens, 16, 16, 128, causal)
        self.attention(torch.float16, 8192, 16, 16, 64, False)
        self.attention(torch.bfloat16, 8192, 16, 4, 96, True)
        self.attention(torch.bfloat16, 8192, 8, 8, 256, False)
        for batch, keys in ((1, 65536), (16, 8192), (64, 8192)):
            self.decoding(batch, keys, 32, 8, 128)
        self.rotary()
        self.rwkv7()
        return self.table.text(f"{datetime.date.today()}, {self.machine.name}, PyTorch {torch.__version__}, {self.limits()}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library")
    parser.add_argument("--seconds", type=float, default=0.4)
    parser.add_argument("--table", type=pathlib.Path)
    parser.add_argument("--dry-run", action="store_true")
    arguments = parser.parse_args()
    if not arguments.dry_run and not torch.cuda.is_available():
        print("skipped: PyTorch finds no CUDA device")
        return 77
    library = flash_ref_torch.Library(arguments.library)
    seconds = 0.01 if arguments.dry_run else arguments.seconds
    table = "\n".join([Bench(library, Machine(arguments.dry_run), seconds, arguments.dry_run).run(), *wrong])
    if arguments.table:
        arguments.table.write_text(table + "\n", encoding="utf-8")
    else:
        print(f"\n{table}")
    return 1 if wrong else 0


sys.exit(main())
