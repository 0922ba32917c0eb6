"""What the PyTorch cases (cases.py) run under dtype-san on a GPU beside the programs of tests/process:
`program.py WORD [ARGUMENT...]`. Prints one JSON line. The comments mark the line that a report has to open with.
"""
import hashlib
import json
import os
import pathlib
import sys
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

ROOT = pathlib.Path(__file__).resolve().parents[3]
DEVICE = os.environ.get("DEVICE", "cuda")
LOW = torch.bfloat16


def random(*shape, dtype=torch.float32):
    return torch.randn(shape, device=DEVICE).to(dtype)  # call: random


def wait():
    if DEVICE == "cuda":
        torch.cuda.synchronize()


def digest(*tensors):
    state = hashlib.sha256()
    for tensor in tensors:
        state.update(bytes(tensor.detach().float().cpu().reshape(-1).view(torch.uint8).tolist()))  # NumPy need not be there
    return state.hexdigest()[:16]


def attend(q, k, v):
    """Whether the call raises."""
    try:
        F.scaled_dot_product_attention(q, k, v)  # call: attend
    except RuntimeError as error:
        return str(error)[:60]
    return ""


def var(which):
    """VAR's attention (examples/var) under autocast in bfloat16, with a flash_attn that is stood in for."""
    sys.path.insert(0, str(ROOT / "tests/process/programs/stand_in"))
    sys.path.insert(0, str(ROOT / "examples/var"))
    module = __import__(which)
    torch.manual_seed(0)
    attention = module.SelfAttention().to(DEVICE)
    with torch.no_grad(), torch.autocast(DEVICE, dtype=LOW):
        out = attention(random(2, 16, 64))
    return {"digest": digest(out), "dtype": str(out.dtype)}


def var_fused(cast=""):
    """The same with PyTorch's own attention, which autocast recasts."""
    torch.manual_seed(0)
    scale = nn.Parameter(torch.full((1, 4, 1, 1), 4.0, device=DEVICE).log())
    project = nn.Linear(64, 192, bias=False).to(DEVICE)
    with torch.no_grad(), torch.autocast(DEVICE, dtype=LOW):
        q, k, v = project(random(2, 16, 64)).unflatten(-1, (12, 16)).transpose(1, 2).chunk(3, 1)
        main_type = q.dtype
        q, k = F.normalize(q, dim=-1).mul(scale.clamp_max(4.6).exp()), F.normalize(k, dim=-1)
        if cast:
            q, k = q.to(main_type), k.to(main_type)
        found = [str(one.dtype) for one in (q, k, v)]
        out = F.scaled_dot_product_attention(q, k, v, scale=1.0)  # call: var_fused
    return {"digest": digest(out), "dtypes": found}


def fallback(dtype):
    """Attention of a model that was left in float32, and of one that was not."""
    torch.manual_seed(0)
    q, k, v = (random(2, 8, 512, 64, dtype=getattr(torch, dtype)) for _ in range(3))
    out = F.scaled_dot_product_attention(q, k, v)
    wait()
    return {"digest": digest(out)}


def graph(replays="5"):
    """A wrong call and a right one are captured, then replayed."""
    sys.path.insert(0, str(ROOT / "tests/process/programs/stand_in"))
    from flash_attn import flash_attn_func
    torch.manual_seed(0)
    x, table = random(1, 64, 4, 32, dtype=LOW), random(32)
    right = [random(1, 4, 64, 32, dtype=LOW) for _ in range(3)]

    def step():
        q = x * table  # call: graph
        return flash_attn_func(q, x, x), F.scaled_dot_product_attention(*right)

    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        F.scaled_dot_product_attention(*right)
        flash_attn_func(x, x, x)
    torch.cuda.current_stream().wait_stream(side)
    captured = torch.cuda.CUDAGraph()
    with torch.cuda.graph(captured):
        results = step()
    for _ in range(int(replays)):
        x.add_(1)
        captured.replay()
    wait()
    return {"digest": digest(*results)}


