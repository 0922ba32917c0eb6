"""What the CUPTI cases (cases.py) run under dtype-san on a GPU: `program.py WORD [ARGUMENT...]`. Prints one JSON line
with what happened, which the case compares with the report."""
import ctypes
import json
import sys
import time

import torch

SHAPE = (2, 8, 512, 64)
BACKENDS = {"flash": "FLASH_ATTENTION", "efficient": "EFFICIENT_ATTENTION", "cudnn": "CUDNN_ATTENTION", "math": "MATH"}


def tensors(dtype, count=3, shape=SHAPE):
    return [torch.randn(shape, device="cuda", dtype=torch.float32).to(dtype) for _ in range(count)]


def attend(q, k, v, backend="flash"):
    from torch.nn.attention import SDPBackend, sdpa_kernel
    with sdpa_kernel(getattr(SDPBackend, BACKENDS[backend])):
        return torch.nn.functional.scaled_dot_product_attention(q, k, v)


def sdpa():
    """Each backend and dtype, forward and backward: when it ran, and whether it would."""
    done = []
    for backend in BACKENDS:
        for name in ("float16", "bfloat16", "float32"):
            inputs = [one.requires_grad_() for one in tensors(getattr(torch, name))]
            torch.cuda.synchronize()
            start, problem = time.time_ns(), ""
            try:
                attend(*inputs, backend).sum().backward()
                torch.cuda.synchronize()
            except RuntimeError as error:
                problem = str(error).splitlines()[0]
            done.append({"backend": backend, "dtype": name, "start": start, "end": time.time_ns(), "problem": problem})
    return done


def casts(calls="5"):
    """float32 q and k, cast right before each call; v is bfloat16 from the start."""
    q, k, v = tensors(torch.float32, 2) + tensors(torch.bfloat16, 1)
    v.mul_(0.5)  # what attention reads is that, not the cast which made v
    for _ in range(int(calls)):
        attend(q.to(torch.bfloat16), k.to(torch.bfloat16), v)
    torch.cuda.synchronize()
    return {"calls": int(calls), "bytes": int(calls) * 2 * q.numel() * 6}


def no_casts():
    """Casts that feed no attention, or not the next one; memory is used again all the time."""
    wide, half = tensors(torch.float32), tensors(torch.bfloat16)
    half[0].add_(1)
    for _ in range(20):
        attend(*[one.to(torch.bfloat16).mul(0.5) for one in wide])  # what attention reads is mul's
        wide[0].to(torch.bfloat16)  # dropped: its memory is that of the next product
        attend(*[one.mul(0.5) for one in half])
    torch.cuda.synchronize()
    return {}


def graph(replays="7"):
    inputs = tensors(torch.bfloat16)
    attend(*inputs)
    torch.cuda.synchronize()
    captured = torch.cuda.CUDAGraph()
    with torch.cuda.graph(captured):
        attend(*inputs)  # captured, not run
    for _ in range(int(replays)):
        captured.replay()
    torch.cuda.synchronize()
    return {"runs": 1 + int(replays)}


def profiled():
    from torch.profiler import ProfilerActivity, profile
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as found:
        attend(*tensors(torch.bfloat16))
        torch.cuda.synchronize()
    kernels = [event for event in found.events() if str(event.device_type).endswith("CUDA")]
    return len(kernels)


def profiler_first():
    kernels = profiled()
    attend(*tensors(torch.float16))
    torch.cuda.synchronize()
    return {"kernels": kernels}


def profiler_later():
    attend(*tensors(torch.float16))
    torch.cuda.synchronize()
    kernels = profiled()
    return {"kernels": kernels, "again": profiled()}


def launches_per_second(tensor):
    torch.cuda.synchronize()
    best = 0.0
    for _ in range(20):  # few enough that none waits for room in the queue
        start = time.perf_counter()
        for _ in range(500):
            tensor.add_(1)
        best = max(best, 500 / (time.perf_counter() - start))
        torch.cuda.synchronize()
    return best


