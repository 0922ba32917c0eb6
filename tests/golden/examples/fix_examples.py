#!/usr/bin/env python3
"""Applies --fix to a copy of the examples: what is fixed compiles, is clean in every precision setting and stays as it is.

    fix_examples.py --lint DTYPE_LINT --build BUILD_DIR EXAMPLE...

Two examples have no fix. In deepscaler_qwen2 nothing was promoted: a whole model is float32, and which half dtype it
should run in, or under which autocast, is for its owner to say. In plain_cpp the types of three buffers and a descriptor
would have to change together.
"""
import argparse
import json
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile

from check_example import PRECISIONS

ROOT = pathlib.Path(__file__).resolve().parents[3]
WITHOUT_FIX = {"deepscaler_qwen2", "plain_cpp"}


def require(condition, message):
    if not condition:
        print(f"FAILED: {message}")
        sys.exit(1)


def run(command, **rest):
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False, **rest)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lint", required=True)
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("examples", nargs="+")
    args = parser.parse_args()
    commands = {entry["file"]: entry for entry in json.loads((args.build / "compile_commands.json").read_text())}
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder)
        shutil.copytree(ROOT / "examples", copy / "examples")
        (copy / ".dtype-lint.json").write_text("{}")
        for name in args.examples:
            original = ROOT / "examples" / name / "before.cpp"
            source = copy / "examples" / name / "before.cpp"
            words = [word.replace(str(original), str(source)) for word in shlex.split(commands[str(original)]["command"])]
            flags = ["--", *(word for word in words[1:] if word not in (str(source), "-c"))]
            lint = [args.lint, "--root", copy, "--no-cache", "--quiet"]
            done = run([*lint, "--fix", source, *flags], cwd=commands[str(original)]["directory"])
            if name in WITHOUT_FIX:
                require(done.returncode == 1 and source.read_text() == original.read_text(), f"{name}: {done.stdout}{done.stderr}")
                continue
            require(done.returncode == 0, f"{name}: --fix leaves\n{done.stdout}{done.stderr}")
            require("dtype-lint: fixed" in done.stderr, f"{name}: {done.stderr}")
            fixed = source.read_text()
            changed = [(a, b) for a, b in zip(original.read_text().splitlines(), fixed.splitlines()) if a != b]
            require(changed and all(".scalar_type())" in after for _, after in changed), f"{name}: {changed}")
            compiled = run([*words, "-fsyntax-only"], cwd=commands[str(original)]["directory"])
            require(compiled.returncode == 0, f"{name}: does not compile\n{compiled.stderr}")
            again = run([*lint, "--fix", "--precision", ",".join(PRECISIONS), source, *flags])
            require(again.returncode == 0 and not again.stdout and not again.stderr, f"{name}: {again.stdout}{again.stderr}")
            require(source.read_text() == fixed, f"{name}: fixed text is fixed again")
            print(f"{name}: {len(changed)} lines")


if __name__ == "__main__":
    main()
