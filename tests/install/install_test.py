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
    done = subprocess.run([str(part) for part in command], text=True, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **settings)
    if status is None and done.returncode == 0 or status is not None and done.returncode != status:
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


def build_steps(build, status=0):
    """What `cmake --build` says of the lint, and the times of the summaries."""
    output = run([CMAKE, "--build", build, "--target", "lint_steps"], status)
    return output, {path.name: path.stat().st_mtime_ns for path in (build / "lint" / "steps").glob("*.sum")}


def check_lint_steps(scratch, prefix, flags, generator):
    """dtype_guard_lint: a build step for each source, done again when what it rests on changes."""
    consumer = scratch / f"lint steps {generator}"
    build = consumer / "build"
    shutil.copytree(pathlib.Path(__file__).parent / "lint", consumer)
    before = (ROOT / "examples" / "plain_cpp" / "before.cpp").read_text()
    after = (ROOT / "examples" / "plain_cpp" / "after.cpp").read_text()
    (consumer / "main.cpp").write_text('#include "other.h"\n' + after)
    configure = [CMAKE, "-S", consumer, "-B", build, f"-DCMAKE_PREFIX_PATH={prefix}", f"-DCMAKE_CXX_FLAGS={flags}"]
    configure += ["-G", generator]
    run(configure)
    output, first = build_steps(build)
    require(sorted(first) == ["main_cpp.sum", "other_cpp.sum"], f"summaries: {first}\n{output}")
    output, again = build_steps(build)
    require(again == first, f"nothing changed, and it was linted again: {output}")
    header = consumer / "other.h"
    header.write_text(header.read_text() + "// more\n")
    output, changed = build_steps(build)
    require(changed["main_cpp.sum"] != first["main_cpp.sum"] and changed["other_cpp.sum"] != first["other_cpp.sum"],
            f"a header changed, and not all that include it were linted: {output}")
    (consumer / "other.cpp").write_text((consumer / "other.cpp").read_text() + "// more\n")
    output, one = build_steps(build)
    require(one["main_cpp.sum"] == changed["main_cpp.sum"] and one["other_cpp.sum"] != changed["other_cpp.sum"],
            f"one source changed: {output}")
    (consumer / "main.cpp").write_text('#include "other.h"\n' + before)
    for _ in range(2):
        output = run([CMAKE, "--build", build, "--target", "lint_steps"], status=None)
        require("[attention-implicit-promotion]" in output and "main.cpp:31:17" in output, output)
    report = json.loads((build / "lint" / "steps.json").read_text())
    require([f["location"]["file"] for f in report["findings"]] == ["main.cpp"], json.dumps(report, indent=1))
    require("runs" in json.loads((build / "lint" / "steps.sarif").read_text()), "no SARIF report")
    run([*configure, "-DFAIL_ON=never"])
    output, _ = build_steps(build)
    (consumer / "main.cpp").write_text('#include "other.h"\n' + after)
    run([*configure, "-DFAIL_ON=error"])
    build_steps(build)
    output = run([*configure, "-DWRONG=ON"], status=1)
    require("unknown or empty argument: PRECISON" in " ".join(output.split()), output)


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
            for tool, generator in (("ninja", "Ninja"), ("make", "Unix Makefiles")):
                if shutil.which(tool):
                    check_lint_steps(scratch, prefix, args.cxx_flags, generator)
                else:
                    print(f"{tool} is not installed: dtype_guard_lint was not tried with {generator}")
        check_san(commands["dtype-san"], consumer_build, scratch)


if __name__ == "__main__":
    main()