def switch():
    """Watching off in the middle: the subscription is given back, and the job runs on at its own speed."""
    library = ctypes.CDLL(None)
    tensor = torch.zeros(64, device="cuda")
    attend(*tensors(torch.bfloat16))
    watched = launches_per_second(tensor)
    library.dtype_san_switch(0)
    attend(*tensors(torch.float16))
    detached = launches_per_second(tensor)
    library.dtype_san_switch(1)
    attend(*tensors(torch.bfloat16), "math")
    return {"watched": watched, "detached": detached}


def speed():
    return {"plain": launches_per_second(torch.zeros(64, device="cuda"))}


def speed_in_turns():
    """Answers each line with the time of a launch in ns, the best of some bursts."""
    tensor = torch.zeros(64, device="cuda")
    launches_per_second(tensor)
    print(json.dumps("ready"), flush=True)
    for _ in sys.stdin:
        print(json.dumps(1e9 / launches_per_second(tensor)), flush=True)
    return "done"


def step(seconds="5"):
    """Median time of a training step of a small transformer; under dtype-san with watching on and off in turn."""
    layer = torch.nn.TransformerEncoderLayer(1024, 16, 4096, batch_first=True)
    model = torch.nn.TransformerEncoder(layer, 6, enable_nested_tensor=False).cuda().bfloat16()
    optimizer = torch.optim.AdamW(model.parameters())
    batch = torch.randn(8, 512, 1024, device="cuda", dtype=torch.bfloat16)
    switch_watching = getattr(ctypes.CDLL(None), "dtype_san_switch", lambda on: None)

    def run():
        start = time.perf_counter()
        optimizer.zero_grad()
        model(batch).float().square().mean().backward()
        optimizer.step()
        torch.cuda.synchronize()
        return time.perf_counter() - start

    for _ in range(5):
        run()
    times, end = {"on": [], "off": []}, time.perf_counter() + float(seconds)
    while time.perf_counter() < end:
        for state, found in times.items():
            switch_watching(int(state == "on"))
            run()  # the first one after a switch subscribes, or gives back
            found += [run() for _ in range(10)]
    return {**{state: sorted(found)[len(found) // 2] * 1e3 for state, found in times.items()}, "steps": len(times["on"])}


class Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int), ("device_id", ctypes.c_int), ("ndim", ctypes.c_int),
                ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
                ("byte_offset", ctypes.c_uint64)]


def described(tensor):
    code, bits = {torch.float16: (2, 16), torch.bfloat16: (4, 16), torch.float32: (2, 32)}[tensor.dtype]
    numbers = ctypes.c_int64 * tensor.dim()
    return Tensor(tensor.data_ptr(), 2, tensor.device.index or 0, tensor.dim(), code, bits, 1, numbers(*tensor.shape),
                  numbers(*tensor.stride()), 0)


def flash_ref(library):
    """flash_ref on the GPU: a good call, one with a float32 q, one whose q is cast right before."""
    forward = ctypes.CDLL(library).flash_ref_attention_fwd
    torch.cuda.init()

    def call(q, k, v):
        out = torch.empty_like(v)
        torch.cuda.synchronize()  # flash_ref runs on the default stream here
        operands = [described(one) for one in (q, k, v, out)]
        status = forward(*[ctypes.byref(one) for one in operands], None, None)
        torch.cuda.synchronize()
        return status, out

    shape = (2, 512, 8, 64)
    q, k, v = tensors(torch.bfloat16, 3, shape)
    good, out = call(q, k, v)
    reference = attend(*[one.transpose(1, 2) for one in (q, k, v)], "math").transpose(1, 2)
    error = (out.float() - reference.float()).abs().max().item() if good == 0 else None
    wide = q.float()
    return {"good": good, "error": error, "wide": call(wide, k, v)[0], "fed": call(wide.to(torch.bfloat16), k, v)[0]}


def main():
    word = sys.argv[1].replace("-", "_")
    print(json.dumps(globals()[word](*sys.argv[2:])), flush=True)


if __name__ == "__main__":
    main()
