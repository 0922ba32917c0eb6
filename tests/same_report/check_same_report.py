"""The test of same_report.py: a build is like itself, and unlike one that lowers, finds or counts something else.

    check_same_report.py DTYPE_LINT EVALUATE_IR SOURCE_ROOT
"""
import json
import pathlib
import sys
import tempfile
import unittest

from fixtures import fixtures
from same_report import Build, Comparison

LINT, EVALUATE, ROOT = (pathlib.Path(each).resolve() for each in sys.argv[1:4])
FIXTURE = next(each for each in fixtures() if each.source.name == "rotary_bad.cpp")


class SameReport(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.scratch = pathlib.Path(folder.name)

    def build(self, name, lint="", evaluate=""):
        """A build folder whose programs are the real ones with sed scripts behind them."""
        for program, path, script in ((LINT, "bin/dtype-lint", lint),
                                      (EVALUATE, "tests/same_report/evaluate_ir", evaluate)):
            to = self.scratch / name / path
            to.parent.mkdir(parents=True)
            to.write_text(f"#!/bin/sh\n'{program}' \"$@\" | sed '{script}'\n")
            to.chmod(0o755)
        return Build(self.scratch / name)

    def compare(self, engine_only=False, **scripts):
        stored = self.scratch / "stored"
        stored.mkdir(exist_ok=True)
        compared = Comparison(self.build("old"), self.build("new", **scripts), stored, engine_only)
        file, lowered = compared.store(FIXTURE)
        return lowered, compared.evaluate("rotary", [file]), file

    def test_a_build_is_like_itself(self):
        lowered, evaluated, file = self.compare()
        self.assertEqual((lowered, evaluated), (None, None))
        self.assertIn("rotary", file.read_text())

    def test_what_is_compared_has_findings_refusals_steps_and_searches_for_fixes(self):
        _, _, file = self.compare()
        answer = json.loads(Build(self.scratch / "old").answer(ROOT, [file]))
        strict = answer["strict, every setting, two versions"]
        self.assertIn("rotary-dtype-mismatch", [each["rule"] for each in strict["findings"]])
        self.assertGreater(strict["steps"], answer["as by default"]["steps"])
        for member in ("refusals", "not_analysed", "without_fix", "cut_short"):
            self.assertIn(member, strict)

    def test_other_ir_is_seen(self):
        lowered, _, _ = self.compare(lint="s/float32/float64/;s/kFloat/kDouble/;s/op mul/op add/;s/return/unreachable/")
        self.assertIn("its IR: differs", lowered)

    def test_another_count_of_steps_is_seen(self):
        _, evaluated, _ = self.compare(engine_only=True, evaluate='s/"steps": [0-9]*/"steps": 7/')
        self.assertIn('+  "steps": 7', evaluated)

    def test_a_lost_finding_is_seen(self):
        _, evaluated, _ = self.compare(engine_only=True, evaluate='s/"rule": "rotary-dtype-mismatch"/"rule": ""/')
        self.assertIn("its report: differs", evaluated)

    def test_a_missing_program_is_named(self):
        with self.assertRaisesRegex(SystemExit, "nowhere/bin/dtype-lint is missing: build dtype-lint"):
            Build(self.scratch / "nowhere")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
