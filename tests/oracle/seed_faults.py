#!/usr/bin/env python3
"""Whether the oracle sees a fault: puts each fault of faults.json into a copy of the engine, builds the oracle
with it and runs its programs. A fault is killed where a property fails or what is recorded is not reached.

    seed_faults.py SCRATCH [--programs N] [--only TEXT] [--jobs N]

SCRATCH is a folder for the copy and its build; it is kept, so that a second call builds little. Exit status 1
where more than two faults survive, 2 where a fault no longer fits the sources.
"""
import argparse
import json
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
FLOW = pathlib.Path("analyzer/flow")
MOST_SURVIVORS = 2


def find_source(tree, name):
    """The one file of that name, in whichever folder of the engine it stands."""
    found = [p for p in (tree / FLOW).rglob(pathlib.Path(name).name) if str(p).endswith(name)]
    return found[0] if len(found) == 1 else None


def fits(tree, fault):
    source = find_source(tree, fault["file"])
    return source is not None and source.read_text().count(fault["find"]) == 1


def copy_tree(tree):
    for part in ["CMakeLists.txt", "CMakePresets.json", "cmake", "analyzer", "rules", "sanitizer", "kernels",
                 "tests", "examples"]:
        target = tree / part
        if (ROOT / part).is_dir():
            shutil.copytree(ROOT / part, target, dirs_exist_ok=True)
        else:
            shutil.copy2(ROOT / part, target)


def run(command, cwd, limit):
    try:
        done = subprocess.run(command, cwd=cwd, timeout=limit, capture_output=True, text=True, errors="replace")
    except subprocess.TimeoutExpired:
        return None, "ran past its limit"
    return done.returncode, done.stdout + done.stderr


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("scratch", type=pathlib.Path)
    arguments.add_argument("--programs", default="4000")
    arguments.add_argument("--only", default="")
    arguments.add_argument("--jobs", default="2")
    given = arguments.parse_args()
    faults = [f for f in json.loads((HERE / "faults.json").read_text())["faults"] if given.only in f["name"]]
    misfits = [f["name"] for f in faults if not fits(ROOT, f)]
    if misfits:
        print("these faults do not fit the sources, mend faults.json:", *misfits, sep="\n  ")
        return 2
    tree, build = given.scratch / "tree", given.scratch / "build"
    tree.mkdir(parents=True, exist_ok=True)
    copy_tree(tree)
    configure = ["cmake", "-S", str(tree), "-B", str(build), "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release"]
    make = ["cmake", "--build", str(build), "--target", "oracle", "-j", given.jobs]
    oracle = [str(build / "tests/oracle/oracle"), "--programs", given.programs, "--record",
              str(HERE / "recorded.json")]
    for step, command in [("configure", configure), ("build", make), ("run without a fault", oracle)]:
        status, output = run(command, given.scratch, 3600)
        if status != 0:
            print(f"{step} failed:\n{output[-2000:]}")
            return 2
    survivors, killed = [], 0
    for fault in faults:
        source = find_source(tree, fault["file"])
        text = source.read_text()
        source.write_text(text.replace(fault["find"], fault["put"]))
        status, output = run(make, given.scratch, 3600)
        if status == 0:
            status, output = run(oracle, given.scratch, 1200)
            verdict = "survives" if status == 0 else "killed"
        else:
            verdict = "does not build"
        killed += verdict == "killed"
        if verdict != "killed":
            survivors.append(fault["name"])
        print(f"{verdict}: {fault['name']}", flush=True)
        if verdict == "does not build":
            print(output[-800:])
        source.write_text(text)
    print(f"{killed} of {len(faults)} faults are killed")
    return len(survivors) > MOST_SURVIVORS


if __name__ == "__main__":
    sys.exit(main())
