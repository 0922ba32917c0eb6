"""How fast dtype-lint is beside the compiler, measured in one run: `make bench-lint`, or the target bench-lint.

Every round runs each command once on each file, in turn, so that whatever else the machine does falls on all alike; CPU
time and peak memory are those that the kernel counted, the least of the rounds. Nothing here depends on wall time but the
last line.
"""
import argparse
import json
import os
import pathlib
import re
import shlex
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[3]


def measure(command, cwd, environment=None):
    """(CPU seconds, peak MB) of a command; what it says goes nowhere, its status is the caller's to judge."""
    with open(os.devnull, "wb") as nowhere:
        process = subprocess.Popen(command, cwd=cwd, stdout=nowhere, stderr=nowhere,
                                   env={**os.environ, **(environment or {})})
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, process.returncode


def commands(database):
    for entry in json.loads((database / "compile_commands.json").read_text(encoding="utf-8")):
        words = entry.get("arguments") or shlex.split(entry["command"])
        source = pathlib.Path(entry["directory"], entry["file"])
        yield source, separate(words), entry["directory"]


def separate(words):
    """The flags that decide what a source means, values with them."""
    kept, take = [], False
    for word in words:
        if take or re.match(r"-(std=|D.|I.|isystem.|include.|fno-exceptions|fno-rtti)", word):
            kept.append(word)
            take = False
        elif word in ("-isystem", "-I", "-D", "-include"):
            kept.append(word)
            take = True
    return kept


def sets(database, torch_files, project_files):
    libtorch, project = [], []
    for source, flags, folder in commands(database):
        if not source.is_file() or source.suffix != ".cpp" or not source.is_relative_to(ROOT):
            continue
        where = source.relative_to(ROOT).parts[0]
        if re.search(r"#include <(torch|ATen)/", source.read_text(encoding="utf-8")):
            # libtorch 1.13's headers are C++17; Clang takes them as no more than that.
            older = ["-std=c++17" if word.startswith("-std=") else word for word in flags]
            libtorch.append((source, older, folder))
        elif where in ("kernels", "rules", "sanitizer"):
            project.append((source, flags, folder))
    project.sort(key=lambda one: -one[0].stat().st_size)
    return libtorch[:torch_files], project[:project_files]


def compare(name, files, tools, rounds):
    """A line per file and the medians; gives {tool: ratio of CPU time}."""
    print(f"{name}: {len(files)} files, least of {rounds} rounds, against {' '.join(tools['syntax'][0])}")
    print(f"  {'file':<44} {'syntax s':>9} {'MB':>6}   " + "   ".join(f"{tool:>10} {'x':>5} {'mem x':>6}" for tool in tools
                                                                     if tool != "syntax"))
    ratios = {tool: [] for tool in tools if tool != "syntax"}
    for source, flags, folder in files:
        best = {}
        for _ in range(rounds):
            for tool, (before, after) in tools.items():
                seconds, memory, status = measure([*before, str(source), *after(flags)], folder)
                if tool == "syntax" and status != 0:
                    sys.exit(f"{source}: the compiler does not take it; build the project first")
                if tool == "dtype-lint" and status not in (0, 1):
                    sys.exit(f"{source}: dtype-lint ended with status {status}")
                known = best.get(tool, (1e9, 1e9))
                best[tool] = (min(known[0], seconds), min(known[1], memory))
        shown = source.relative_to(ROOT) if source.is_relative_to(ROOT) else source.name
        row = f"  {str(shown):<44} {best['syntax'][0]:9.2f} {best['syntax'][1]:6.0f}   "
        for tool in ratios:
            pair = (best[tool][0] / best["syntax"][0], best[tool][1] / best["syntax"][1])
            ratios[tool].append(pair)
            row += f"{best[tool][0]:10.2f} {pair[0]:5.2f} {pair[1]:6.2f}   "
        print(row.rstrip(), flush=True)
    medians = {tool: tuple(statistics.median(each[i] for each in pairs) for i in (0, 1)) for tool, pairs in ratios.items()}
    for tool, (seconds, memory) in medians.items():
        print(f"  median of {tool}: {seconds:.2f} x the CPU time, {memory:.2f} x the memory")
    return medians


CUDA_SOURCE = '''#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
__global__ void widen(float* out, const __half* in, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = __half2float(in[i]);
}
void launch(float* out, const __half* in, int n, cudaStream_t stream) {
  widen<<<(n + 255) / 256, 256, 0, stream>>>(out, in, n);
}
'''


def cuda_set(toolkit, scratch):
    """A CUDA source and the flags of a host pass over it, for those who have the toolkit's headers."""
    if not (toolkit / "include" / "cuda_fp16.h").is_file():
        return []
    source = scratch / "widen.cu"
    source.write_text(CUDA_SOURCE)
    (scratch / "curand_mtgp32_kernel.h").write_text("")  # Clang's wrapper wants it, and small toolkits lack it
    return [(source, ["-x", "cuda", "--cuda-host-only", f"--cuda-path={toolkit}", "-nocudalib", "-Wno-unknown-cuda-version",
                      "-std=c++17", f"-I{scratch}"], str(scratch))]