def streams():
    """Memory that goes from stream to stream: what a freed float32 product leaves is another tensor's."""
    torch.manual_seed(0)
    raised, side = 0, torch.cuda.Stream()
    table = random(64)
    k = random(2, 4, 64, 64, dtype=LOW)
    torch.cuda.synchronize()
    for i in range(40):
        with torch.cuda.stream(side if i % 2 else torch.cuda.default_stream()):
            gone = k * table
            gone.record_stream(torch.cuda.default_stream() if i % 2 else side)
            del gone
            q = torch.empty(2, 4, 64, 64, device=DEVICE)  # call: streams
            q.copy_(k)
            raised += attend(q, k, k) != ""
    torch.cuda.synchronize()
    return {"raised": raised}


def stages():
    """Pinned memory, a copy that does not wait, and a cast on the device."""
    host = torch.randn(2, 4, 64, 64).pin_memory()
    k = random(2, 4, 64, 64, dtype=LOW)
    wide = host.to(DEVICE, non_blocking=True)
    error = attend(wide, k, k)
    narrow = wide.to(LOW)
    q = narrow.to(torch.float32)  # call: stages
    return {"raised": [error, attend(q, k, k)]}


BACKENDS = {"flash": "FLASH_ATTENTION", "efficient": "EFFICIENT_ATTENTION", "cudnn": "CUDNN_ATTENTION", "math": "MATH"}


def backends():
    """Right calls, forward and backward, through each backend; then two that name theirs, with a float32 query."""
    from torch.nn.attention import SDPBackend, sdpa_kernel
    torch.manual_seed(0)
    found = {}
    for name, member in BACKENDS.items():
        q, k, v = (random(2, 4, 128, 64, dtype=LOW).requires_grad_() for _ in range(3))
        with sdpa_kernel(getattr(SDPBackend, member)):
            out = F.scaled_dot_product_attention(q, k, v)
        out.sum().backward()
        found[name] = digest(out, q.grad, k.grad, v.grad)
    k = random(2, 4, 128, 64, dtype=LOW)
    found["raised"] = []
    for name, more in {"flash": (), "efficient": (None, False)}.items():
        try:
            getattr(torch.ops.aten, f"_scaled_dot_product_{name}_attention")(random(2, 4, 128, 64), k, k, *more)  # call: backends
        except RuntimeError as error:
            found["raised"].append([name, str(error)[:60]])
    return found


def backend_records():
    """The names of the records that a call through each backend makes, by PyTorch's own profiler."""
    from torch.nn.attention import SDPBackend, sdpa_kernel
    found = {}
    for name, member in BACKENDS.items():
        q, k, v = (random(2, 4, 128, 64, dtype=LOW).requires_grad_() for _ in range(3))
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
            with sdpa_kernel(getattr(SDPBackend, member)):
                F.scaled_dot_product_attention(q, k, v).sum().backward()
        found[name] = sorted({event.name for event in profile.events() if "ttention" in event.name and event.name.startswith("aten::")})
    return found


def joined():
    """A round for each line of stdin. Of what is wrong in one, the first was made before the first round, the second is made in it."""
    torch.manual_seed(0)
    k, table = random(2, 4, 64, 64, dtype=LOW), random(64)
    old = k * table
    wait()
    print(json.dumps("ready"), flush=True)
    for _ in sys.stdin:
        first = attend(old, k, k)
        q = k * table  # call: joined_new
        second = attend(q, k, k)
        print(json.dumps([first, second, digest(F.scaled_dot_product_attention(k, k, k))]), flush=True)
    return "done"


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.inputs, self.outputs = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.wider, self.narrower = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        q, k, v = self.inputs(self.first(x)).unflatten(-1, (3 * self.heads, -1)).transpose(1, 2).chunk(3, 1)
        x = x + self.outputs(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2))
        return x + self.narrower(F.gelu(self.wider(self.second(x))))


