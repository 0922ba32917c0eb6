#!/usr/bin/env python3
"""Joins many jobs, one after the other, whose threads are in malloc, dlopen, fork, epoll_wait, kernels and Python, and
checks that each runs on as if nothing had happened. Prints the pause of the one thread that is stopped, from before it
is asked to stop until it may run again. BUSY processes that only compute run beside them.

    attach_many.py DTYPE_SAN LIBRARY LONG_JOB [ROUNDS [BUSY]]
"""
import contextlib
import os
import re
import statistics
import subprocess
import sys
import tempfile

PYTHON_JOB = """
import sys, threading
def work():
    while True: [object() for _ in range(1000)]
for _ in range(2): threading.Thread(target=work, daemon=True).start()
print("ready", flush=True)
sys.stdin.read()
print("calls 0 refused 0 interrupted 0")
"""
KINDS = ("mk", "dk", "fk", "ek", "E", "R", "sk", "ck", "kk", "mdfesck", "python")


@contextlib.contextmanager
def busy_machine(processes):
    burners = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(processes)]
    try:
        yield
    finally:
        for burner in burners:
            burner.kill()
            burner.wait()


def main():
    busy = int(sys.argv[5]) if len(sys.argv) > 5 else 0
    with busy_machine(busy):
        return join_jobs()


def print_pauses(pauses):
    print(f"{'threads':10} {'joined':>6} {'median ms':>10} {'longest ms':>11}")
    for kind, times in pauses.items():
        if times:
            print(f"{kind:10} {len(times):6} {statistics.median(times):10.1f} {max(times):11.1f}")
    every = sorted(time for times in pauses.values() for time in times)
    if every:
        shown = ", ".join(f"{share} % within {every[min(len(every) - 1, len(every) * share // 100)]:.1f}" for share in (50, 90, 99))
        print(f"all: {shown}, longest {every[-1]:.1f} ms, {sum(time > 50 for time in every)} over 50 ms; "
              f"load {os.getloadavg()[0]:.0f} on {os.cpu_count()} processors")


def join_jobs():
    command, library, long_job = sys.argv[1:4]
    rounds = int(sys.argv[4]) if len(sys.argv) > 4 else 200
    pauses = {kind: [] for kind in KINDS}
    failures = []
    with tempfile.TemporaryDirectory(prefix="dtype-san-attach-") as scratch:
        for number in range(rounds):
            kind = KINDS[number % len(KINDS)]
            words = [sys.executable, "-c", PYTHON_JOB] if kind == "python" else [long_job, kind]
            job = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            job.stdout.readline()
            try:
                done = subprocess.run([command, "attach", str(job.pid), "--library", library, "--options", f"journal={scratch}"],
                                      capture_output=True, text=True, timeout=60, check=False)
                output, errors = job.communicate(timeout=60)
            except subprocess.TimeoutExpired as late:
                job.kill()
                failures.append(f"{kind}: {late}")
                continue
            pause = re.search(r"paused for ([0-9.]+) ms", done.stderr)
            if done.returncode != 0 or pause is None:
                failures.append(f"{kind}: {done.stderr.strip()}")
            elif job.returncode != 0 or not output.endswith("interrupted 0\n"):
                failures.append(f"{kind}: the job ended with {job.returncode}: {output.strip()} {errors.strip()}")
            else:
                pauses[kind].append(float(pause[1]))
    print_pauses(pauses)
    for failure in failures:
        print(f"failed: {failure}")
    print(f"{rounds - len(failures)} of {rounds} joined")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
