"""How fast dtype-lint's Python front end is beside CPython's own parser, on the same files in one run: `make bench-lint`.

Both parse the same texts in one thread each, in turn; CPU time is the least of the rounds. Without --files it reads the
sources of an installed PyTorch, or those of Python itself. With --lint dtype-lint checks all of the folder once as well,
cold and in two jobs, and once more with a cache: cold, unchanged and with one file edited.
"""
import argparse
import ast
import hashlib
import json
import os
import pathlib
import resource
import subprocess
import sys
import sysconfig
import tempfile
import time
import warnings

LINES_A_SECOND = 200_000  # to parse and lower, a core
SECONDS_OF_LARGE_FILE = 0.3  # for a file of 5,000 lines
JOBS = 2
SECONDS_OF_MILLION = 20  # to check a million lines of models in two jobs, from its start to its end
MEGABYTES_OF_MILLION = 1500
SECONDS_UNCHANGED, SECONDS_EDITED = 3, 0.5  # to check a million lines again, from what was kept


def sources(folder):
    """The files below a folder that CPython takes, and their texts."""
    out = {}
    for path in sorted(folder.rglob("*.py")):
        try:
            text = path.read_text(encoding="utf-8")
            ast.parse(text)
        except (OSError, SyntaxError, ValueError, RecursionError):
            continue
        out[path] = text
    return out


def seconds_of_ast(texts):
    begin = time.process_time()
    for text in texts:
        ast.parse(text)
    return time.process_time() - begin


def seconds_of_front_end(program, root, files):
    run = subprocess.run([program, root], input="\n".join(map(str, files)), capture_output=True, text=True, check=True)
    return json.loads(run.stdout)


def check_whole(lint, folder):
    """What one cold run over a folder takes, and how many roots its budget left out."""
    with tempfile.TemporaryDirectory() as scratch:
        report = pathlib.Path(scratch, "report.json")
        before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        run = subprocess.run([lint, "--no-cache", "--quiet", f"--jobs={JOBS}", f"--format=json={report}", folder],
                             capture_output=True, text=True, check=False)
        took, after = time.monotonic() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
        if not report.is_file():
            sys.exit(f"{lint}: exit status {run.returncode}\n{run.stderr}")
        left_out = sum(each["reason"] == "budget" for each in json.loads(report.read_text())["not_analysed"])
    return {"seconds": took, "processor": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
            "megabytes": after.ru_maxrss / 1024, "left_out": left_out}


