"""The autograd engine in a forked child: two threads that use it first, after `first` beside one that has before. Prints the
status of the child, which programs/meet_in_engine.c, preloaded, makes 7 where both make it anew."""
import os
import sys
import threading

import torch
from torch_training import make_engine_anew


def use_engine():
    weights = torch.ones(8, requires_grad=True)
    (weights * weights).sum().backward()


def main():
    torch.set_num_threads(1)
    use_engine()
    child = os.fork()
    if child == 0:
        if sys.argv[1:] == ["first"]:
            make_engine_anew()
        threads = [threading.Thread(target=use_engine) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        os._exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


if __name__ == "__main__":
    main()
