"""What dtype-san costs, in one run: the same program without it, with an empty preload, under an LD_AUDIT tracer, and
with dtype-san, in turn, the best of several rounds. Processor time, so that other work on the machine counts little.

Usage: bench_san.py --calls PROGRAM --kernel-calls PROGRAM --shim LIBRARY --audit LIBRARY --library LIBRARY [--rounds N]
"""
import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile

JOURNALS = tempfile.mkdtemp(prefix="dtype-san-bench-")


def run(words, **variables):
    kept = {key: value for key, value in os.environ.items() if key not in ("LD_PRELOAD", "DTYPE_SAN_OPTIONS", "LD_AUDIT")}
    done = subprocess.run(words, env={**kept, **variables}, capture_output=True, text=True, check=True)
    return [float(word) for word in done.stdout.split()]


def sanitizer(given, options=""):
    return {"LD_PRELOAD": given.library, "DTYPE_SAN_OPTIONS": f"journal={JOURNALS}:print_summary=0:{options}"}


def best(rounds, cases):
    """The smallest of each case's numbers, the cases taken in turn."""
    found = {}
    for _ in range(rounds):
        for name, (words, variables) in cases.items():
            numbers = run(words, **variables)
            found[name] = [min(pair) for pair in zip(found[name], numbers)] if name in found else numbers
    return found


class Table:
    failed = False

    def row(self, name, value, aim, unit="ns"):
        good = aim is None or value <= aim
        self.failed = self.failed or not good
        limit = "" if aim is None else f"aim {aim:g} {unit}: {'met' if good else 'MISSED'}"
        print(f"  {name:58} {value:9.2f} {unit:3} {limit}")


def calls(given, table):
    one = [given.calls, "1"]
    found = best(given.rounds, {
        "direct": (one, {}), "shim": (one, {"LD_PRELOAD": given.shim}), "audit": (one, {"LD_AUDIT": given.audit}),
        "off": (one, sanitizer(given, "start=dormant")), "check": (one, sanitizer(given, "origins=0")),
        "origins": (one, sanitizer(given)), "wrong": (one + ["wrong"], sanitizer(given, "max_findings=3000")),
        "wrong direct": (one + ["wrong"], {})})
    direct = found["direct"][0]
    print("A call of an empty kernel, over the direct call:")
    table.row("direct call", direct, None)
    table.row("+ empty preload shim", found["shim"][0] - direct, None)
    table.row("+ LD_AUDIT tracer", found["audit"][0] - direct, None)
    table.row("+ dtype-san, dormant", found["off"][0] - direct, None)
    table.row("+ dtype-san, contract check", found["check"][0] - direct, 5)
    table.row("+ dtype-san, check and origins (the default)", found["origins"][0] - direct, 30)
    table.row("a repeated finding", found["wrong"][0] - found["wrong direct"][0], 100)


def threads(given, table):
    many = [given.calls, str(given.threads)]
    found = best(max(1, given.rounds // 3), {"direct": (many, {}), "origins": (many, sanitizer(given))})
    table.row(f"+ check and origins, {given.threads} threads", found["origins"][0] - found["direct"][0], 80)


def whole_calls(given, table):
    found = best(given.rounds, {"direct": ([given.kernel_calls, "1"], {}), "san": ([given.kernel_calls, "1"], sanitizer(given))})
    print("A call of flash_ref_rotary on 512 elements:")
    direct, watched = found["direct"][0], found["san"][0]
    table.row("direct call", direct, None)
    table.row("with dtype-san", watched, None)
    table.row("the difference as part of a call of 5 us", (watched - direct) / 5000 * 100, 1, "%")


def findings(given, table):
    found = best(given.rounds, {"places": ([given.calls, "1", "places", "400"], sanitizer(given, "max_findings=3000")),
                                "direct": ([given.calls, "1", "places", "400"], {})})
    print("Findings:")
    table.row("a process's first", (found["places"][0] - found["direct"][0]) / 1e6, 5, "ms")
    table.row("a further new one, the median", (found["places"][1] - found["direct"][1]) / 1e3, 20, "us")


def processor_time(words, **variables):
    kept = {key: value for key, value in os.environ.items() if key not in ("LD_PRELOAD", "DTYPE_SAN_OPTIONS")}
    with subprocess.Popen(words, env={**kept, **variables}, stdout=subprocess.DEVNULL) as process:
        _, _, usage = os.wait4(process.pid, 0)
        process.returncode = 0
    return usage.ru_utime + usage.ru_stime


def start_up(given, table):
    found = best(given.rounds, {"direct": ([given.calls, "1", "memory"], {}), "san": ([given.calls, "1", "memory"], sanitizer(given))})
    true = shutil.which("true")
    plain, loaded = 1e9, 1e9
    for _ in range(30 * given.rounds):
        plain = min(plain, processor_time([true]))
        loaded = min(loaded, processor_time([true], **sanitizer(given)))
    print("Start-up:")
    table.row("processor time of a program without kernels", (loaded - plain) * 1e3, 2, "ms")
    table.row("memory of a process with calls and a finding", (found["san"][0] - found["direct"][0]) / 1024, 8, "MB")


def slow_path_calls(given, table):
    """Nothing on the clean path calls the kernel: as many system calls with 400 times as many calls."""
    if shutil.which("strace") is None:
        print("System calls: strace is not installed; not counted")
        return
    counts = []
    for batch in ("1", "2"):
        log = os.path.join(JOURNALS, f"strace.{batch}")
        variables = [f"{key}={value}" for key, value in sanitizer(given).items()]
        subprocess.run(["strace", "-f", "-c", "-o", log, "env", *variables, given.calls, batch], capture_output=True, check=True)
        counts.append(int(open(log, encoding="utf-8").read().splitlines()[-1].split()[3]))
    print(f"System calls with 800,000 calls on one thread and on two: {counts[0]}, {counts[1]}")


def main():
    parser = argparse.ArgumentParser()
    for name in ("calls", "kernel-calls", "shim", "audit", "library"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=64)
    given = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    table = Table()
    try:
        for part in (calls, threads, whole_calls, findings, start_up):
            part(given, table)
        slow_path_calls(given, table)
    finally:
        shutil.rmtree(JOURNALS)
    sys.exit(1 if table.failed else 0)


if __name__ == "__main__":
    main()
