#!/usr/bin/env python3
"""dtype-lint on other people's Python packages: what it reached of the calls that contract_calls.py counts, which operands
it knew, every definite finding, and what it cost.

    pip download --no-deps --dest WHEELS transformers diffusers ...      # then unpack each to PACKAGES/NAME
    python_packages.py --tool build/bin/dtype-lint --packages PACKAGES --out RESULTS [NAME...]

A package is run as a project of its own. Its JSON report stays in RESULTS. The status is 1 where a run crashed, hung or
ended with a status that dtype-lint does not promise. What it costs is CPU time, as the kernel counts it.
"""
import argparse
import collections
import json
import os
import pathlib
import resource
import signal
import subprocess
import sys
import time

import contract_calls

HERE = pathlib.Path(__file__).resolve().parent
PROMISED = (0, 1, 3)  # nothing, findings, something that was not analysed
PLACE = ("file", "line", "column")


def run(command, seconds):
    """(status, CPU seconds, peak MB, seconds, stderr); a run beyond its time is ended and has status 'hang'."""
    begin = time.monotonic()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace",
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))) as process:
        said = process.stderr.read()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = status = os.waitstatus_to_exitcode(status)
    if status in (-signal.SIGXCPU, -signal.SIGKILL):
        status = "hang"
    return status, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, time.monotonic() - begin, said


def lines_of(folder):
    return sum(path.read_bytes().count(b"\n") for path in folder.rglob("*.py") if path.is_file())


def reached(report, expected):
    """Of the expected calls, how many were reached, and of their operands how many known; the API of each that was not."""
    seen = {}
    for each in report["calls"]:
        seen.setdefault((each["location"]["file"], each["location"]["line"]), []).append(each)
    calls = known = operands = 0
    missed, unknown = collections.Counter(), collections.Counter()
    for file, line, _, api, roles in expected:
        operands += len(roles)
        here = [each for each in seen.get((file, line), []) if each["api"] == api] or seen.get((file, line), [])
        hit = [each for each in here if each["reached"]]
        if not hit:
            missed["not lowered as a call" if not here else "no root comes to it"] += 1
            continue
        calls += 1
        left = set(hit[0]["unknown"])
        known += len([role for role in roles if role not in left])
        unknown.update(role for role in roles if role in left)
    return calls, operands, known, missed, unknown


def one(name, options, table):
    folder = options.packages / name
    out = options.out / f"{name}.json"
    out.unlink(missing_ok=True)
    package = contract_calls.Package(folder)
    expected = list(contract_calls.calls(package, table))
    command = [str(options.tool), "--no-cache", f"--jobs={options.jobs}", f"--root={folder}", f"--format=json={out}",
               *options.options, str(folder)]
    status, cpu, memory, wall, said = run(command, options.seconds)
    row = {"package": name, "status": status, "lines": lines_of(folder), "cpu": cpu, "mb": memory, "seconds": wall,
           "expected": len(expected), "unparsed_by_ast": len(package.unparsed)}
    if not out.is_file():
        return row | {"said": said[-300:]}, []
    report = json.loads(out.read_text(encoding="utf-8"))
    row |= dict(zip(("reached", "operands", "known", "missed", "unknown"), reached(report, expected)))
    reasons = collections.Counter(each["reason"].partition(":")[0] for each in report["not_analysed"])
    refused = {each["file"] for each in report["not_analysed"] if each["reason"] == "parse-error"}
    row |= {"own_calls": report["summary"]["calls"], "not_analysed": dict(reasons),
            "refused_though_ast_reads": sorted(refused - {each for each, _ in package.unparsed})}
    findings = [each | {"package": name} for each in report["findings"]]
    row["definite"] = sum(each["certainty"] == "definite" for each in findings)
    return row, findings


def shown(row):
    if "reached" not in row:
        return f"{row['package']:<28} status {row['status']} after {row['cpu']:.0f} s CPU: {row.get('said', '')}"
    reach = f"{row['reached']}/{row['expected']}"
    known = f"{row['known']}/{row['operands']}"
    return (f"{row['package']:<28}{row['status']!s:>6}{row['lines']:>9}{reach:>12}{known:>12}{row['definite']:>4}"
            f"{row['cpu']:>8.1f}{1e6 * row['cpu'] / max(1, row['lines']):>7.0f}{row['mb']:>7.0f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tool", required=True, type=pathlib.Path)
    parser.add_argument("--packages", required=True, type=pathlib.Path)
    parser.add_argument("--out", required=True, type=pathlib.Path)
    parser.add_argument("--contracts", default=HERE.parents[1] / "rules" / "contracts", type=pathlib.Path)
    parser.add_argument("--seconds", default=1200, type=int, help="CPU time for one package")
    parser.add_argument("--jobs", default=2, type=int)
    parser.add_argument("--options", default=[], type=str.split, help="further options of dtype-lint")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    options.packages = options.packages.resolve()
    options.out.mkdir(parents=True, exist_ok=True)
    table = contract_calls.contracts(options.contracts)
    names = options.names or sorted(each.name for each in options.packages.iterdir() if each.is_dir())
    total, missed, unknown, broken = collections.Counter(), collections.Counter(), collections.Counter(), []
    print(f"{'package':<28}{'status':>6}{'lines':>9}{'reached':>12}{'known':>12}{'def':>4}{'CPU s':>8}{'us/l':>7}{'MB':>7}")
    for name in names:
        row, findings = one(name, options, table)
        print(shown(row), flush=True)
        for each in row.get("refused_though_ast_reads", []):
            print(f"    refused though CPython reads it: {each}")
        for each in findings:
            if each["certainty"] == "definite":
                where = ":".join(str(each["location"][part]) for part in PLACE)
                print(f"    {where}: {each['rule']}: {each['message']}")
        (options.out / f"{name}.row.json").write_text(json.dumps(row, default=dict), encoding="utf-8")
        if row["status"] not in PROMISED:
            broken.append(f"{name}: {row['status']}")
        total.update({key: row.get(key, 0) for key in ("lines", "expected", "reached", "operands", "known", "definite", "cpu")})
        missed.update(row.get("missed", {}))
        unknown.update(row.get("unknown", {}))
    print(f"all {len(names)}: {total['lines']} lines, {total['reached']} of {total['expected']} calls reached, "
          f"{total['known']} of {total['operands']} operands known, {total['definite']} definite findings, "
          f"{total['cpu']:.0f} s CPU")
    print(f"not reached: {dict(missed)}; operands of reached calls that are not known: {dict(unknown)}")
    if broken:
        sys.exit("crashed, hung or unpromised status: " + ", ".join(broken))


if __name__ == "__main__":
    main()
