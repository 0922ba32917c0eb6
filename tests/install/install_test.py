#!/usr/bin/env python3
"""Installs a build into a scratch prefix with spaces in its path, builds a consumer against it with find_package, runs
it, and lets the installed dtype-lint and dtype-san judge it. The prefix is moved first: nothing may depend on where it
was installed."""
import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
CMAKE = os.environ.get("CMAKE", "cmake")


def run(command, status=0, **settings):
    done = subprocess.run([str(part) for part in command], text=True, stdin=subprocess.DEVNULL, timeout=300,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **settings)
    if done.returncode != status:
        print(f"{' '.join(map(str, command))}\nexit status {done.returncode}, expected {status}\n{done.stdout}")
        sys.exit(1)
    return done.stdout


def require(condition, message):
    if not condition:
        print(message)
        sys.exit(1)


def installed_commands(consumer_build, prefix):
    lines = (consumer_build / "commands.txt").read_text().splitlines()
    commands = dict(line.split("=", 1) for line in lines)
    for name, path in commands.items():
        require(pathlib.Path(path) == prefix / "bin" / name, f"{name} is imported from {path}, not from {prefix}/bin")
    return commands


def check_lint(command, consumer, consumer_build, scratch):
    report = scratch / "lint.json"
    run([command, "-p", consumer_build, "--root", consumer, f"--format=json={report}", "--quiet"], status=1)
    findings = json.loads(report.read_text())["findings"]
    require(findings and {finding["location"]["file"] for finding in findings} == {"wrong.cpp"},
            f"dtype-lint should find wrong.cpp alone: {json.dumps(findings, indent=1)}")


def check_san(command, consumer_build, scratch):
    for program, status, expected in (("right", 0, 0), ("wrong", 1, 1)):
        report = scratch / f"{program}.json"
        run([command, "run", f"--format=json={report}", "--", consumer_build / program], status)
        document = json.loads(report.read_text())
        require(len(document["findings"]) == expected,
                f"dtype-san on {program}: {expected} findings expected: {json.dumps(document, indent=1)}")
        require(document["watched"]["calls"], f"dtype-san saw no call of {program}: {json.dumps(document, indent=1)}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--analyzer", choices=("0", "1"), required=True)
    parser.add_argument("--cxx-flags", default="")
    args = parser.parse_args()

    with tempfile.TemporaryDirectory(prefix="dtype guard ") as folder:
        scratch = pathlib.Path(folder)
        first, prefix = scratch / "first prefix", scratch / "a prefix"
        run([CMAKE, "--install", args.build, "--prefix", first])
        first.rename(prefix)

        consumer, consumer_build = scratch / "a consumer", scratch / "a consumer" / "build"
        shutil.copytree(pathlib.Path(__file__).parent / "consumer", consumer)
        for program, version in (("right", "after"), ("wrong", "before")):
            shutil.copy2(ROOT / "examples" / "plain_cpp" / f"{version}.cpp", consumer / f"{program}.cpp")
        run([CMAKE, "-S", consumer, "-B", consumer_build, f"-DCMAKE_PREFIX_PATH={prefix}",
             f"-DEXPECT_ANALYZER={args.analyzer}", f"-DCMAKE_CXX_FLAGS={args.cxx_flags}"])
        run([CMAKE, "--build", consumer_build])
        require("attention output" in run([consumer_build / "right"]), "the consumer printed no result")

        commands = installed_commands(consumer_build, prefix)
        if args.analyzer == "1":
            check_lint(commands["dtype-lint"], consumer, consumer_build, scratch)
        check_san(commands["dtype-san"], consumer_build, scratch)


if __name__ == "__main__":
    main()
