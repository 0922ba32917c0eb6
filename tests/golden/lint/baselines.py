"""dtype-lint --write-baseline and --baseline: a project with findings that it knows hears of new ones only, and of those that
are gone."""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

LINT, TORCH = sys.argv[1], sys.argv[2]
FIXTURES = pathlib.Path(__file__).parent / "fixtures"
FLAGS = ["--", "-std=c++17", "-include", TORCH]
BAD = """int NAME(const at::Tensor& q, const at::Tensor& k) {
  DLManagedTensor* a = at::toDLPack(q.to(at::kFloat));
  DLManagedTensor* b = at::toDLPack(k);
  return flash_ref_rotary(&a->dl_tensor, &b->dl_tensor, &b->dl_tensor, &a->dl_tensor, nullptr);
}
int run_NAME() { return NAME(torch::zeros({1, 2}, at::kHalf), torch::zeros({2, 2}, at::kHalf)); }
"""
GOOD = "int nothing() { return 0; }\n"


class Baselines(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / ".dtype-lint.json").write_text("{}")
        self.known = self.folder / "known.json"

    def lint(self, sources, *arguments):
        for name, text in sources.items():
            (self.folder / name).write_text(text)
        return subprocess.run([LINT, *map(str, arguments), *sources, *FLAGS], capture_output=True, text=True, cwd=self.folder)

    def write(self, sources):
        run = self.lint(sources, "--write-baseline", self.known)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        return run

    def states(self, run):
        return [(each["location"]["file"], each["baseline"]) for each in json.loads(run.stdout)["findings"]]

    def test_known_findings_do_not_count(self):
        self.assertEqual(self.lint({"a.cpp": BAD.replace("NAME", "one")}).returncode, 1)
        said = self.write({"a.cpp": BAD.replace("NAME", "one")})
        self.assertIn("1 in the baseline", said.stdout)
        moved = {"a.cpp": "\n\n" + BAD.replace("NAME", "one")}
        run = self.lint(moved, "--baseline", self.known)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        self.assertNotIn("error:", run.stdout)
        self.assertEqual(self.states(self.lint(moved, "--baseline", self.known, "--format=json")),
                         [("a.cpp", "unchanged")])

    def test_lines_that_move_change_no_baseline(self):
        """Nor does the line of a test that a message speaks of."""
        text = (FIXTURES / "guard_bad.cpp").read_text()
        (self.folder / "attention.h").write_text((FIXTURES / "attention.h").read_text())
        written = []
        for above in ("", "\n\n"):
            self.write({"a.cpp": above + text})
            written.append(self.known.read_bytes())
        self.assertIn(b"the test 'x.scalar_type() == torch::kFloat' saw the value from before", written[0])
        self.assertEqual(*written)

    def test_new_findings_count(self):
        self.write({"a.cpp": BAD.replace("NAME", "one")})
        both = {"a.cpp": BAD.replace("NAME", "one") + BAD.replace("NAME", "two")}
        run = self.lint(both, "--baseline", self.known)
        self.assertEqual(run.returncode, 1, run.stdout + run.stderr)
        self.assertEqual(run.stdout.count("error:"), 1, run.stdout)
        sarif = json.loads(self.lint(both, "--baseline", self.known, "--format=sarif").stdout)
        self.assertEqual([each["baselineState"] for each in sarif["runs"][0]["results"]], ["unchanged", "new"])

    def test_fixed_findings_are_named_and_do_not_count(self):
        self.write({"a.cpp": BAD.replace("NAME", "one")})
        run = self.lint({"a.cpp": GOOD}, "--baseline", self.known)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        self.assertIn("a.cpp: fixed: ", run.stdout)
        self.assertIn("1 fixed", run.stdout)
        summary = json.loads(self.lint({"a.cpp": GOOD}, "--baseline", self.known, "--format=json").stdout)["summary"]
        self.assertEqual((summary["errors"], summary["fixed"]), (0, 1))

    def test_a_file_that_was_not_looked_at_is_not_called_fixed(self):
        self.write({"a.cpp": BAD.replace("NAME", "one"), "b.cpp": BAD.replace("NAME", "two")})
        run = self.lint({"b.cpp": GOOD}, "--baseline", self.known, "--format=json")
        self.assertEqual(self.states(run), [("b.cpp", "fixed")])

    def test_a_baseline_of_one_file_does_not_hide_the_same_finding_in_another(self):
        same = "namespace {\n" + BAD.replace("NAME", "one") + "}\n"
        self.write({"a.cpp": same})
        self.assertEqual(self.states(self.lint({"b.cpp": same}, "--baseline", self.known, "--format=json")), [("b.cpp", "new")])
        both = {"a.cpp": same, "b.cpp": same}
        self.assertEqual(self.states(self.lint(both, "--baseline", self.known, "--format=json")),
                         [("a.cpp", "unchanged"), ("b.cpp", "new")])
        self.write(both)
        self.assertEqual(self.states(self.lint({"b.cpp": same}, "--baseline", self.known, "--format=json")), [("b.cpp", "unchanged")])
        (self.folder / "a.cpp").rename(self.folder / "c.cpp")
        self.assertEqual(self.states(self.lint({"c.cpp": same}, "--baseline", self.known, "--format=json")), [("c.cpp", "unchanged")])

    def test_a_summary_that_was_not_linked_is_not_called_fixed(self):
        self.write({"a.cpp": BAD.replace("NAME", "one"), "b.cpp": BAD.replace("NAME", "two")})
        for text, wanted in ((GOOD, [("b.cpp", "fixed")]), (BAD.replace("NAME", "two"), [("b.cpp", "unchanged")])):
            emitted = self.lint({"b.cpp": text}, "--emit-summary", "b.sum")
            self.assertEqual(emitted.returncode, 0, emitted.stderr)
            run = subprocess.run([LINT, "--baseline", str(self.known), "--format=json", "--link", "b.sum"], text=True,
                                 capture_output=True, cwd=self.folder)
            self.assertEqual(self.states(run), wanted, run.stderr)

    def test_a_rule_that_was_not_asked_for_is_not_called_fixed(self):
        self.write({"a.cpp": BAD.replace("NAME", "one")})
        run = self.lint({"a.cpp": GOOD}, "--baseline", self.known, "--rules=attention-mask-dtype", "--format=json")
        self.assertEqual(self.states(run), [])

    def test_a_json_report_is_a_baseline_too(self):
        bad = {"a.cpp": BAD.replace("NAME", "one")}
        self.known.write_text(self.lint(bad, "--format=json").stdout)
        self.assertEqual(self.lint(bad, "--baseline", self.known).returncode, 0)

    def test_both_compare_with_the_old_and_write_the_new(self):
        self.write({"a.cpp": BAD.replace("NAME", "one")})
        new = {"a.cpp": BAD.replace("NAME", "two")}
        run = self.lint(new, "--baseline", self.known, "--write-baseline", self.known)
        self.assertEqual(run.returncode, 1, run.stdout + run.stderr)
        self.assertIn("fixed: ", run.stdout)
        self.assertEqual(self.lint(new, "--baseline", self.known).returncode, 0)

    def test_a_baseline_that_cannot_be_used_is_refused_before_any_work(self):
        source = {"a.cpp": GOOD}
        self.known.write_text('{"schema": "dtype-guard/baseline/2"}')
        self.twice = self.folder / "twice.json"
        self.twice.write_text('{"schema": "dtype-guard/baseline/1", "findings": [],\n"findings": []}')
        folder = self.folder / "none" / "b.json"
        for option, file, words in (("--baseline", self.folder / "missing.json", "missing.json"),
                                    ("--baseline", self.known, "dtype-guard/baseline/1"),
                                    ("--baseline", self.folder, "is a folder"),
                                    ("--baseline", self.twice, "twice.json:2: /findings: found the key"),
                                    ("--write-baseline", folder, "No such file or directory")):
            run = self.lint(source, option, file)
            self.assertEqual((run.returncode, run.stdout), (2, ""), run.stderr)
            self.assertIn(option, run.stderr)
            self.assertIn(words, run.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
