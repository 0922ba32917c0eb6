"""A job with one finding, right calls and a call that autocast recasts, which ends in the way that its words say:
`WAY [WORDS]`. A child that it has calls attention too."""
import multiprocessing
import os
import signal
import subprocess
import sys

import torch
import torch.nn.functional as F

WIDE = torch.ones(1, 1, 2, 4)
LOW = WIDE.bfloat16()


def raised(call):
    try:
        call()
    except RuntimeError:
        return 1
    raise SystemExit("the call was accepted")


def work():
    for _ in range(3):
        raised(lambda: F.scaled_dot_product_attention(WIDE, LOW, LOW))  # call: parent
    for _ in range(5):
        F.scaled_dot_product_attention(LOW, LOW, LOW)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        F.scaled_dot_product_attention(WIDE, LOW, LOW)  # call: recast


def child():
    for _ in range(6):
        raised(lambda: F.scaled_dot_product_attention(LOW, WIDE, LOW))  # call: child


def fork(*ends):
    made = os.fork()
    if made == 0:
        child()
        if ends == ("quietly",):
            sys.exit(0)
        os._exit(0)
    assert os.waitpid(made, 0)[1] == 0


def idle_fork():
    made = os.fork()
    if made == 0:
        os._exit(0)
    assert os.waitpid(made, 0)[1] == 0


def multiprocess(method):
    context = multiprocessing.get_context(method)
    process = context.Process(target=child)
    process.start()
    process.join()
    assert process.exitcode == 0


def pool(method):
    with multiprocessing.get_context(method).Pool(2) as workers:
        workers.starmap(child, [()] * 4, chunksize=1)
        workers.close()
        workers.join()


def bare():
    environment = {name: value for name, value in os.environ.items() if name not in ("LD_PRELOAD", "DTYPE_SAN_OPTIONS")}
    subprocess.run([sys.executable, __file__, "exit", "0"], env=environment, check=True)


def execute_in_vain(*words):
    try:
        os.execv("/nowhere", words)
    except OSError as error:
        print(error.strerror, flush=True)
    work()


def fail():
    raise KeyError("of its own")


WAYS = {
    "exit": lambda status: sys.exit(int(status)),
    "_exit": lambda status: os._exit(int(status)),
    "raise": fail,
    "signal": lambda name: os.kill(os.getpid(), signal.Signals[name]),
    "abort": os.abort,
    "exec": lambda *words: os.execv(words[0], words),
    "exec_in_vain": execute_in_vain,
    "exec_with": lambda *words: os.execve(words[0], words, {**os.environ, "LEFT": "over"}),
    "fork": fork,
    "idle_fork": idle_fork,
    "process": multiprocess,
    "pool": pool,
    "bare": bare,
}

if __name__ == "__main__":
    torch.set_num_threads(1)
    work()
    WAYS[sys.argv[1]](*sys.argv[2:])
