"""What a user chooses is what runs: the instruction set, the number of threads, the number of ranges of keys.

All three give right results when they are ignored, so no test of accuracy notices. Results of other instruction sets
and of other cuts differ in their last bits, threads are counted in /proc. Called through ctypes, in a process of its
own for each choice.

usage: choices_test.py LIBRARY
"""
import ctypes
import math
import os
import random
import signal
import struct
import subprocess
import sys
import time


class Device(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int32), ("id", ctypes.c_int32)]


class Dtype(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device", Device), ("ndim", ctypes.c_int32), ("dtype", Dtype),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
                ("byte_offset", ctypes.c_uint64)]


class KvCacheOptions(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_uint32), ("causal", ctypes.c_uint32), ("stream", ctypes.c_void_p),
                ("workspace", ctypes.c_void_p), ("workspace_bytes", ctypes.c_size_t),
                ("softmax_scale", ctypes.c_float), ("reserved", ctypes.c_uint32), ("softcap", ctypes.c_float),
                ("window", ctypes.c_uint32), ("alibi_slopes", ctypes.c_void_p), ("interleaved", ctypes.c_uint32),
                ("num_splits", ctypes.c_uint32)]


def tensor(*shape, bits=16):
    """Normally distributed floating-point numbers of so many bits, and the memory that they lie in."""
    count = math.prod(shape)
    numbers = struct.pack(f"{count}{'e' if bits == 16 else 'f'}", *(random.gauss(0, 1) for _ in range(count)))
    memory = ctypes.create_string_buffer(numbers)
    sizes = (ctypes.c_int64 * len(shape))(*shape)
    return Tensor(ctypes.addressof(memory), Device(1, 0), len(shape), Dtype(2, bits, 1), sizes, None, 0), memory


def close(library):
    """A pool's threads outlive the library that started them."""
    flash_ref = ctypes.CDLL(library)
    q, _q = tensor(1, 600, 4, 64)
    out, _out = tensor(1, 600, 4, 64)
    assert flash_ref.flash_ref_attention_fwd(*map(ctypes.byref, (q, q, q, out)), None, None) == 0
    handle = ctypes.c_void_p(flash_ref._handle)
    assert ctypes.CDLL(None).dlclose(handle) == 0
    with open("/proc/self/maps") as maps:
        assert library not in maps.read(), "the library is still there"
    time.sleep(0.3)


def fork(library):
    """The program's own OpenMP had a pool before it forked; the child's first call takes threads."""
    openmp = ctypes.CDLL("libgomp.so.1", mode=ctypes.RTLD_GLOBAL)
    region = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda _: None)
    openmp.GOMP_parallel(region, None, 3, 0)
    flash_ref = ctypes.CDLL(library)
    q, _q = tensor(1, 600, 4, 64)
    out, _out = tensor(1, 600, 4, 64)
    process = os.fork()
    if process == 0:
        signal.alarm(300)
        os._exit(flash_ref.flash_ref_attention_fwd(*map(ctypes.byref, (q, q, q, out)), None, None))
    assert os.waitpid(process, 0)[1] == 0, "the forked child did not return from its first call"


def child(library, what):
    if what == "close":
        return close(library)
    if what == "fork":
        return fork(library)
    random.seed(1)
    flash_ref = ctypes.CDLL(library)
    flash_ref.flash_ref_last_error.restype = ctypes.c_char_p
    long = what.startswith("splits")
    heads = 16 if long else 4  # another cut changes the last bit of few results, so more of them are asked
    q, _q = tensor(1, 8 if long else 64, heads, 64)
    k, _k = tensor(1, 4096 if long else 600, heads // 2, 64)
    v, _v = (k, _k) if long else tensor(1, 600, heads // 2, 64)
    out, _out = tensor(*q.shape[:4])
    lse, result = tensor(1, heads, q.shape[1], bits=32)  # in float32 the last bits are seen
    if long:
        options = KvCacheOptions(struct_size=ctypes.sizeof(KvCacheOptions), num_splits=int(what.split()[1]))
        status = flash_ref.flash_ref_attention_kvcache(ctypes.byref(q), ctypes.byref(k), ctypes.byref(v), *[None] * 7,
                                                       ctypes.byref(out), ctypes.byref(lse), ctypes.byref(options))
    else:
        status = flash_ref.flash_ref_attention_fwd(*map(ctypes.byref, (q, k, v, out, lse)), None)
    if status != 0:
        sys.exit(flash_ref.flash_ref_last_error().decode())
    print(len(os.listdir("/proc/self/task")), result.raw.hex())


def run(library, what, **environment):
    """Threads and result of a child's call, or its error."""
    process = subprocess.run([sys.executable, __file__, library, what], capture_output=True, text=True,
                             env={**os.environ, "OMP_WAIT_POLICY": "passive", **environment})
    if process.returncode != 0:
        return None, process.stderr
    threads, result = process.stdout.split()
    return int(threads), result


def main(library):
    _, refusal = run(library, "isa", FLASH_REF_ISA="none of them")
    names = refusal.strip().rpartition("expected one of: ")[2].split(", ")
    assert names[0] == "scalar", refusal
    results = {name: run(library, "isa", FLASH_REF_ISA=name)[1] for name in names}
    results.pop("avx512bf16", None)  # has float16 from avx512
    assert len(set(results.values())) == len(results), f"the same bits with each of {', '.join(results)}"

    for threads in 1, 3:
        counted = run(library, "threads", OMP_NUM_THREADS=str(threads))[0]
        assert counted == threads, f"{counted} threads with OMP_NUM_THREADS={threads}"

    for what in "close", "fork":
        process = subprocess.run([sys.executable, __file__, library, what], capture_output=True, text=True,
                                 env={**os.environ, "OMP_NUM_THREADS": "3"})
        assert process.returncode == 0, f"{what}: status {process.returncode} {process.stderr}"

    cuts = {count: run(library, f"splits {count}", FLASH_REF_ISA=names[-1])[1] for count in (1, 4, 16)}
    assert len(set(cuts.values())) == len(cuts), "the same bits with num_splits 1, 4 and 16"
    print(f"{', '.join(results)}; 1 and 3 threads; closed, forked; 1, 4 and 16 ranges")


if len(sys.argv) == 3:
    child(sys.argv[1], sys.argv[2])
else:
    main(sys.argv[1])