def warm(lint, files, rounds):
    """CPU seconds per file: many files in one process, and one file in its own."""
    source, flags, _ = files[0]
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch, "project")
        folder.mkdir()
        (folder / ".dtype-lint.json").write_text("{}")
        entries = []
        for i in range(50):
            (folder / f"s{i}.cpp").write_text(source.read_text(encoding="utf-8").replace("int main(", f"int main{i}("))
            own = [f"-I{source.parent}" if word == "-I." else word for word in flags]
            entries.append({"directory": str(folder), "file": f"s{i}.cpp",
                            "arguments": ["c++", *own, f"-I{source.parent}", "-c", f"s{i}.cpp"]})
        (folder / "compile_commands.json").write_text(json.dumps(entries))
        command = [lint, "-p", str(folder), "--cache", str(pathlib.Path(scratch, "cache")), "--fail-on=never"]
        cold, _, status = measure(command, folder)
        if status != 0:
            sys.exit(f"warm: dtype-lint ended with status {status}")
        # Files that were just written have a time that tells nothing yet.
        entry_age = time.time() - 3600
        for path in folder.iterdir():
            os.utime(path, (entry_age, entry_age))
        measure(command, folder)
        many = min(measure(command, folder)[0] for _ in range(rounds)) / len(entries)
        one = min(measure([*command, str(folder / "s7.cpp")], folder)[0] for _ in range(rounds))
        start = min(measure([lint, "--version"], folder)[0] for _ in range(rounds))
        summaries = []
        for i in range(5):
            measure([lint, "-p", str(folder), "--cache", str(pathlib.Path(scratch, "cache")), "--emit-summary",
                     f"s{i}.sum", str(folder / f"s{i}.cpp")], folder)
            summaries.append(f"s{i}.sum")
        link = min(measure([lint, "--fail-on=never", "--link", *summaries], folder)[0] for _ in range(rounds)) - start
        print(f"warm: {1000 * many:.1f} ms a file over {len(entries)} files in one process, {1000 * one:.1f} ms for one file in "
              f"its own, of which {1000 * start:.1f} ms is loading the program")
        print(f"engine and report without Clang: {1000 * link / 5:.1f} ms a file, {100 * link / 5 / (cold / len(entries)):.1f} % "
              f"of a cold file")
        walls = {}
        for jobs in (1, 2):
            begin = time.monotonic()
            measure([lint, "-p", str(folder), "--no-cache", f"--jobs={jobs}", "--fail-on=never",
                     *(str(folder / f"s{i}.cpp") for i in range(6))], folder)
            walls[jobs] = time.monotonic() - begin
        print(f"6 files: {walls[1]:.1f} s by the clock with --jobs 1, {walls[2]:.1f} s with --jobs 2 ({walls[1] / walls[2]:.2f} x)")
        return many, one, link / 5 / (cold / len(entries))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lint", required=True)
    parser.add_argument("--database", required=True, type=pathlib.Path)
    parser.add_argument("--cuda", default="/usr/local/cuda", type=pathlib.Path, help="the toolkit")
    parser.add_argument("--clang", default="clang++-22")
    parser.add_argument("--clang-tidy", default="clang-tidy-22")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--torch-files", type=int, default=6)
    parser.add_argument("--project-files", type=int, default=8)
    parser.add_argument("--check", action="store_true", help="fail where an aim is missed by more than a quarter")
    options = parser.parse_args()
    torch, project = sets(options.database, options.torch_files, options.project_files)
    tools = {"syntax": ([options.clang, "-fsyntax-only", "-w"], lambda flags: flags)}
    tools["dtype-lint"] = ([options.lint, "--no-cache"], lambda flags: ["--", *flags])
    try:
        measure([options.clang_tidy, "--version"], ROOT)
        tools["clang-tidy"] = ([options.clang_tidy, "--quiet", "--checks=-*,bugprone-unused-raii"],
                               lambda flags: ["--", "-w", *flags])
    except FileNotFoundError:
        print(f"no {options.clang_tidy}: left out")
    missed = []
    scratch = tempfile.TemporaryDirectory()
    cuda = cuda_set(options.cuda, pathlib.Path(scratch.name))

    def aim(what, value, limit):
        print(f"    {what}: {value:.2f}, aim {limit}{'' if value <= limit else ', missed'}")
        if value > 1.25 * limit:
            missed.append(what)

    for name, files, seconds, memory in (("mostly library headers", torch, 0.6, 0.8),
                                         ("mostly project code", project, 1.1, 1.1),
                                         ("CUDA, against the host pass", cuda, 0.6, 0.8)):
        if not files:
            print(f"{name}: no such file here")
            continue
        found = compare(name, files, tools, options.rounds)["dtype-lint"]
        aim("CPU time", found[0], seconds)
        aim("memory", found[1], memory)
    if torch:
        many, one, engine = warm(options.lint, torch, options.rounds)
        aim("warm, ms a file of 50", 1000 * many, 20)
        aim("warm, ms for one file", 1000 * one, 60)
        aim("engine, share of a cold file", engine, 0.05)
    if options.check and missed:
        sys.exit("missed: " + ", ".join(missed))


main()
