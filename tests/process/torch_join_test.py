"""Findings of dtype-lint in Python beside a run: both tools spell functions alike, and classes are told apart."""
import json
import pathlib
import sys

from support import BUILT, Case, main, marked_line
from torch_support import PYTHON, skip_without_torch

PROGRAM = "torch_join.py"
PROGRAMS = pathlib.Path(BUILT["source"]) / "programs"
FUNCTIONS = ["First.forward", "Second.forward", "Nested.forward.<locals>.attend", "Each.forward", "Later.forward.<locals>.<lambda>"]

# What a program says itself of the default dtype would count for dtype-lint too.
RUN = """
import runpy, sys, torch
torch.set_default_dtype(getattr(torch, sys.argv[1]))
del sys.argv[:2]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


class Join(Case):
    def setUp(self):
        super().setUp()
        self.lint = self.scratch / "lint.json"
        done = self.execute(BUILT["lint"], "--no-cache", f"--format=json={self.lint}", PROGRAMS / PROGRAM)
        self.assertEqual(done.returncode, 1, done.stderr)

    def run_classes(self, *names, default="float32"):
        done = self.preloaded(PYTHON, "-c", RUN, default, PROGRAMS / PROGRAM, *names, options="torch=origins")
        self.assertEqual(done.stdout, "".join(f"{name} RuntimeError\n" for name in names if default == "float32"), done.stderr)

    def joined(self):
        """Of each static finding the function of its call and what the run says of it; and all findings."""
        findings = self.report("--with", self.lint, self.scratch / "journal")[1]["findings"]
        return {finding["sinks"][0]["function"]: finding["runtime"] for finding in findings if "static" in finding["observed"]}, findings

    def test_functions_are_spelt_as_a_run_spells_them(self):
        sinks = [finding["sinks"][0] for finding in json.loads(self.lint.read_text(encoding="utf-8"))["findings"]]
        self.assertEqual([(sink["function"], sink["line"]) for sink in sinks], [(name, marked_line(PROGRAM, name)) for name in FUNCTIONS])
        self.run_classes("First", "Second", "Nested", "Each", "Later")
        said, findings = self.joined()
        self.assertEqual(said, {name: "confirmed" for name in FUNCTIONS})
        self.assertEqual([finding["observed"] for finding in findings], [["static", "runtime"]] * len(FUNCTIONS))

    def test_a_fix_that_was_verified_is_shown_with_the_run(self):
        self.run_classes("First")
        [confirmed] = [finding for finding in self.joined()[1] if finding["runtime"] == "confirmed"]
        self.assertEqual([fix["verified"] for fix in confirmed["fixes"]], [True])
        self.assertEqual(next(frame["function"] for frame in confirmed["backtrace"] if frame["language"] == "python"), "First.forward")
        text = self.execute(BUILT["command"], "report", "--with", self.lint, self.scratch / "journal").stdout
        self.assertIn("  fix: ", text)
        self.assertIn("  at run time: confirmed", text)

    def test_classes_are_told_apart(self):
        """Only the second class ran; a call of the first was not reached."""
        self.run_classes("Second")
        said, _ = self.joined()
        self.assertEqual((said["Second.forward"], said["First.forward"]), ("confirmed", "not_reached"))

    def test_a_call_that_was_right_contradicts(self):
        """The tables are narrow too."""
        self.run_classes("First", "Each", default="bfloat16")
        said, findings = self.joined()
        self.assertEqual(said, {name: "contradicted" if name in ("First.forward", "Each.forward") else "not_reached" for name in FUNCTIONS})
        self.assertEqual([finding["observed"] for finding in findings], [["static"]] * len(FUNCTIONS))

    def test_one_line_in_two_classes_does_not_join(self):
        """The report is of a file in which another class stood on these lines."""
        self.run_classes("First")
        report = self.lint.read_text(encoding="utf-8")
        self.lint.write_text(report.replace('"First.forward"', '"Other.forward"'), encoding="utf-8")
        said, findings = self.joined()
        self.assertEqual(said["Other.forward"], "not_reached")
        self.assertIn((["runtime"], "First.forward"), [(finding["observed"], finding["sinks"][0]["function"]) for finding in findings])


if __name__ == "__main__":
    skip_without_torch()
    if not BUILT["lint"]:
        print("skipped: this build has no dtype-lint")
        sys.exit(77)
    main()
