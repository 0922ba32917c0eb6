"""Runs dtype-lint on every file of fixtures/ and compares the findings with the comments in it.

`// expect: RULE` on a line says that a finding of that rule has its primary location there; nothing else may be found.
Files called *_ok.cpp hold no such comment: they are the look-alikes that must be clean, in every precision setting.
`// standard: c++23` says in which C++ a file is written, where that is not C++17.
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

from project import FIXTURES, standard

LINT, TORCH = sys.argv[1], sys.argv[2]
SETTINGS = "autocast-fp16,autocast-bf16,fp16,bf16,fp16-fp32-buffers,bf16-fp32-buffers,fp32"


def expected(path):
    found = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        for rule in re.findall(r"// expect: ([a-z0-9-]+)", line):
            found.append((number, rule))
    return sorted(found)


def findings(path, options):
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "report.json"
        command = [LINT, "--root", str(FIXTURES), f"--format=json={report}", "--color=never", *options, str(path),
                   "--", f"-std={standard(path)}", "-include", TORCH]
        run = subprocess.run(command, capture_output=True, text=True)
        data = json.loads(report.read_text())
    return run, sorted((f["location"]["line"], f["rule"]) for f in data["findings"] if not f["suppression"]), data


def main():
    failures = []
    fixtures = sorted(FIXTURES.glob("*.cpp"))
    assert fixtures, "no fixtures"
    for path in fixtures:
        wanted = expected(path)
        clean = path.stem.endswith("_ok")
        assert clean != bool(wanted), f"{path.name}: name and expect comments disagree"
        run, got, data = findings(path, [f"--precision={SETTINGS}"] if clean else [])
        if got != wanted:
            failures.append(f"{path.name}: found {got}, expected {wanted}\n{run.stdout}{run.stderr}")
        if run.returncode != (0 if clean else 1):
            failures.append(f"{path.name}: exit status {run.returncode}\n{run.stdout}{run.stderr}")
        if data["not_analysed"]:
            failures.append(f"{path.name}: not analysed: {data['not_analysed']}")
    print("\n".join(failures) or f"{len(fixtures)} fixtures as expected")
    sys.exit(1 if failures else 0)


main()
