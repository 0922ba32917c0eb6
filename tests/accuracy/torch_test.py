"""flash_ref's functions against PyTorch's autograd on the same tensors, through ctypes.

Usage: torch_test.py LIBFLASH_REF

The judge is PyTorch in float64 with the formulae written out; the largest error may be twice that of PyTorch in the
tensors' own dtype, plus two units in the last place. Status 77, with the reason, where PyTorch cannot be imported.
"""
import ctypes
import sys

try:
    import torch
except ImportError as error:
    print(f"skipped: {sys.executable} has no PyTorch ({error})")
    sys.exit(77)


class DLTensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
                ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
                ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]


class AttentionOptions(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_uint32), ("causal", ctypes.c_uint32), ("stream", ctypes.c_void_p),
                ("workspace", ctypes.c_void_p), ("workspace_bytes", ctypes.c_size_t),
                ("softmax_scale", ctypes.c_float), ("reserved", ctypes.c_uint32), ("softcap", ctypes.c_float),
                ("window", ctypes.c_uint32), ("alibi_slopes", ctypes.POINTER(DLTensor)),
                ("mask", ctypes.POINTER(DLTensor))]


class RotaryOptions(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_uint32), ("interleaved", ctypes.c_uint32), ("stream", ctypes.c_void_p),
                ("workspace", ctypes.c_void_p), ("workspace_bytes", ctypes.c_size_t),
                ("conjugate", ctypes.c_uint32), ("reserved", ctypes.c_uint32)]


class KvCacheOptions(ctypes.Structure):
    _fields_ = AttentionOptions._fields_[:-1] + [("interleaved", ctypes.c_uint32), ("num_splits", ctypes.c_uint32)]


TYPES = {torch.float16: (2, 16), torch.bfloat16: (4, 16), torch.float32: (2, 32), torch.bool: (6, 8),
         torch.int32: (0, 32)}
FRACTION_BITS = {torch.float16: 10, torch.bfloat16: 7, torch.float32: 23}
library = ctypes.CDLL(sys.argv[1])
library.flash_ref_last_error.restype = ctypes.c_char_p


def view(tensor):
    """The descriptor; the tensor has to outlive it."""
    code, bits = TYPES[tensor.dtype]
    sizes = (ctypes.c_int64 * tensor.dim())(*tensor.shape)
    strides = (ctypes.c_int64 * tensor.dim())(*tensor.stride())
    return DLTensor(tensor.data_ptr(), 1, 0, tensor.dim(), code, bits, 1, sizes, strides, 0)


def call(name, tensors, options=None):
    views = [None if tensor is None else ctypes.byref(view(tensor)) for tensor in tensors]
    status = getattr(library, name)(*views, None if options is None else ctypes.byref(options))
    if status != 0:
        raise SystemExit(f"{name}: status {status}: {library.flash_ref_last_error().decode()}")


def attention(q, k, v, causal, softcap, mask):
    """(batch, seq, heads, dim), written out."""
    group = q.shape[2] // k.shape[2]
    q, k, v = (x.transpose(1, 2) for x in (q, k.repeat_interleave(group, 2), v.repeat_interleave(group, 2)))
    scores = q @ (k * q.shape[3] ** -0.5).transpose(2, 3)
    if softcap:
        scores = softcap * torch.tanh(scores / softcap)
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf")) if mask.dtype == torch.bool else scores + mask.to(q.dtype)
    if causal:
        seen = torch.ones(q.shape[2], k.shape[2]).tril(k.shape[2] - q.shape[2]).bool()
        scores = scores.masked_fill(~seen, float("-inf"))
    return (torch.softmax(scores, 3) @ v).transpose(1, 2)