def check_kept(lint, texts, folder):
    """Seconds of processor time over a copy of the files with a cache: cold, unchanged, with a line more in one of them; and what it takes to
    read and hash them all."""
    out = {}
    with tempfile.TemporaryDirectory() as scratch:
        copy, cache = pathlib.Path(scratch, folder.name), pathlib.Path(scratch, "cache")
        for path, text in texts.items():
            to = copy / path.relative_to(folder)
            to.parent.mkdir(parents=True, exist_ok=True)
            to.write_text(text, encoding="utf-8")
            os.utime(to, (1.7e9, 1.7e9))  # so old that its time is trusted
        edited = copy / sorted(path.relative_to(folder) for path in texts)[len(texts) // 2]
        for what in ("cold", "unchanged", "one edited"):
            if what == "one edited":
                edited.write_text("# one line more\n" + edited.read_text(encoding="utf-8"), encoding="utf-8")
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            run = subprocess.run([lint, "--cache", cache, "--quiet", "--jobs=1", "--format=json", copy], capture_output=True, check=False)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            if run.returncode == 2:
                sys.exit(f"{lint}: exit status {run.returncode}\n{run.stderr.decode()}")
            out[what] = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        begin = time.process_time()
        for path in copy.rglob("*.py"):
            hashlib.blake2b(path.read_bytes()).digest()
        out["read and hashed"] = time.process_time() - begin
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", required=True, help="bench_lower_python")
    parser.add_argument("--torch-python", default="", help="an interpreter that has PyTorch")
    parser.add_argument("--files", type=pathlib.Path, help="a folder of Python sources")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--lint", help="dtype-lint, to check all of the folder")
    parser.add_argument("--check", action="store_true", help="fail where an aim is missed by more than a quarter")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    folder = options.files
    if not folder and options.torch_python and pathlib.Path(options.torch_python).is_file():
        found = subprocess.run([options.torch_python, "-c", "import importlib.util as u; print(u.find_spec('torch').origin)"],
                               capture_output=True, text=True, check=False)
        folder = pathlib.Path(found.stdout.strip()).parent if found.returncode == 0 else None
    folder = (folder or pathlib.Path(sysconfig.get_paths()["stdlib"])).resolve()
    texts = sources(folder)
    if not texts:
        sys.exit(f"{folder}: no Python source that CPython takes")
    lines = sum(text.count("\n") for text in texts.values())
    by_ast, best = 1e9, {}
    for _ in range(options.rounds):
        by_ast = min(by_ast, seconds_of_ast(texts.values()))
        found = seconds_of_front_end(options.program, folder, texts)
        best = {name: min(value, best.get(name, value)) for name, value in found.items()}
    print(f"{folder}: {len(texts)} files, {lines} lines, least of {options.rounds} rounds, one core")
    for what, seconds in (("CPython's ast.parse", by_ast), ("parse", best["parse"]), ("parse and lower", best["parse_and_lower"])):
        print(f"  {what:<20} {seconds:8.2f} s {lines / seconds:12,.0f} lines a second {seconds / by_ast:6.2f} x ast")
    print(f"  {best['functions']} functions, {best['instructions']} instructions, {best['peak_kb'] / 1024:.0f} MB at most")
    large = max(texts, key=lambda path: texts[path].count("\n"))
    alone = min(seconds_of_front_end(options.program, folder, [large])["parse_and_lower"] for _ in range(options.rounds))
    own = texts[large].count("\n")
    missed = []
    for what, value, limit, good in (
            ("lines a second", lines / best["parse_and_lower"], LINES_A_SECOND, lines / best["parse_and_lower"] * 1.25 >= LINES_A_SECOND),
            (f"seconds for 5,000 lines of {large.name}", alone * 5000 / own, SECONDS_OF_LARGE_FILE,
             alone * 5000 / own <= 1.25 * SECONDS_OF_LARGE_FILE)):
        print(f"    {what}: {value:,.2f}, aim {limit:,}{'' if good else ', missed'}")
        if not good:
            missed.append(what)
    if options.lint:
        # The largest of all children's memory: that of the front end alone was printed above.
        whole = check_whole(options.lint, folder)
        print(f"  dtype-lint, {JOBS} jobs: {whole['processor']:.2f} s of processor time, {whole['processor'] / by_ast:.2f} x ast; "
              f"{whole['seconds']:.2f} s, {whole['megabytes']:.0f} MB at most; {whole['left_out']} roots left out by the budget")
        for what, value, limit in (("seconds for a million lines", whole["seconds"] * 1e6 / lines, SECONDS_OF_MILLION),
                                   ("megabytes at most", whole["megabytes"], MEGABYTES_OF_MILLION)):
            print(f"    {what}: {value:,.2f}, aim {limit:,}{'' if value <= 1.25 * limit else ', missed'}")
            if value > 1.25 * limit:
                missed.append(what)
        kept = check_kept(options.lint, texts, folder)
        print("  with a cache, one job: " + ", ".join(f"{what} {seconds:.2f} s ({seconds / kept['cold']:.1%})" for what, seconds in kept.items()))
        for what, limit in (("unchanged", SECONDS_UNCHANGED), ("one edited", SECONDS_EDITED)):
            value = kept[what] * 1e6 / lines
            print(f"    seconds of processor time for a million lines, {what}: {value:,.2f}, aim {limit:,}{'' if value <= 1.25 * limit else ', missed'}")
            if value > 1.25 * limit:
                missed.append(what)
    if options.check and missed:
        sys.exit("missed: " + ", ".join(missed))


main()
