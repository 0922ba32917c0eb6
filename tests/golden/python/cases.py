"""Runs dtype-lint on both twins of every case: the wrong one has exactly the definite findings that it marks, the right
one none in any precision setting. A case that says `# missed:` is one that dtype-lint does not find yet: it fails once
that is no longer so, and its right twin must be silent all the same. In alarms/ the right twin has findings, which it
marks: such a case fails once they are gone, and moves.

    cases.py DTYPE_LINT [NAME...]
"""
import json
import pathlib
import subprocess
import sys
import tempfile

from twins import HERE, cases

LINT = sys.argv[1]
EVERY = "autocast-fp16,autocast-bf16,fp16,bf16,fp16-fp32-buffers,bf16-fp32-buffers"  # float32 flash attention is refused


def lint(case, which):
    options = [f"--torch={case.said('torch', False)}"] if case.said("torch", False) else []
    options += [f"--library={each}" for each in case.said("library", False).split() if not each.startswith("torch=")]
    if case.said("packages", False):
        options.append(f"--python={HERE / case.said('packages')}")
    by_default = all("fp32-buffers" in each or "autocast" in each for each in case.breaks)
    if which == "ok" and not case.said("ruled out", False):
        options.append(f"--precision={EVERY}")
    elif not by_default and not any("fp32-buffers" in each or "autocast" in each for each in case.breaks):
        options.append("--precision=" + ",".join(case.breaks))
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / f"{case.path.stem}.py"
        path.write_text(case.twin(which), encoding="utf-8")
        run = subprocess.run([LINT, "--no-cache", "--root", folder, f"--format=json={folder}/report.json", *options, path],
                             capture_output=True, text=True)
        assert run.returncode in (0, 1), f"{case.name} {which}: exit status {run.returncode}\n{run.stdout}{run.stderr}"
        report = json.loads((pathlib.Path(folder) / "report.json").read_text(encoding="utf-8"))
    return sorted({(each["location"]["line"], each["rule"]) for each in report["findings"]
                   if each["certainty"] == "definite" and each["level"] != "note"}), run.stdout


def main():
    wrong, found, missed, alarms = [], 0, 0, 0
    for case in cases(sys.argv[2:]):
        for which in ("bad", "ok"):
            got, printed = lint(case, which)
            wanted = [] if case.missed else case.expected(which)
            if got != wanted:
                wrong.append(f"{case.name} {which}: found {got}, expected {wanted}\n{printed}")
            elif which == "bad":
                found, missed = found + (not case.missed), missed + bool(case.missed)
                alarms += bool(case.expected("ok"))
    print("\n".join(wrong) or
          f"{found} cases found where they are, {missed} known misses, right twins silent but for {alarms} known false alarms")
    sys.exit(1 if wrong else 0)


main()