def rwkv7(r, w, k, v, a, b, state):
    out = []
    for t in range(r.shape[1]):
        column = [x[:, t] for x in (r, w, k, v, a, b)]
        rt, wt, kt, vt, at, bt = column
        projected = (state @ at.unsqueeze(3)).squeeze(3)
        state = (state * torch.exp(wt).unsqueeze(2) + projected.unsqueeze(3) * bt.unsqueeze(2)
                 + vt.unsqueeze(3) * kt.unsqueeze(2))
        out.append((state @ rt.unsqueeze(3)).squeeze(3))
    return torch.stack(out, 1), state


def rotary(x, cos, sin):
    half = cos.shape[1]
    a, b, rest = x[..., :half], x[..., half:2 * half], x[..., 2 * half:]
    cos, sin = cos[:, None], sin[:, None]
    return torch.cat([a * cos - b * sin, b * cos + a * sin, rest], 3)


def gradients(function, inputs, douts, dtype):
    leaves = [x.detach().to(dtype).requires_grad_(True) for x in inputs]
    results = function(*leaves)
    results = results if isinstance(results, tuple) else (results,)
    loss = sum((result * dout.to(dtype)).sum() for result, dout in zip(results, douts))
    return list(results), torch.autograd.grad(loss, leaves)


def judge(what, actual, exact, naive):
    exact = exact.double()
    error = (actual.double() - exact).abs().max().item()
    normal = (naive.double() - exact).abs().max().item()
    ulp = 2.0 ** (torch.tensor(exact.abs().max().item()).log2().floor().item() - FRACTION_BITS[actual.dtype])
    print(f"  {what}: max error {error:.3g}, PyTorch's {normal:.3g}, 2 ulp {2 * ulp:.3g}")
    if not error <= 2 * normal + 2 * ulp:
        raise SystemExit(f"{what} is further from float64 than the rule allows")


def check_attention(dtype, causal, softcap, mask_dtype):
    q, dout = torch.randn(2, 70, 4, 64), torch.randn(2, 70, 4, 64)
    k, v = torch.randn(2, 90, 2, 64), torch.randn(2, 90, 2, 64)
    q, k, v, dout = (x.to(dtype) for x in (q, k, v, dout))
    mask = None
    if mask_dtype is not None:
        mask = torch.randn(2, 4, 70, 90)
        mask = mask > -1 if mask_dtype == torch.bool else mask.to(mask_dtype)
    print(f"attention, {dtype}, causal {causal}, softcap {softcap}, mask {mask_dtype}")
    out, lse = torch.empty_like(q), torch.empty(2, 4, 70)
    dq, dk, dv = torch.empty_like(q), torch.empty_like(k), torch.empty_like(v)
    options = AttentionOptions(struct_size=ctypes.sizeof(AttentionOptions), causal=causal, softcap=softcap)
    if mask is not None:
        options.mask = ctypes.pointer(view(mask))
    call("flash_ref_attention_fwd", [q, k, v, out, lse], options)
    call("flash_ref_attention_bwd", [q, k, v, out, lse, dout, dq, dk, dv], options)
    exact, naive = (gradients(lambda *x: attention(*x, causal, softcap, mask), [q, k, v], [dout], to)
                    for to in (torch.float64, dtype))
    for name, actual, right, plain in zip(["out", "dq", "dk", "dv"], [out, dq, dk, dv], exact[0] + list(exact[1]),
                                          naive[0] + list(naive[1])):
        judge(name, actual, right, plain)


