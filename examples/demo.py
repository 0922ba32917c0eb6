#!/usr/bin/env python3
"""The demo: lints the examples, runs them under the sanitizer and compares both with what is documented.

    demo.py --build BUILD_DIR [--out DIR]

Prints what was found and writes lint.json, lint_python.json, run.json and report.txt into DIR (default: BUILD_DIR/demo). Exit 0: every
finding that an example's expected.json lists was made, at its line, and no other; 1: something differed.
"""
import argparse
import json
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
VERSIONS = ("before", "after")


class Transcript:
    """Prints, and keeps what was printed for report.txt."""

    def __init__(self, path):
        self.file = open(path, "w", encoding="utf-8")

    def say(self, text=""):
        print(text, flush=True)
        self.file.write(text + "\n")


def run(command, **settings):
    return subprocess.run([str(part) for part in command], text=True, stdin=subprocess.DEVNULL, timeout=600,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=ROOT, **settings)


def keys(findings):
    """What a finding is compared by: rule, file and line."""
    return sorted((finding["rule"], finding["location"]["file"], finding["location"]["line"]) for finding in findings)


def compare(what, found, expected, transcript):
    """Says what is missing and what is new; true when nothing is."""
    missing = [key for key in expected if key not in found]
    surplus = [key for key in found if key not in expected]
    for word, differing in (("documented, but not found", missing), ("found, but not documented", surplus)):
        for rule, file, line in differing:
            transcript.say(f"{what}: {word}: {rule} at {file}:{line}")
    return not missing and not surplus and len(found) == len(expected)


def lint(settings, build, out, expected, transcript):
    sources = [ROOT / "examples" / example / f"{version}.cpp"
               for example in settings["examples"] for version in VERSIONS]
    done = run([settings["lint"], "-p", build, "--root", ROOT, "--format", f"json={out / 'lint.json'}", *sources])
    transcript.say(done.stdout.rstrip())
    if done.returncode != 1:
        transcript.say(f"dtype-lint ended with status {done.returncode}; 1 was expected: there are findings")
        return False
    findings = json.loads((out / "lint.json").read_text(encoding="utf-8"))["findings"]
    wanted = [finding for example in settings["examples"] for finding in expected[example]["lint"]["before"]]
    return compare("dtype-lint", keys(findings), keys(wanted), transcript)


def lint_python(settings, out, transcript):
    """The same bugs in Python: before.py and after.py of each folder with an expected_python.json."""
    folders = sorted(path.parent for path in (ROOT / "examples").glob("*/expected_python.json"))
    done = run([settings["lint"], "--root", ROOT, "--format", f"json={out / 'lint_python.json'}",
                *(folder / f"{version}.py" for folder in folders for version in VERSIONS)])
    transcript.say(done.stdout.rstrip())
    if done.returncode != 1:
        transcript.say(f"dtype-lint ended with status {done.returncode}; 1 was expected: there are findings")
        return False
    findings = json.loads((out / "lint_python.json").read_text(encoding="utf-8"))["findings"]
    wanted = [(each["rule"], f"examples/{folder.name}/before.py", each["line"]) for folder in folders
              for each in json.loads((folder / "expected_python.json").read_text(encoding="utf-8"))["lint"]]
    return compare("dtype-lint", keys(findings), sorted(wanted), transcript)


def sanitize(settings, build, out, expected, transcript):
    good = True
    journals = out / "journals"
    for example in settings["examples"]:
        for version in VERSIONS:
            program = build / "examples" / f"{example}_{version}"
            transcript.say(f"-- {program.name}")
            done = run([settings["san"], "run", "--journal", journals, "--", program])
            transcript.say(f"{done.stdout.rstrip()}\nexit status {done.returncode}\n")
            if done.returncode != expected[example]["run"][version]["exit"]:
                transcript.say(f"{program.name}: this is not the documented exit status")
                good = False
    done = run([settings["san"], "report", "--format", f"json={out / 'run.json'}", journals])
    if done.returncode != 1:
        transcript.say(f"{done.stdout}dtype-san report ended with status {done.returncode}; 1 was expected: there are "
                       "findings")
        return False
    findings = json.loads((out / "run.json").read_text(encoding="utf-8"))["findings"]
    wanted = [finding for example in settings["examples"] for version in VERSIONS
              for finding in expected[example]["run"][version]["findings"]]
    return compare("dtype-san", keys(findings), keys(wanted), transcript) and good


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True, type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("--out", type=lambda path: pathlib.Path(path).resolve())
    args = parser.parse_args()
    out = args.out or args.build / "demo"
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)

    settings = json.loads((args.build / "examples" / "demo.json").read_text(encoding="utf-8"))
    expected = {example: json.loads((ROOT / "examples" / example / "expected.json").read_text(encoding="utf-8"))
                for example in settings["examples"]}
    transcript = Transcript(out / "report.txt")
    good = True
    if settings["cxx"]:
        transcript.say("== before the program runs: dtype-lint on examples/*/before.cpp and after.cpp")
        good = lint(settings, args.build, out, expected, transcript)
        transcript.say()
    if settings["lint"]:
        transcript.say("== the same bugs in Python: dtype-lint on examples/*/before.py and after.py")
        good = lint_python(settings, out, transcript) and good
    else:
        transcript.say("dtype-lint is not part of this build (DTYPE_GUARD_ANALYZER is off)")
    transcript.say()
    transcript.say("== while the program runs: the same examples under dtype-san")
    good = sanitize(settings, args.build, out, expected, transcript) and good
    transcript.say()
    if settings["left_out"]:
        transcript.say(f"left out: {settings['left_out']}")
    transcript.say("the demo behaved as documented: each `before` is found, each `after` is clean" if good
                   else "the demo did NOT behave as documented: see above")
    written = [out / name for name in ("lint.json", "lint_python.json", "run.json", "report.txt")]
    transcript.say(f"reports: {', '.join(str(path) for path in written if path.exists())}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
