#!/usr/bin/env python3
"""Lints and runs one example, before and after, and compares all findings with its expected.json.

    check_example.py --example DIR --lint DTYPE_LINT --san DTYPE_SAN --build BUILD_DIR --bin FOLDER [--accept]

`before` must be found and `after` must be clean in every precision setting, at both times. --accept rewrites
expected.json from what the tools say now: read the difference before you commit it.
"""
import argparse
import difflib
import json
import pathlib
import subprocess
import sys
import tempfile

PRECISIONS = ["autocast-fp16", "autocast-bf16", "fp16", "bf16", "fp16-fp32-buffers", "bf16-fp32-buffers", "fp32"]


def fail(message):
    print(f"FAILED: {message}")
    sys.exit(1)


def run(command, expected_status):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode != expected_status:
        fail(f"{' '.join(map(str, command))}\nexit status {done.returncode}, expected {expected_status}\n"
             f"{done.stdout}{done.stderr}")
    return done


def lint(args, source, expected_status, *options):
    with tempfile.TemporaryDirectory() as scratch:
        report = pathlib.Path(scratch) / "report.json"
        run([args.lint, "-p", args.build, "--root", args.root, "--quiet",
             f"--format=json={report}", *options, source], expected_status)
        result = json.loads(report.read_text())
    for finding in result["findings"]:
        finding.pop("torch")  # the version of whatever libtorch is installed
    return result


def sanitize(args, program, expected_status):
    with tempfile.TemporaryDirectory() as scratch:
        report = pathlib.Path(scratch) / "report.json"
        done = run([args.san, "run", "--root", args.root, f"--format=json={report}", "--", program], expected_status)
        return json.loads(report.read_text()), done


def scrub_frames(frames):
    """Keeps the frames of the example itself: what libc and the loader look like depends on the machine."""
    kept = []
    for frame in frames:
        file = frame.get("file", "")
        if file.startswith("examples/"):  # libc's files have relative names too where its symbols are installed
            kept.append({"function": frame["function"], "file": file, "line": frame["line"]})
    return kept


def scrub_run_time(finding):
    finding = dict(finding)
    finding.pop("occurrences", None)
    finding["backtrace"] = scrub_frames(finding.get("backtrace", []))
    finding["stacks"] = [{"kind": stack["kind"], "backtrace": scrub_frames(stack["backtrace"])}
                         for stack in finding.get("stacks", [])]
    return finding


def observe(args):
    example = args.example
    seen = {"lint": {}, "run": {}}
    seen["lint"]["before"] = lint(args, example / "before.cpp", 1)["findings"]
    seen["lint"]["before, --device cpu"] = lint(args, example / "before.cpp", 1, "--device", "cpu")["findings"]
    for device in ("cuda", "cpu"):
        after = lint(args, example / "after.cpp", 0, "--device", device, "--precision", ",".join(PRECISIONS))
        if after["findings"] or after["not_analysed"]:
            fail(f"after.cpp is not clean on {device}: {json.dumps(after, indent=2)}")
    for name, status in (("before", 1), ("after", 0)):
        report, done = sanitize(args, args.bin / f"{example.name}_{name}", status)
        seen["run"][name] = {
            "exit": done.returncode,
            "stdout": done.stdout,
            "calls": {api: count for api, count in report["watched"]["calls"].items() if count},
            "findings": [scrub_run_time(finding) for finding in report["findings"]],
        }
    if seen["run"]["after"]["findings"]:
        fail(f"after has findings at run time: {json.dumps(seen['run']['after'], indent=2)}")
    return seen


def main():
    parser = argparse.ArgumentParser()
    for name in ("example", "lint", "san", "build", "bin"):
        parser.add_argument(f"--{name}", required=True, type=lambda path: pathlib.Path(path).absolute())
    parser.add_argument("--accept", action="store_true")
    args = parser.parse_args()
    args.root = args.example.parent.parent

    seen = json.dumps(observe(args), indent=2, ensure_ascii=False) + "\n"
    expected_file = args.example / "expected.json"
    if args.accept:
        expected_file.write_text(seen)
        return
    expected = expected_file.read_text()
    if seen != expected:
        sys.stdout.writelines(difflib.unified_diff(expected.splitlines(True), seen.splitlines(True),
                                                   "expected.json", "what the tools say now"))
        fail("findings differ from expected.json (--accept rewrites it)")


if __name__ == "__main__":
    main()