def check_varlen(dtype, mask_dtype):
    print(f"attention of sequences of different lengths, {dtype}, mask {mask_dtype}")
    q_lengths, k_lengths = [7, 1, 64, 0], [90, 300, 64, 5]
    q, dout = torch.randn(sum(q_lengths), 4, 32).to(dtype), torch.randn(sum(q_lengths), 4, 32).to(dtype)
    k, v = torch.randn(sum(k_lengths), 2, 32).to(dtype), torch.randn(sum(k_lengths), 2, 32).to(dtype)
    mask = torch.randn(4, 4, 64, 300)
    mask = mask > -1 if mask_dtype == torch.bool else mask.to(mask_dtype)
    cu_q, cu_k = (torch.tensor([sum(x[:i]) for i in range(5)], dtype=torch.int32) for x in (q_lengths, k_lengths))
    out, lse = torch.empty_like(q), torch.empty(4, sum(q_lengths))
    dq, dk, dv = torch.empty_like(q), torch.empty_like(k), torch.empty_like(v)
    options = AttentionOptions(struct_size=ctypes.sizeof(AttentionOptions), causal=1)
    options.mask = ctypes.pointer(view(mask))
    call("flash_ref_attention_varlen_fwd", [q, k, v, cu_q, cu_k, out, lse], options)
    call("flash_ref_attention_varlen_bwd", [q, k, v, cu_q, cu_k, out, lse, dout, dq, dk, dv], options)

    def all_sequences(q, k, v):
        parts = []
        for b in range(3):  # the last one has no queries
            rows, keys = slice(*cu_q[b:b + 2].tolist()), slice(*cu_k[b:b + 2].tolist())
            seen = mask[b:b + 1, :, :q_lengths[b], :k_lengths[b]]
            parts.append(attention(q[None, rows], k[None, keys], v[None, keys], True, 0, seen)[0])
        return torch.cat(parts)

    exact, naive = (gradients(all_sequences, [q, k, v], [dout], to) for to in (torch.float64, dtype))
    for name, actual, right, plain in zip(["out", "dq", "dk", "dv"], [out, dq, dk, dv], exact[0] + list(exact[1]),
                                          naive[0] + list(naive[1])):
        judge(name, actual, right, plain)


