"""Training loops to be joined, one after the other, each in a process that is forked here once torch has been imported.

A line of stdin `fork|spawn STOP_FILE` starts one: it trains on two threads beside a loop of data loaders, whose workers load
libraries, until the file is there; of `refused STOP_FILE` three threads call attention with what it refuses. Answers: `ready PID`, then `ended STATUS DIGEST` with what the first steps computed.
"""
import faulthandler
import hashlib
import importlib
import os
import pathlib
import signal
import sys
import threading

import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

STEPS = 12  # that the digest is made of
EXTENSIONS = "_decimal", "_sqlite3", "_elementtree", "_asyncio", "_lzma", "_bz2", "_uuid", "_curses", "_ctypes_test", "_dbm"


class Numbers(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        for name in EXTENSIONS[index % 2::2]:  # the dynamic loader's work, in the worker
            try:
                importlib.import_module(name)
            except ImportError:
                pass
        return torch.full((16, 32), float(index))


def steps(seed):
    """Endless; gives the loss after each."""
    generator = torch.Generator().manual_seed(seed)
    first, last = (torch.randn(32, 32, generator=generator).mul_(0.1).requires_grad_() for _ in range(2))
    optimizer = torch.optim.SGD([first, last], lr=0.01)
    while True:
        x = torch.randn(2, 4, 16, 32, generator=generator) @ first
        loss = (F.scaled_dot_product_attention(x, x, x) @ last).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        yield loss.item()


def import_late_modules():
    """What PyTorch imports with the first step. Python does not hold the lock of a module that is being imported over a fork: a
    worker that is forked beside a thread that imports one waits for ever where it imports that one too."""
    for _ in zip(range(2), steps(0)):
        pass


def train(seed, stop, digests, begun):
    digest = hashlib.sha256()
    for number, loss in enumerate(steps(seed), 1):
        if number <= STEPS:
            digest.update(loss.hex().encode())
        if number == STEPS:
            digests[seed] = digest.hexdigest()[:16]
            begun.set()
        if number >= STEPS and stop.exists():
            return


def epochs(way, stop, begun):
    """The sums of each epoch are the same, or it fails."""
    while True:
        loader = DataLoader(Numbers(), batch_size=2, num_workers=2, multiprocessing_context=way)
        if sum(float(batch.sum()) for batch in loader) != 16 * 32 * 28:
            os._exit(3)
        begun.set()
        if stop.exists():
            return


def refused(stop, begun):
    q, k = torch.ones(1, 2, 8, 16), torch.ones(1, 2, 8, 16, dtype=torch.bfloat16)
    while not stop.exists():
        try:
            F.scaled_dot_product_attention(q, k, k)
            os._exit(5)
        except RuntimeError:
            begun.set()


def make_engine_anew():
    """In a child PyTorch makes its autograd engine anew when it is first asked for, which operators that save a tensor do with Python's
    lock given back, and guards that by nothing: of two threads both destroy the old one. Seen without dtype-san in 2.13.0 (both were
    held in gdb between the two instructions that read and clear the reference counts of Engine::thread_pool_shared_, and one let
    go before the other: std::_Sp_counted_base::_M_release, libtorch_cpu.so+0x18f2b6f, segmentation fault), and as the death of two of 190 jobs
    of the test, and of one of 136 with nothing of dtype-san near (in _M_dispose of the same object). So one thread asks before there are two
    (process: torch_forks)."""
    next(steps(0))


def job(way, stop):
    torch.set_num_threads(1)
    make_engine_anew()
    begun, digests = [threading.Event() for _ in range(3)], {}
    if way == "refused":
        threads = [threading.Thread(target=refused, args=(stop, event)) for event in begun]
    else:
        threads = [threading.Thread(target=train, args=(seed, stop, digests, begun[seed])) for seed in (1, 2)]
        threads.append(threading.Thread(target=epochs, args=(way, stop, begun[0])))
    for thread in threads:
        thread.start()
    for event in begun:
        event.wait()
    print("ready", os.getpid(), flush=True)
    for thread in threads:
        thread.join()
    print("-".join(digests[seed] for seed in sorted(digests)) or "none", end=" ", flush=True)


def main():
    faulthandler.register(signal.SIGUSR1)  # where each thread is, should a job hang
    torch.set_num_threads(1)
    import_late_modules()
    for line in sys.stdin:
        way, stop = line.split()
        child = os.fork()
        if child == 0:
            try:
                job(way, pathlib.Path(stop))
            except BaseException as error:  # noqa: whatever it is, the child must not go on as its parent
                print(repr(error), file=sys.stderr, flush=True)
                os._exit(4)
            os._exit(0)
        status = os.waitpid(child, 0)[1]
        print("ended", status, flush=True)


if __name__ == "__main__":
    main()
