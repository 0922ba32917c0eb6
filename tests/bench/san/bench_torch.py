"""What dtype-san costs a PyTorch training step, in one run: without anything, with an empty callback of record functions (the
floor), with one that is handed the
operands, or operands and results, and does nothing, with calls alone, with contracts and with origins. One process for each, which make steps in turn; processor time of one thread, so that
other work on the machine counts little. Ratios and costs are medians over the rounds, with the quartiles.

    bench_torch.py --python PYTHON_WITH_TORCH --library LIBRARY --empty LIBRARY [--rounds N]
"""
import argparse
import ctypes
import os
import statistics
import subprocess
import sys
import tempfile
import time

SIZES = ((16, 16), (32, 64), (64, 128), (128, 256))  # width, length: from host-bound to some 30 us an operator
MODES = {"none": None, "empty": None, "operands": None, "values": None, "calls": "torch=calls",
         "contracts": "torch=contracts", "origins": "torch=origins"}
HANDED = {"empty": (False, False), "operands": (True, False), "values": (True, True)}  # operands, results
WITHOUT_OURS = {"contracts": "operands", "origins": "values"}
AIMS = {"contracts": 180, "origins": 300}  # ns a record over the empty callback
CALLS_RATIO = 1.01  # that the quartiles of mode calls are to reach down to
ADD = "_ZN2at17addGlobalCallbackENS_22RecordFunctionCallbackE"


def make_step(width, length):
    import torch  # pylint: disable=import-outside-toplevel
    import torch.nn.functional as F  # pylint: disable=import-outside-toplevel
    torch.set_num_threads(1)
    torch.manual_seed(1)
    blocks = [[torch.randn(width, n * width).mul_(0.05).requires_grad_() for n in (3, 1, 4)] + [torch.randn(4 * width, width).mul_(0.05).requires_grad_()]
              for _ in range(4)]
    optimizer = torch.optim.SGD([weight for block in blocks for weight in block], lr=0.001, foreach=False)
    x = torch.randn(2, length, width)

    def step():
        y = x
        for inner, outer, up, down in blocks:
            q, k, v = (F.layer_norm(y, (width,)) @ inner).unflatten(-1, (12, width // 4)).transpose(1, 2).chunk(3, 1)
            y = y + F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2) @ outer
            y = y + F.gelu(F.layer_norm(y, (width,)) @ up) @ down
        optimizer.zero_grad()
        y.square().mean().backward()
        optimizer.step()
    return step


def work(mode, library):
    """Answers `WIDTH LENGTH STEPS` with the processor time of a step, in us; `count` in place of STEPS with its records."""
    steps = {}
    empty = ctypes.CDLL(library)
    for line in sys.stdin:
        width, length, count = line.split()
        size = int(width), int(length)
        if size not in steps:
            steps[size] = make_step(*size)
            if mode in HANDED and len(steps) == 1:
                import torch  # pylint: disable=import-outside-toplevel
                folder = os.path.join(os.path.dirname(torch.__file__), "lib/libtorch_cpu.so")
                address = ctypes.cast(getattr(ctypes.CDLL(folder), ADD), ctypes.c_void_p)
                empty.add_empty(address, *map(ctypes.c_bool, HANDED[mode]))
            for _ in range(3):
                steps[size]()
        if count == "count":
            import torch  # pylint: disable=import-outside-toplevel
            with torch.profiler.profile() as profile:
                steps[size]()
            print(sum(event.name.startswith("aten::") for event in profile.events()), flush=True)
            continue
        begin = time.process_time()
        for _ in range(int(count)):
            steps[size]()
        print((time.process_time() - begin) / int(count) * 1e6, flush=True)


def start(given, mode, scratch):
    variables = {key: value for key, value in os.environ.items() if key not in ("LD_PRELOAD", "DTYPE_SAN_OPTIONS")}
    if MODES[mode] is not None:
        variables |= {"LD_PRELOAD": given.library, "DTYPE_SAN_OPTIONS": f"journal={scratch}:print_summary=0:{MODES[mode]}"}
    return subprocess.Popen([given.python, __file__, "--work", mode, "--empty", given.empty], env=variables, text=True,
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def ask(worker, size, count):
    worker.stdin.write(f"{size[0]} {size[1]} {count}\n")
    worker.stdin.flush()
    return float(worker.stdout.readline())


def quartiles(values):
    low, middle, high = statistics.quantiles(values, n=4)
    return middle, low, high


def measure(workers, size, rounds):
    records = ask(workers["none"], size, "count")
    steps = max(3, int(100_000 / ask(workers["none"], size, 3)))  # 0.1 s
    times = {mode: [] for mode in workers}
    for number in range(rounds):
        order = list(workers) if number % 2 == 0 else list(workers)[::-1]
        for mode in order:
            times[mode].append(ask(workers[mode], size, steps))
    step = statistics.median(times["none"])
    print(f"width {size[0]}, length {size[1]}: {step:.0f} us a step, {records:.0f} records, {step / records:.1f} us each; {rounds} pairs")
    failed = False
    for mode in list(MODES)[1:]:
        ratio, low, high = quartiles([a / b for a, b in zip(times[mode], times["none"])])
        over = "none" if mode in ("empty", "calls") else "empty"
        cost, least, most = quartiles([(a - b) * 1000 / records for a, b in zip(times[mode], times[over])])
        aim = f", at most {AIMS[mode]} wanted: {'met' if cost <= AIMS[mode] else 'MISSED'}" if mode in AIMS else ""
        if mode == "calls":
            aim = f", a ratio of {CALLS_RATIO} within the quartiles or above them wanted: {'met' if low <= CALLS_RATIO else 'MISSED'}"
        if mode in WITHOUT_OURS:
            own, _, _ = quartiles([(a - b) * 1000 / records for a, b in zip(times[mode], times[WITHOUT_OURS[mode]])])
            aim += f"; {own:.0f} ns of it are dtype-san's own"
        print(f"  {mode:10} ratio {ratio:5.3f} ({low:.3f} to {high:.3f}); over {over:5} {cost:4.0f} ns a record ({least:.0f} to {most:.0f}){aim}",
              flush=True)
        failed = failed or "MISSED" in aim
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("--python", "--library", "--empty", "--work"):
        parser.add_argument(name)
    parser.add_argument("--rounds", type=int, default=20)
    given = parser.parse_args()
    if given.work:
        return work(given.work, given.empty)
    if subprocess.run([given.python, "-c", "import torch"], capture_output=True, check=False).returncode != 0:
        print(f"'{given.python}' has no PyTorch: make torch-venv sets one up")
        return 1
    with tempfile.TemporaryDirectory(prefix="dtype-san-bench-") as scratch:
        workers = {mode: start(given, mode, scratch) for mode in MODES}
        failed = [measure(workers, size, given.rounds) for size in SIZES]
        for worker in workers.values():
            worker.communicate()
    print(f"load {os.getloadavg()[0]:.0f} on {os.cpu_count()} processors")
    return 1 if any(failed) else 0


if __name__ == "__main__":
    sys.exit(main())
