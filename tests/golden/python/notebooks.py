"""Jupyter notebooks as dtype-lint's users run it on them: which are taken, where their findings are told in each format, what
comments, baselines, fixes and git make of them, and the word for those that cannot be read.

    notebooks.py DTYPE_LINT
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

LINT = sys.argv.pop(1)
STORED = pathlib.Path(__file__).resolve().parent / "notebooks"
RULE = "attention-mixed-dtypes"
SETUP = "import torch\nimport torch.nn.functional as F\nq, k, v = (torch.randn(2, 4, 16, 32, dtype=torch.bfloat16) for _ in range(3))\n"
WIDENS = "q = q.float()\n"
CALL = "out = F.scaled_dot_product_attention(q, k, v)\n"


def notebook(*cells, indent=1, as_lists=True, **members):
    """Cells are code; a pair has its kind in front."""
    made = []
    for each in cells:
        kind, text = each if isinstance(each, tuple) else ("code", each)
        cell = {"cell_type": kind, "metadata": {}, "source": text.splitlines(True) if as_lists else text}
        if kind == "code":
            cell |= {"execution_count": 1, "outputs": [{"output_type": "stream", "name": "stdout", "text": ["q.float()\n"]}]}
        made.append(cell)
    return json.dumps({"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5, **members}, indent=indent) + "\n"


class Case(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name).resolve() / "project"
        self.folder.mkdir()

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    def lint(self, *arguments, stdin=None):
        environment = {**os.environ, "XDG_CACHE_HOME": str(self.folder.parent / "cache")}
        return subprocess.run([LINT, "--root", str(self.folder), *map(str, arguments)], cwd=self.folder, env=environment,
                              input=stdin, text=True, capture_output=True, check=False)

    def report(self, *arguments, status, stdin=None):
        run = self.lint("--format=json", *arguments, stdin=stdin)
        self.assertEqual(run.returncode, status, run.stdout + run.stderr)
        return json.loads(run.stdout)

    def cells(self, *arguments, status, **more):
        findings = self.report(*arguments, status=status, **more)["findings"]
        return [(each["rule"], each["location"]["cell"]["number"], each["location"]["cell"]["line"]) for each in findings]


class Places(Case):
    def test_the_stored_twins(self):
        for name, wanted in (("bad", [(RULE, 5, 3)]), ("ok", [])):
            with self.subTest(name):
                path = self.write("a.ipynb", (STORED / f"qk_norm_{name}.ipynb").read_bytes())
                self.assertEqual(self.cells(path, status=1 if wanted else 0), wanted)
                [call] = self.report(path, status=1 if wanted else 0)["calls"]
                self.assertEqual((call["location"]["cell"]["number"], call["location"]["cell"]["line"]), (7, 2))

    def test_each_format_tells_cell_or_line_of_the_file(self):
        path = self.write("a.ipynb", (STORED / "qk_norm_bad.ipynb").read_bytes())
        lines = path.read_text(encoding="utf-8").splitlines()
        [line] = [number for number, text in enumerate(lines, 1) if "wide = x.float()" in text]
        text = self.lint("a.ipynb").stdout
        self.assertRegex(text, r"(?m)^a\.ipynb:cell 5:3:12: error: ")
        self.assertIn("    2 | out = F.scaled_dot_product_attention(normalized(q), k, v)\n", text)
        self.assertRegex(text, r"(?m)^a\.ipynb:cell 7:2:7: note: ")
        at = self.report("a.ipynb", status=1)["findings"][0]["location"]
        self.assertEqual((at["file"], at["line"], at["end_line"]), ("a.ipynb", line, line))
        written = lines[line - 1].encode()[at["column"] - 1:at["end_column"] - 1].decode()
        shown = "    wide = x.float()"[at["cell"]["column"] - 1:at["cell"]["end_column"] - 1]
        self.assertEqual((written, shown), ("x.float()", "x.float()"))
        sarif = json.loads(self.lint("a.ipynb", "--format=sarif").stdout)["runs"][0]["results"][0]
        self.assertEqual(sarif["locations"][0]["physicalLocation"]["region"]["startLine"], line)
        self.assertTrue(sarif["message"]["text"].endswith(" (cell 5, line 3)"), sarif["message"])
        self.assertIn(f"::error file=a.ipynb,line={line},", self.lint("a.ipynb", "--format=github").stdout)
        self.assertIn("a.ipynb:cell 7:2: reaches", self.lint("a.ipynb", "--format=github").stdout)
        [gitlab] = json.loads(self.lint("a.ipynb", "--format=gitlab").stdout)
        self.assertEqual(gitlab["location"]["lines"]["begin"], line)
        [rdjson] = json.loads(self.lint("a.ipynb", "--format=rdjson").stdout)["diagnostics"]
        self.assertEqual(rdjson["location"]["range"]["start"]["line"], line)
        self.assertIn('"a.ipynb:cell 7":{"1":"# the heads are in front"', self.lint("a.ipynb", "--format=html").stdout)

    def test_a_source_in_one_string_and_in_one_line(self):
        for indent in (1, None):
            self.write("a.ipynb", notebook(SETUP, ("markdown", "text"), WIDENS + CALL, as_lists=False, indent=indent))
            self.assertEqual(self.cells("a.ipynb", status=1), [(RULE, 3, 1)])

    def test_magics_keep_lines_and_what_they_run_is_seen(self):
        self.write("a.ipynb", notebook("%matplotlib inline\n!pip install torch\n" + SETUP, "%%time\n# so long\n%time " + WIDENS,
                                       "%%bash\nq = 1\n", "x = !ls\nq?\n%time " + CALL))
        self.assertEqual(self.cells("a.ipynb", status=1), [(RULE, 2, 3)])
        self.write("a.ipynb", notebook(SETUP, "%%timeit\n" + WIDENS, "%%html\n" + WIDENS, CALL))
        self.assertEqual(self.cells("a.ipynb", status=0), [])

    def test_await_at_the_top_and_functions_across_cells(self):
        self.write("a.ipynb", notebook(SETUP, "async def wait():\n    pass\n\ndef wide(x):\n    return x.float()\n",
                                       "await wait()\nq = wide(q)\n" + CALL))
        self.assertEqual(self.cells("a.ipynb", status=1), [(RULE, 2, 5)])

    def test_undecided_and_unseen_calls_name_cells(self):
        self.write("a.ipynb", notebook(SETUP, "\ndef f(q):\n    return F.scaled_dot_product_attention(q, k, unheard(q))\n"))
        self.assertIn("a.ipynb:cell 2:3:12: 'scaled_dot_product_attention' is not decided",
                      self.lint("a.ipynb", "--strict").stdout)


class Files(Case):
    def test_a_project_and_a_folder_have_their_notebooks(self):
        good = notebook("import torch\n")
        for name in ("a.ipynb", "deep/b.ipynb", "deep/.ipynb_checkpoints/b-checkpoint.ipynb", "out/c.ipynb"):
            self.write(name, good)
        self.write("m.py", "x = 1\n")
        self.write(".gitignore", "out/\n")
        (self.folder / ".git").mkdir()
        names = lambda *arguments: [each["file"] for each in self.report(*arguments, status=0)["files"]]
        self.assertEqual(names(), ["a.ipynb", "deep/b.ipynb", "m.py"])
        self.assertEqual(names("deep"), ["deep/b.ipynb"])
        self.assertEqual(names("out/c.ipynb"), ["out/c.ipynb"])

    def test_standard_input(self):
        self.assertEqual(self.cells("--stdin-filename", "new.ipynb", status=1, stdin=notebook(SETUP + WIDENS, CALL)), [(RULE, 1, 4)])

    def test_what_cannot_be_read_has_a_clear_word_and_the_others_are_reported(self):
        cases = {"broken": ('{"cells": [\n{"cell_type": }]}', "is no notebook: line 2: ", "expected a value"),
                 "three": ('{"nbformat": 3, "worksheets": []}', "nbformat 3", "nbconvert"),
                 "later": ('{"nbformat": 5, "cells": []}', "nbformat 5", "4 is read"),
                 "bytes": (b'{"nbformat": 4, "cells": [], "x": "\xff"}', "line 1", "UTF-8"),
                 "number": ('{"nbformat": 4, "cells": [{"cell_type": "code", "source": 1}]}', "/cells/0/source", "a string"),
                 "syntax": (notebook("x = 1\n", ("markdown", "t"), "a = 2\ndef f(x:\n    pass\n", "def g(x):\n    return x\n"),
                            "syntax.ipynb:cell 3:2:", "not Python 3")}
        self.write("good.ipynb", notebook(SETUP + WIDENS, CALL))
        for name, (text, *words) in cases.items():
            with self.subTest(name):
                path = self.write(f"{name}.ipynb", text)
                report = self.report(path, "good.ipynb", status=3)
                [entry] = report["not_analysed"]
                self.assertEqual((entry["file"], entry["reason"]), (path.name, "parse-error"))
                for word in words:
                    self.assertIn(word, entry["detail"])
                self.assertEqual(len(report["findings"]), 1)

    def test_another_language_is_listed_and_no_failure(self):
        self.write("r.ipynb", notebook("x <- 1\n", metadata={"language_info": {"name": "R"}}))
        report = self.report("r.ipynb", status=0)
        self.assertEqual([(each["file"], each["reason"]) for each in report["not_analysed"]], [("r.ipynb", "language")])
        self.assertIn("R", report["not_analysed"][0]["detail"])
        self.assertEqual(report["summary"]["files"], 0)

    def test_odd_and_right_ones(self):
        self.write("empty.ipynb", "")
        self.write("none.ipynb", notebook(("markdown", "# only text")))
        self.write("crlf.ipynb", notebook(SETUP.replace("\n", "\r\n")).replace("\n", "\r\n"))
        large = json.loads(notebook(SETUP))
        large["cells"][0]["outputs"] = [{"output_type": "display_data", "data": {"image/png": "A" * 20_000_000}}]
        self.write("large.ipynb", json.dumps(large))
        report = self.report("empty.ipynb", "none.ipynb", "crlf.ipynb", "large.ipynb", status=0)
        self.assertEqual((report["not_analysed"], report["summary"]["files"]), ([], 4))


class Life(Case):
    def test_comments_in_cells(self):
        self.write("a.ipynb", notebook(SETUP + WIDENS, CALL.rstrip() + f"  # dtype-lint: ignore[{RULE}] measured\n"))
        report = self.report("a.ipynb", status=0)
        self.assertEqual([each["suppression"]["reason"] for each in report["findings"]], ["measured"])
        self.write("a.ipynb", notebook(SETUP, "\n\n" + CALL.rstrip() + f"  # dtype-lint: ignore[{RULE}] measured\n"))
        self.assertEqual(self.cells("a.ipynb", status=0), [("stale-suppression", 2, 3)])

    def test_a_baseline_knows_a_finding_when_cells_come(self):
        self.write("a.ipynb", notebook(SETUP + WIDENS, CALL))
        self.assertEqual(self.lint("a.ipynb", "--write-baseline", "b.json").returncode, 0)
        self.write("a.ipynb", notebook(("markdown", "new"), "x = 1\n", SETUP + WIDENS, CALL))
        run = self.lint("a.ipynb", "--baseline", "b.json")
        self.assertEqual(run.returncode, 0, run.stdout)
        self.assertIn("1 in the baseline", run.stdout)

    def test_the_cache_follows_the_text(self):
        path = self.write("a.ipynb", notebook(SETUP + WIDENS, CALL))
        os.utime(path, (1_600_000_000, 1_600_000_000))
        first, again = (self.lint("a.ipynb").stdout for _ in range(2))
        self.assertEqual(first, again)
        self.assertIn("a.ipynb:cell 2:1:", first)
        self.write("a.ipynb", notebook(SETUP, CALL))
        self.assertEqual(self.lint("a.ipynb").returncode, 0)

    def test_rules_for_files(self):
        self.write("a.ipynb", notebook(SETUP + WIDENS, CALL))
        self.write("pyproject.toml", f'[tool.dtype-lint]\nper-file-rules = {{"*.ipynb" = ["-{RULE}"]}}\n')
        self.assertEqual(self.lint("a.ipynb").returncode, 0)

    @unittest.skipUnless(shutil.which("git"), "no git to compare with")
    def test_only_what_changed(self):
        def git(*words):
            subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@example.org", *words], cwd=self.folder, check=True,
                           capture_output=True)
        self.write("a.ipynb", notebook(SETUP + WIDENS, CALL))
        git("init", "-q")
        git("add", "a.ipynb")
        git("commit", "-qm", "as it was")
        self.assertEqual(self.lint("--diff-base", "HEAD", "a.ipynb").returncode, 0)
        self.write("a.ipynb", notebook(SETUP + WIDENS, CALL, "y = 1\n"))
        self.assertEqual(self.lint("--diff-base", "HEAD", "a.ipynb").returncode, 0)
        self.write("a.ipynb", notebook(SETUP + WIDENS, "z = 1\n" + CALL))
        self.assertEqual(self.lint("--diff-base", "HEAD", "a.ipynb").returncode, 0)
        self.write("a.ipynb", notebook(SETUP + WIDENS, CALL.replace("out", "got")))
        self.assertEqual(self.lint("--diff-base", "HEAD", "a.ipynb").returncode, 1)


class Fixes(Case):
    NORM = "def attend(q, k, v):\n    \"\"\"in \"half\" é\"\"\"\n    q = F.normalize(q.float(), dim=-1)\n    return F.scaled_dot_product_attention(q, k, v)\n"
    WITHOUT = SETUP.splitlines(True)

    def fixed(self, text):
        path = self.write("a.ipynb", text)
        run = self.lint("--fix", "a.ipynb")
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        return path.read_text(encoding="utf-8"), run

    def test_an_edit_goes_into_its_string_and_nothing_else_changes(self):
        for as_lists, indent in ((True, 1), (False, 4), (True, None)):
            with self.subTest(as_lists=as_lists, indent=indent):
                before = notebook("%matplotlib inline\n" + SETUP, ("markdown", "# q.float()"), self.NORM, "attend(q, k, v)\n",
                                  as_lists=as_lists, indent=indent)
                after, run = self.fixed(before)
                self.assertIn("fixed 1 finding in 1 file", run.stderr)
                self.assertNotEqual(after, before)
                was, now = json.loads(before), json.loads(after)
                changed = [number for number, (a, b) in enumerate(zip(was["cells"], now["cells"], strict=True), 1) if a != b]
                self.assertEqual(changed, [3])
                start = next(i for i, (a, b) in enumerate(zip(before, after, strict=False)) if a != b)
                added = len(after) - len(before)
                self.assertGreater(added, 0)
                self.assertEqual(before[:start] + after[start:start + added] + before[start:], after)
                self.assertIn(".to(", after[start - 5:start + added + 5])
                self.assertEqual(self.lint("a.ipynb").returncode, 0)

    def test_exported_fixes_fit_the_file(self):
        path = self.write("a.ipynb", notebook(SETUP, self.NORM, "attend(q, k, v)\n"))
        self.lint("--export-fixes", "fixes.yaml", "a.ipynb")
        text = (self.folder / "fixes.yaml").read_text()
        [offset] = [int(line.split()[1]) for line in text.splitlines() if line.strip().startswith("Offset:")]
        [with_] = [line.split("'")[1] for line in text.splitlines() if line.strip().startswith("ReplacementText:")]
        data = path.read_bytes()
        edited = data[:offset] + with_.encode() + data[offset:]
        path.write_bytes(edited)
        json.loads(edited)
        self.assertEqual(self.lint("a.ipynb").returncode, 0)


unittest.main(argv=sys.argv[:1] + sys.argv[1:])
