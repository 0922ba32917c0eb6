#!/usr/bin/env python3
"""What earlier versions wrote is read by this one, with the same meaning: reports, baselines, contracts and journals of each released
version lie in stored/VERSION, written by its own programs. A file there is never written anew.

    stored_test.py DTYPE_LINT (or nothing) DTYPE_SAN
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
RULES = HERE.parents[1] / "rules"
VERSIONS = sorted((HERE / "stored").iterdir())
LINT, SAN = sys.argv[1], sys.argv[2]
# Wording may be mended, the version is another one, stacks rest on files that are elsewhere, and what could not be read is told by them.
FREE = {"message", "note", "title", "version", "root", "stacks", "backtrace", "not_analysed", "detail", "summary", "sources"}


def lost(before, now, where=""):
    """Members and elements of `before` that `now` lacks, or has with another value. More of them is no loss."""
    if isinstance(before, dict):
        if not isinstance(now, dict):
            return [f"{where}: {now!r} instead of an object"]
        return [each for key, value in before.items() if key not in FREE
                for each in (lost(value, now[key], f"{where}/{key}") if key in now else [f"{where}/{key} is gone"])]
    if isinstance(before, list):
        if not isinstance(now, list) or len(now) < len(before):
            return [f"{where}: {now!r} instead of {before!r}"]
        return [each for index, value in enumerate(before) for each in lost(value, now[index], f"{where}/{index}")]
    return [] if before == now else [f"{where}: {now!r} instead of {before!r}"]


class Stored(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def copy(self, version):
        folder = self.folder / version.name
        shutil.copytree(version, folder)
        return folder

    def run_in(self, folder, status, *command):
        done = subprocess.run([str(word) for word in command], cwd=folder, capture_output=True, text=True, check=False,
                              stdin=subprocess.DEVNULL, env={**os.environ, "DEBUGINFOD_URLS": ""})
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def journals(self, folder):
        return sorted(folder.glob("*.dtype-san"))

    def test_there_is_what_the_promise_names(self):
        for version in VERSIONS:
            names = {path.name for path in version.iterdir()}
            self.assertLessEqual({"lint.json", "journals.json", "baseline.json", "contracts.json", "model.py", "own.py", "cpp.dtype-san",
                                  "python.dtype-san"}, names)
            self.assertEqual(json.loads((version / "lint.json").read_text())["tool"]["version"], version.name)

    def test_journals_say_what_they_said(self):
        for version in VERSIONS:
            folder = self.copy(version)
            self.run_in(folder, 1, SAN, "report", "--quiet", "--format=json=now.json", *self.journals(folder))
            before, now = (json.loads((folder / name).read_text()) for name in ("journals.json", "now.json"))
            self.assertEqual(len(now["findings"]), len(before["findings"]))
            self.assertEqual(lost(before, now), [])

    def test_reports_are_as_the_schema_says(self):
        import jsonschema
        schema = json.loads((RULES / "report" / "report.schema.json").read_text())
        for version in VERSIONS:
            for name in ("lint.json", "journals.json"):
                jsonschema.validate(json.loads((version / name).read_text()), schema)
            jsonschema.validate(json.loads((version / "baseline.json").read_text()), json.loads((RULES / "report" / "baseline.schema.json").read_text()))
            jsonschema.validate(json.loads((version / "contracts.json").read_text()), json.loads((RULES / "contracts" / "contracts.schema.json").read_text()))

    def test_a_report_joins_a_journal(self):
        for version in VERSIONS:
            folder = self.copy(version)
            self.run_in(folder, 1, SAN, "report", "--quiet", "--with", "lint.json", "--format=json=now.json", *self.journals(folder))
            found, = [each for each in json.loads((folder / "now.json").read_text())["findings"] if each["observed"] == ["static", "runtime"]]
            self.assertEqual((found["rule"], found["runtime"], found["location"]["line"]), ("attention-implicit-promotion", "confirmed", 6))

    def lint(self, folder, status, *words):
        if not LINT:
            self.skipTest("this build has no dtype-lint (DTYPE_GUARD_ANALYZER is off)")
        return self.run_in(folder, status, LINT, "--no-cache", "--root", ".", *words)

    def test_baselines_hold(self):
        for version in VERSIONS:
            folder = self.copy(version)
            self.lint(folder, 1, "model.py")
            for baseline in ("baseline.json", "lint.json"):  # a report is a baseline too
                self.lint(folder, 0, "--baseline", baseline, "model.py")
                changed = folder / "model.py"
                text = changed.read_text()
                changed.write_text(text.replace("q = q * scale", "q = q * scale\n    k = k * scale.double()"))
                self.lint(folder, 1, "--baseline", baseline, "model.py")
                changed.write_text(text)

    def test_contracts_hold(self):
        for version in VERSIONS:
            folder = self.copy(version)
            self.lint(folder, 0, "own.py")
            self.assertIn("q must be half", self.lint(folder, 1, "--contracts", "contracts.json", "own.py"))

    def test_what_comes_of_a_later_format_is_refused_by_name(self):
        folder = self.copy(VERSIONS[-1])
        for name in ("baseline.json", "contracts.json", "lint.json"):
            later = folder / name
            text = later.read_text()
            later.write_text(text.replace("/1\"", "/2\""))
            if name == "lint.json":
                told = self.run_in(folder, 2, SAN, "report", "--with", name, *self.journals(folder))
            else:
                told = self.lint(folder, 2, f"--{name.removesuffix('.json')}", name, "own.py")
            self.assertIn(f"{name}:", told)
            self.assertIn(text.partition('"schema": "')[2].partition('"')[0], told)


class Lost(unittest.TestCase):
    """The comparison itself."""

    def test_what_is_lost_and_what_is_not(self):
        self.assertEqual(lost({"a": 1, "b": [{"c": 2}]}, {"a": 1, "b": [{"c": 2, "d": 3}, {}], "e": 4}), [])
        self.assertEqual(lost({"a": 1}, {}), ["/a is gone"])
        self.assertEqual(lost({"b": [{"c": 2}]}, {"b": [{"c": 3}]}), ["/b/0/c: 3 instead of 2"])
        self.assertEqual(len(lost({"b": [1, 2]}, {"b": [1]})), 1)
        self.assertEqual(lost({"message": "x"}, {"message": "y"}), [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:], verbosity=2)
