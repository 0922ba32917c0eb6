#!/usr/bin/env python3
"""Whether the oracle sees a fault: compiles the engine's file with each fault of faults.json in it, links the oracle
with that instead of its own, and runs its programs. A fault is killed where a property fails or what is recorded is
not reached.

    seed_faults.py BUILD [--first N] [--most N] [--only TEXT] [-j N] [--fit]

BUILD is a build folder with an up-to-date oracle (Ninja). A fault that the first programs do not see is run on the most, which
are all that the record is of unless --most says otherwise. Exit status 1 where more than two faults survive, 2 where a fault
no longer fits the sources.
"""
import argparse
import concurrent.futures
import json
import pathlib
import shlex
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
FLOW = ROOT / "analyzer/flow"
RECORD = HERE / "recorded.json"
ORACLE = "tests/oracle/oracle"
FAULTS = 40
MOST_SURVIVORS = 2
LIMIT = 1200  # seconds


def find_source(name):
    """The one file of that name, in whichever folder of the engine it stands."""
    found = [p for p in FLOW.rglob(pathlib.Path(name).name) if str(p).endswith(name)]
    return found[0] if len(found) == 1 else None


def fits(fault):
    source = find_source(fault["file"])
    return source is not None and source.read_text().count(fault["find"]) == 1


class Build:
    def __init__(self, folder):
        self.folder = folder
        commands = subprocess.run(["ninja", "-C", str(folder), "-t", "compdb"], capture_output=True, text=True, check=True)
        self.compiles = {each["file"]: each["command"] for each in json.loads(commands.stdout)
                         if each["output"].startswith("analyzer/flow/") and each["output"].endswith(".o")}
        links = subprocess.run(["ninja", "-C", str(folder), "-t", "commands", "-s", ORACLE], capture_output=True, text=True,
                               check=True)
        self.link = links.stdout.strip().removeprefix(": && ").removesuffix(" && :")

    def run(self, command):
        try:
            return subprocess.run(command, cwd=self.folder, timeout=LIMIT, capture_output=True, text=True, errors="replace")
        except subprocess.TimeoutExpired:
            return subprocess.CompletedProcess(command, -1, "", "ran past its limit")

    def with_fault(self, fault, scratch):
        """The oracle with the fault in it, or what the compiler said. The faulty object comes before the library, of
        which the linker then takes nothing that stands in that file."""
        source = find_source(fault["file"])
        faulty, made, oracle = scratch / source.name, scratch / "faulty.o", scratch / "oracle"
        faulty.write_text(source.read_text().replace(fault["find"], fault["put"]))
        compile_it = shlex.split(self.compiles[str(source)])
        compile_it[compile_it.index("-o") + 1] = str(made)
        compile_it[compile_it.index(str(source))] = str(faulty)
        done = self.run([each for each in compile_it if each != "-Werror"])
        if done.returncode:
            return None, done.stderr
        link = shlex.split(self.link)
        at = link.index("-o")
        link[at:at + 2] = [str(made), "-o", str(oracle)]
        done = self.run(link)
        return (oracle, "") if done.returncode == 0 else (None, done.stderr)


def commands(oracle, records):
    return [[str(oracle), "--programs", str(count), "--stop", "--record", str(record)] for count, record in records]


def recorded_without_a_fault(build, counts, folder):
    """Of each number of programs a record, with the shares that they have without a fault."""
    out = []
    for count in counts:
        record = pathlib.Path(folder) / f"{count}.json"
        done = build.run([str(build.folder / ORACLE), "--programs", str(count), "--record", str(RECORD), "--write",
                          str(record)])
        if not record.exists():
            return None, f"{done.stdout[-2000:]}{done.stderr}"
        out.append((count, record))
    return out, ""


def verdict(build, fault, records):
    with tempfile.TemporaryDirectory() as folder:
        oracle, problem = build.with_fault(fault, pathlib.Path(folder))
        if not oracle:
            return "does not build", problem[-800:]
        for command in commands(oracle, records):
            done = build.run(command)
            if done.returncode not in (0, 1):
                return "ends without an answer", f"status {done.returncode}: {done.stderr.strip()[-100:]}"
            if done.returncode:
                return "killed", next(iter(done.stdout.splitlines()), done.stderr.strip())[:100]
    return "survives", ""


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("build", type=pathlib.Path)
    arguments.add_argument("--fit", action="store_true", help="only say which faults no longer fit the sources")
    arguments.add_argument("--first", type=int, default=2000)
    arguments.add_argument("--most", type=int, default=json.loads(RECORD.read_text())["programs"])
    arguments.add_argument("--only", default="")
    arguments.add_argument("-j", type=int, default=2)
    given = arguments.parse_args()
    faults = [f for f in json.loads((HERE / "faults.json").read_text())["faults"] if given.only in f["name"]]
    misfits = [f["name"] for f in faults if not fits(f)]
    if misfits:
        print("these faults do not fit the sources, mend faults.json:", *misfits, sep="\n  ")
        return 2
    if given.fit:
        return 0 if len(faults) == FAULTS else print(f"{len(faults)} faults, and there are to be {FAULTS}") or 2
    build = Build(given.build.resolve())
    counts = sorted({min(given.first, given.most), given.most})
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(given.j) as pool:
        records, problem = recorded_without_a_fault(build, counts, folder)
        if not records:
            print(f"the oracle fails without a fault:\n{problem}")
            return 2
        verdicts = pool.map(lambda fault: verdict(build, fault, records), faults)
        killed = 0
        for fault, (what, why) in zip(faults, verdicts):
            print(f"{what}: {fault['name']}{': ' + why if why else ''}", flush=True)
            killed += what == "killed"
    print(f"{killed} of {len(faults)} faults are killed")
    return len(faults) - killed > MOST_SURVIVORS


if __name__ == "__main__":
    sys.exit(main())