def trainer(width, depth, tokens, batch):
    """A training step under autocast."""
    torch.manual_seed(0)
    with torch.device(DEVICE):  # hundreds of millions of numbers, drawn there
        model = nn.Sequential(*[Block(width, width // 64) for _ in range(depth)])
    optimizer = torch.optim.AdamW(model.parameters(), fused=DEVICE == "cuda")
    x = random(batch, tokens, width)

    def step():
        optimizer.zero_grad()
        with torch.autocast(DEVICE, dtype=LOW):
            loss = model(x).float().square().mean()
        loss.backward()
        optimizer.step()
        wait()
        return loss

    return step, model


SHAPES = {"host-bound": (128, 8, 64, 2), "GPU-bound": (2048, 4, 1024, 4)}


def cost(empty=""):
    """Answers each line of stdin, `SIZE SECONDS` or `SIZE records`: milliseconds of a step by the clock, the median and the least, and
    of processor time; or how many records of operators a step has. EMPTY is a library whose callback does nothing."""
    made = {}
    print(json.dumps("ready"), flush=True)
    for line in sys.stdin:
        name, seconds = line.split()
        if name not in made:
            made[name], _ = trainer(*(SHAPES[name] if DEVICE == "cuda" else (64, 1, 16, 1)))
            for _ in range(5):
                made[name]()
            if empty and len(made) == 1:
                add_empty_callback(empty)
        if seconds == "records":
            with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
                made[name]()
            print(sum(event.name.startswith("aten::") for event in profile.events()), flush=True)
            continue
        times, end, begun = [], time.perf_counter() + float(seconds), time.process_time()
        while time.perf_counter() < end or len(times) < 3:
            start = time.perf_counter()
            made[name]()
            times.append(time.perf_counter() - start)
        spent = (time.process_time() - begun) / len(times)
        print(json.dumps([1e3 * one for one in (sorted(times)[len(times) // 2], min(times), spent)]), flush=True)
    return "done"


def add_empty_callback(library):
    """The floor: a callback of record functions that is handed nothing and does nothing."""
    import ctypes
    folder = pathlib.Path(torch.__file__).parent / "lib"
    add = ctypes.cast(getattr(ctypes.CDLL(str(folder / "libtorch_cpu.so")), "_ZN2at17addGlobalCallbackENS_22RecordFunctionCallbackE"),
                      ctypes.c_void_p)
    ctypes.CDLL(library).add_empty(add, ctypes.c_bool(False), ctypes.c_bool(False))


def trained(steps="5"):
    """The bits of a few steps with deterministic kernels."""
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    torch.use_deterministic_algorithms(True, warn_only=True)
    step, model = trainer(256, 3, 128, 4)
    losses = [step() for _ in range(int(steps))]
    return {"digest": digest(*losses, *model.parameters())}


def flash_attn():
    """The library itself: a right call with its backward (what stands in for it has none), and one whose q a table widened."""
    from flash_attn import flash_attn_func
    torch.manual_seed(0)
    x = random(1, 64, 4, 64, dtype=LOW).requires_grad_()
    out = flash_attn_func(x, x, x, causal=True)
    if DEVICE == "cuda":
        out.float().square().sum().backward()
    raised = ""
    try:
        flash_attn_func(x * random(64), x, x)  # call: flash_attn
    except RuntimeError as error:
        raised = str(error)[:60]
    wait()
    return {"digest": digest(out), "gradient": DEVICE == "cuda" and str(x.grad.dtype), "raised": raised}


def xformers():
    """The library itself: calls with and without a backward. A call of mixed dtypes is refused by its Python code, where a
    gradient is wanted inside its Function."""
    from xformers.ops import memory_efficient_attention
    torch.manual_seed(0)
    x = random(1, 64, 4, 64, dtype=LOW)
    with torch.no_grad():
        alone = memory_efficient_attention(x, x, x)
    out = memory_efficient_attention(x.requires_grad_(), x, x)
    out.float().square().sum().backward()
    raised = ""
    try:
        memory_efficient_attention(x * random(64), x, x)  # call: xformers
    except ValueError as error:
        raised = str(error).splitlines()[0][:60]
    wait()
    return {"digest": digest(alone, out), "gradient": str(x.grad.dtype), "raised": raised}


if __name__ == "__main__":
    print(json.dumps(globals()[sys.argv[1].replace("-", "_")](*sys.argv[2:])), flush=True)
