"""Runs dtype-lint on every construct of this folder, on real headers, and compares with the comments in it.

    constructs.py DTYPE_LINT wheel PYTHON | debian | plain

wheel takes libtorch's headers from that Python's PyTorch, debian from /usr/include; plain runs what needs no libtorch.
`// expect: RULE` on a line says that a finding of that rule stands there; nothing else may be found, so that what is
called ok_ is silent. A generation of headers that is not on this machine is skipped, and said so.
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

SKIPPED = 77
HERE = pathlib.Path(__file__).resolve().parent
PLAIN = [(["numbers.cpp"], ["-std=c++20"]), (["ggml_graph.c"], ["-std=c11"]),
         (["directives.cpp"], ["-std=c++17", "-fopenmp"]),
         *((sources, ["-std=c++17", *toolkit])
           for sources in (["halves.cu"], ["widened.cu"], ["runtime.cu"], ["linked_kernel.cu", "linked_call.cu"])
           for toolkit in ([], ["--cuda-path=/nowhere"]))]  # the latter with stand-ins for a toolkit's headers
TOOLKIT = pathlib.Path("/usr/local/cuda/include/cuda_bf16.h")


def include_folder(kind, python):
    if kind == "debian":
        return pathlib.Path("/usr/include")
    asked = [python, "-c", "import importlib.util as u; print(u.find_spec('torch').submodule_search_locations[0])"]
    try:
        found = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return pathlib.Path("/nowhere")
    return pathlib.Path(found) / "include"


def expected(path):
    return {(path.name, number, rule) for number, line in enumerate(path.read_text().splitlines(), 1)
            for rule in re.findall(r"// expect: ([a-z0-9-]+)", line)}


def check(lint, sources, flags, by_summaries=False):
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "report.json"
        common = [lint, "--root", str(HERE), "--no-cache", "--color=never"]
        given = [*(str(HERE / each) for each in sources), "--", *flags]
        if by_summaries:
            given = ["--link", *(f"{folder}/{each}.summary" for each in sources)]
            for each in sources:
                subprocess.run([*common, "--emit-summary", f"{folder}/{each}.summary", str(HERE / each), "--", *flags],
                               check=True)
        run = subprocess.run([*common, f"--format=json={report}", *given], capture_output=True, text=True)
        data = json.loads(report.read_text())
    problems = [f"not analysed: {each}" for each in data["not_analysed"]]
    wanted = set().union(*(expected(HERE / each) for each in sources))
    assert wanted, f"no expectations in {sources}"
    got = {(pathlib.Path(each["location"]["file"]).name, each["location"]["line"], each["rule"])
           for each in data["findings"]}
    problems += [f"missed: {each}" for each in sorted(wanted - got)]
    problems += [f"false alarm: {each}" for each in sorted(got - wanted)]
    if run.returncode != 1:
        problems.append(f"exit status {run.returncode}: {run.stderr}")
    return problems, len(wanted)


def main():
    lint, kind = sys.argv[1], sys.argv[2]
    problems, seen = [], 0
    if kind == "plain":
        for sources, flags in PLAIN:
            if sources[0].endswith(".cu") and len(flags) == 1 and not TOOLKIT.is_file():
                print(f"left out: {sources} with a CUDA toolkit's headers, {TOOLKIT} is missing")
                continue
            for by_summaries in (False, True)[:len(sources)]:
                found, count = check(lint, sources, flags, by_summaries)
                problems, seen = problems + found, seen + count
    else:
        include = include_folder(kind, sys.argv[3] if len(sys.argv) > 3 else "")
        if not (include / "torch/csrc/api/include/torch/types.h").is_file():
            print(f"skipped: no libtorch headers in {include}")
            return SKIPPED
        flags = ["-std=c++20" if kind == "wheel" else "-std=c++17",
                 "-isystem", str(include / "torch/csrc/api/include")]
        if kind == "wheel":
            flags += ["-isystem", str(include)]
        plain = {name for sources, _ in PLAIN for name in sources}
        sources = sorted(each.name for each in HERE.glob("*.cpp") if each.name not in plain)
        problems, seen = check(lint, sources, flags)
        if kind == "wheel":  # CUDA's libraries are those that stand in for them
            found, count = check(lint, ["aten.cu"], [*flags, "--cuda-path=/nowhere"])
            problems, seen = problems + found, seen + count
    print("\n".join(problems) or f"{seen} expected findings, and no other")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
