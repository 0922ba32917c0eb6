"""Ways to run a training job; each prints a digest of every bit that it computed, which must be the same beside dtype-san.

    torch_ways.py WAY [wait]      `wait`: says ready, and goes on with the next line of stdin
"""
import faulthandler
import functools
import hashlib
import os
import sys
import tempfile

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint
from torch.utils.data import DataLoader, Dataset

WIDTH = 32


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.inputs, self.outputs = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)

    def forward(self, x):
        q, k, v = self.inputs(F.layer_norm(x, (WIDTH,))).unflatten(-1, (12, 8)).transpose(1, 2).chunk(3, 1)
        return x + self.outputs(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2))


class Batches(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        return torch.randn(8, WIDTH, generator=torch.Generator().manual_seed(index))


def model():
    torch.manual_seed(1)
    return nn.Sequential(Block(), Block())


def digest(tensors):
    state = hashlib.sha256()
    for tensor in tensors:
        flat = tensor.detach().to_dense().float().reshape(-1).contiguous()
        state.update(bytes(flat.view(torch.uint8).tolist()))  # NumPy need not be there
    return state.hexdigest()[:16]


def train(net, forward=None, batches=None, autocast=False):
    optimizer = torch.optim.AdamW(net.parameters(), lr=0.01)
    losses = []
    for x in batches or [torch.stack([Batches()[i] for i in pair]) for pair in ((0, 1), (2, 3), (4, 5))]:
        optimizer.zero_grad()
        with torch.autocast("cpu", torch.bfloat16, enabled=autocast):
            loss = (forward or net)(x).square().mean()
        loss.backward()
        optimizer.step()
        losses.append(loss)
    return digest([*losses, *net.parameters()])


def plain():
    return train(model())


def autocast():
    return train(model(), autocast=True)


def bfloat16():
    net = model().bfloat16()
    return train(net, lambda x: net(x.bfloat16()))


def checkpointed():
    net = model()
    return train(net, lambda x: net[1](checkpoint(net[0], x, use_reentrant=False)))


def reentrant():
    net = model()
    return train(net, lambda x: net[1](checkpoint(net[0], x.requires_grad_(), use_reentrant=True)))


def profiled():
    with torch.profiler.profile(record_shapes=True, profile_memory=True, with_stack=True) as profile:
        found = train(model())
    names = {event.name for event in profile.events()}
    return found, "aten::scaled_dot_product_attention" in names


def loaded(way):
    return train(model(), batches=DataLoader(Batches(), batch_size=2, num_workers=2, multiprocessing_context=way))


def compiled(backend):
    net = model()
    return train(net, torch.compile(net, backend=backend))


def stepped_by_faulthandler():
    """Its thread is there and waits. That it dumps beside a thread that runs Python crashes CPython 3.11 alone: it reads frames
    without the GIL."""
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        faulthandler.enable(nowhere)
        faulthandler.dump_traceback_later(600, repeat=True, file=nowhere)
        found = train(model())
        faulthandler.dump_traceback(nowhere)
        faulthandler.cancel_dump_traceback_later()
    return found


def work(rank, results, shared):
    torch.set_num_threads(1)
    net = model()
    results.put((rank, train(net)))
    shared[rank] = net[0].inputs.weight.detach()


def several(way):
    context = torch.multiprocessing.get_context(way)
    results, shared = context.SimpleQueue(), torch.zeros(2, 3 * WIDTH, WIDTH).share_memory_()
    workers = [context.Process(target=work, args=(rank, results, shared)) for rank in range(2)]
    for worker in workers:
        worker.start()
    found = sorted(results.get() for _ in workers)
    for worker in workers:
        worker.join()
    return found, digest([shared]), [worker.exitcode for worker in workers]


def cached():
    """Generation with a static key and value cache, in inference mode."""
    torch.manual_seed(2)
    cache = torch.zeros(2, 2, 4, 16, 8)
    said = []
    with torch.inference_mode():
        for position in range(16):
            q, cache[0, :, :, position], cache[1, :, :, position] = torch.randn(3, 2, 4, 8)
            said.append(F.scaled_dot_product_attention(q[:, :, None], cache[0, :, :, :position + 1], cache[1, :, :, :position + 1]))
    return digest(said)


def ranks(wrap):
    """Under torchrun; each rank prints its own."""
    dist.init_process_group("gloo")
    try:
        net = wrap(model())
        batches = [torch.stack([Batches()[2 * dist.get_rank() + i] for i in range(2)])] * 3
        found = train(net, batches=batches) if wrap is nn.parallel.DistributedDataParallel else sharded(net, batches)
        return f"rank {dist.get_rank()}", found
    finally:
        dist.destroy_process_group()


def sharded(net, batches):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    losses = []
    for x in batches:
        optimizer.zero_grad()
        losses.append(net(x).square().mean())
        losses[-1].backward()
        optimizer.step()
    return digest(losses)


def fully_sharded():
    from torch.distributed.device_mesh import init_device_mesh  # pylint: disable=import-outside-toplevel
    from torch.distributed.fsdp import fully_shard  # pylint: disable=import-outside-toplevel
    return ranks(lambda net: fully_shard(net, mesh=init_device_mesh("cpu", (dist.get_world_size(),))))


def accelerated(**words):
    """As Accelerate prepares it: gradients are gathered over two batches; its own loader, autocast and clipping."""
    from accelerate import Accelerator  # pylint: disable=import-outside-toplevel
    from accelerate.state import AcceleratorState  # pylint: disable=import-outside-toplevel
    AcceleratorState._reset_state(True)  # pylint: disable=protected-access; one precision a process is its rule
    accelerator = Accelerator(cpu=True, gradient_accumulation_steps=2, **words)
    net = model()
    net, optimizer, batches = accelerator.prepare(net, torch.optim.AdamW(net.parameters(), lr=0.01), DataLoader(Batches(), batch_size=2))
    losses = []
    for x in batches:
        with accelerator.accumulate(net):
            loss = net(x).square().mean()
            accelerator.backward(loss)
            if accelerator.sync_gradients:
                accelerator.clip_grad_norm_(net.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
        losses.append(accelerator.gather(loss.detach()))
    found = digest([*losses, *accelerator.unwrap_model(net).parameters()])
    return found if accelerator.num_processes == 1 else (f"rank {accelerator.process_index}", found)


WAYS = {"plain": plain, "autocast": autocast, "bfloat16": bfloat16, "checkpoint": checkpointed, "reentrant": reentrant, "profiler": profiled,
        "faulthandler": stepped_by_faulthandler, "cache": cached, "ddp": functools.partial(ranks, nn.parallel.DistributedDataParallel),
        "fsdp": fully_sharded, "accelerate": accelerated, "accelerate-bf16": functools.partial(accelerated, mixed_precision="bf16"), **{f"loader-{way}": functools.partial(loaded, way) for way in ("fork", "spawn", "forkserver")},
        **{f"processes-{way}": functools.partial(several, way) for way in ("fork", "spawn")},
        **{f"compile-{backend}": functools.partial(compiled, backend) for backend in ("eager", "aot_eager", "inductor")}}


def main():
    names, *rest = sys.argv[1:]
    torch.set_num_threads(2)
    if rest == ["wait"]:
        plain()  # what is started at the first step is there
        print("ready", flush=True)
        sys.stdin.readline()
    for name in names.split(","):
        # One write: torchrun starts its ranks with `python -u`, whose print makes one of each word, and ranks' words would meet in a line.
        sys.stdout.write(f"{name} {WAYS[name]()}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", scratch)  # each run compiles anew
        main()
