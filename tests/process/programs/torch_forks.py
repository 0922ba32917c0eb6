"""Forks beside a thread that trains, whose children use PyTorch on a thread of their own, until one hangs. `FORKS ended HUNG`.

SLOW_LOCK in the environment is the preloaded programs/slow_lock.c. A line of stdin starts the forks.
"""
import ctypes
import os
import pathlib
import signal
import sys
import threading

import torch

FORKS = 100  # of those that can hang one in thirty to one in two does, by how busy the machine is
ADD = "_ZN2at17addGlobalCallbackENS_22RecordFunctionCallbackE"


class Callback(ctypes.Structure):
    """at::RecordFunctionCallback, of no scope: it is never called."""

    _fields_ = (("start", ctypes.c_void_p), ("end", ctypes.c_void_p), ("probability", ctypes.c_double), ("rest", ctypes.c_char * 16))


def find_lock():
    add = getattr(ctypes.CDLL(str(pathlib.Path(torch.__file__).parent / "lib/libtorch_cpu.so")), ADD)
    ctypes.CDLL(os.environ["SLOW_LOCK"]).slow_lock_of(ctypes.cast(add, ctypes.c_void_p))
    add.argtypes, add.restype = (Callback,), ctypes.c_uint64
    add(Callback(None, None, 1.0, b""))


def train(begun, end):
    weights = torch.randn(8, 8, requires_grad=True)
    while not end.is_set():
        (weights @ weights).sum().backward()
        begun.set()


def child():
    signal.alarm(10)
    worker = threading.Thread(target=lambda: torch.ones(3) + 1)
    worker.start()
    worker.join()
    os._exit(0)


def main():
    torch.set_num_threads(1)
    find_lock()
    begun, end = threading.Event(), threading.Event()
    trainer = threading.Thread(target=train, args=(begun, end))
    trainer.start()
    # Its first step makes PyTorch's function-local objects, each registered with atexit: glibc does not free that lock in a child.
    begun.wait()
    torch.ones(3) + 1
    print("ready", flush=True)
    sys.stdin.readline()
    forks, hung = 0, False
    while forks < FORKS and not hung:
        process = os.fork()
        if process == 0:
            child()
        forks += 1
        hung = os.waitpid(process, 0)[1] != 0
    end.set()
    trainer.join()
    print(forks, "ended", int(hung), flush=True)


if __name__ == "__main__":
    main()