def check_kvcache(dtype, new, causal, page):
    """A cache in pages of `page` keys, or whole (0); `new` keys are appended and rotated."""
    print(f"attention with a cache, {dtype}, {new} new keys, causal {causal}, page size {page}")
    cached, capacity, pairs = [150, 33], 192, 16
    q, k, v = (torch.randn(2, new, heads, 64).to(dtype) for heads in (6, 2, 2))
    k_whole, v_whole = torch.randn(2, capacity, 2, 64).to(dtype), torch.randn(2, capacity, 2, 64).to(dtype)
    angle = torch.randn(capacity, pairs)
    cos, sin = torch.cos(angle).to(dtype), torch.sin(angle).to(dtype)
    k_cache, v_cache, table = k_whole.clone(), v_whole.clone(), None
    if page:
        order = torch.randperm(2 * capacity // page)
        table = torch.argsort(order).to(torch.int32).view(2, -1).contiguous()
        k_cache, v_cache = (x.view(-1, page, 2, 64)[order].contiguous() for x in (k_cache, v_cache))
    out, lse = torch.empty_like(q), torch.empty(2, 6, new)
    lengths = torch.tensor(cached, dtype=torch.int32)
    options = KvCacheOptions(struct_size=ctypes.sizeof(KvCacheOptions), causal=causal)
    call("flash_ref_attention_kvcache", [q, k_cache, v_cache, k, v, cos, sin, lengths, None, table, out, lse], options)
    if page:
        k_cache, v_cache = (x[table.long().view(-1)].view(2, capacity, 2, 64) for x in (k_cache, v_cache))

    def right(to):
        outs, keys = [], []
        for b, first in enumerate(cached):
            rows = slice(first, first + new)
            turned = slice(first, first + new) if causal else slice(first, first + 1)  # flash-attn's rule for q
            c, s = cos.to(to), sin.to(to)
            stored = rotary(k[b:b + 1].to(to), c[rows], s[rows])
            rotated = rotary(q[b:b + 1].to(to), c[turned], s[turned])
            keys.append(stored)
            outs.append(attention(rotated, torch.cat([k_whole[b:b + 1, :first].to(to), stored], 1),
                                  torch.cat([v_whole[b:b + 1, :first].to(to), v[b:b + 1].to(to)], 1), causal, 0, None))
        return torch.cat(outs), torch.cat(keys)

    exact, naive = right(torch.float64), right(dtype)
    judge("out", out, exact[0], naive[0])
    stored = torch.stack([k_cache[b, first:first + new] for b, first in enumerate(cached)])
    judge("stored keys", stored, exact[1], naive[1])
    for b, first in enumerate(cached):
        same = (v_cache[b, first:first + new].equal(v[b]) and v_cache[b, :first].equal(v_whole[b, :first])
                and k_cache[b, :first].equal(k_whole[b, :first]) and k_cache[b, first + new:].equal(k_whole[b, first + new:]))
        if not same:
            raise SystemExit("the cache holds something else than was stored")


def check_rwkv7(dtype):
    print(f"rwkv7, {dtype}")
    shape = (2, 21, 2, 16)
    direction = torch.nn.functional.normalize(torch.randn(shape), dim=3)
    inputs = [torch.randn(shape), -0.6 * torch.rand(shape), torch.randn(shape) / 2, torch.randn(shape), -direction,
              direction * torch.rand(2, 21, 2, 1)]
    inputs, dout = [x.to(dtype) for x in inputs], torch.randn(shape).to(dtype)
    state, dfinal = torch.randn(2, 2, 16, 16), torch.randn(2, 2, 16, 16)
    found, dstate = [torch.empty_like(x) for x in inputs], torch.empty_like(state)
    out, final = torch.empty_like(dout), torch.empty_like(state)
    call("flash_ref_rwkv7_fwd", inputs + [state, out, final])
    call("flash_ref_rwkv7_bwd", inputs + [state, dout, dfinal] + found + [dstate])
    exact = gradients(rwkv7, inputs + [state], [dout, dfinal], torch.float64)
    naive = gradients(rwkv7, inputs + [state], [dout, dfinal], dtype)
    names = ["out", "final_state", "dr", "dw", "dk", "dv", "da", "db", "dinitial_state"]
    for name, actual, right, plain in zip(names, [out, final] + found + [dstate], exact[0] + list(exact[1]),
                                          naive[0] + list(naive[1])):
        judge(name, actual, right, plain)


def check_rotary(dtype):
    print(f"rotary, {dtype}")
    x, dout = torch.randn(2, 9, 3, 20).to(dtype), torch.randn(2, 9, 3, 20).to(dtype)
    angle = torch.randn(9, 8)
    cos, sin = torch.cos(angle).to(dtype), torch.sin(angle).to(dtype)
    out, dx = torch.empty_like(x), dout.clone()
    options = RotaryOptions(struct_size=ctypes.sizeof(RotaryOptions))
    call("flash_ref_rotary", [x, cos, sin, out], options)
    options.conjugate = 1
    call("flash_ref_rotary", [dx, cos, sin, dx], options)
    exact = gradients(lambda y: rotary(y, cos.double(), sin.double()), [x], [dout], torch.float64)
    naive = gradients(lambda y: rotary(y, cos, sin), [x], [dout], dtype)
    judge("out", out, exact[0][0], naive[0][0])
    judge("dx, in place", dx, exact[1][0], naive[1][0])


def main():
    torch.manual_seed(7)
    print(f"PyTorch {torch.__version__}")
    for dtype in (torch.bfloat16, torch.float32):  # 1.13 multiplies no float16 matrices on CPU
        if dtype != torch.float32:
            for causal, softcap, mask in [(0, 0, None), (1, 0, None), (1, 5.0, None), (0, 0, torch.bool),
                                          (1, 0, torch.float32), (0, 2.0, dtype)]:
                check_attention(dtype, causal, softcap, mask)
            for mask in (torch.bool, torch.float32, dtype):
                check_varlen(dtype, mask)
            for new, causal, page in [(1, 0, 0), (1, 0, 16), (5, 1, 16), (5, 0, 0), (40, 1, 32)]:
                check_kvcache(dtype, new, causal, page)
        check_rwkv7(dtype)
        check_rotary(dtype)


main()
