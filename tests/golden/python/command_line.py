"""dtype-lint on Python as its users run it: which files it takes, what it says to those that it cannot read, and C++
beside them.

    command_line.py DTYPE_LINT
"""
import json
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

LINT = sys.argv.pop(1)
GOOD = "import torch\n\n\ndef twice(x):\n    return x + x\n"


class Case(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.scratch.name).resolve() / "project"
        self.folder.mkdir()
        self.addCleanup(self.scratch.cleanup)

    def write(self, **texts):
        for name, text in texts.items():
            path = self.folder / name.replace("___", "/").replace("__", ".")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text if isinstance(text, bytes) else text.encode())

    def lint(self, *arguments, stdin=None):
        environment = {**os.environ, "XDG_CACHE_HOME": str(self.folder.parent / "cache")}
        return subprocess.run([LINT, *map(str, arguments)], cwd=self.folder, env=environment, input=stdin, text=True,
                              capture_output=True, check=False)

    def report(self, *arguments, status):
        run = self.lint("--format=json", *arguments)
        self.assertEqual(run.returncode, status, run.stdout + run.stderr)
        return json.loads(run.stdout)

    def files(self, *arguments):
        """Which files a run takes, by its IR."""
        run = self.lint("--dump-flow", *arguments)
        self.assertEqual(run.returncode, 0, run.stderr)
        return sorted(line.split('"')[1] for line in run.stdout.splitlines() if line.startswith("file "))


class Files(Case):
    def test_nothing_named_takes_what_git_does_not_ignore(self):
        self.write(a__py=GOOD, pkg___b__py=GOOD, pkg___skipped__py=GOOD, out___c__py=GOOD, out___keep__py=GOOD,
                   build___d__py=GOOD, env___pyvenv__cfg="", env___e__py=GOOD, env2___x__txt="",
                   pyproject__toml="")
        (self.folder / ".gitignore").write_text("/pkg/skip*.py\nout/*\n!out/keep.py\n")
        (self.folder / ".venv").mkdir()
        (self.folder / ".venv" / "f.py").write_text(GOOD)
        (self.folder / ".git").mkdir()
        self.assertEqual(self.files(), ["a.py", "out/keep.py", "pkg/b.py"])

    @unittest.skipUnless(shutil.which("git"), "no git to compare with")
    def test_ignored_is_what_git_ignores(self):
        patterns = ["*.tmp.py", "/top.py", "docs/", "a/**/z.py", "**/deep.py", "x/*/y.py", "!x/keep/y.py", "sp\\ ace.py",
                    "[ab]c.py", "# comment", "", "nested/inner", "!important.py"]
        paths = ["top.py", "sub/top.py", "q.tmp.py", "docs/m.py", "sub/docs/m.py", "docs.py", "a/z.py", "a/b/z.py",
                 "a/b/c/z.py", "deep.py", "m/deep.py", "x/1/y.py", "x/keep/y.py", "x/1/2/y.py", "sp ace.py", "ac.py",
                 "cc.py", "nested/inner/p.py", "nested/inner.py", "sub/important.py", "sub/other.py", "sub/local.py"]
        for name in paths:
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(GOOD)
        (self.folder / ".gitignore").write_text("\n".join(patterns) + "\n")
        (self.folder / "sub" / ".gitignore").write_text("local.py\nimportant.py\n")
        quiet = {"cwd": self.folder, "capture_output": True, "text": True, "check": True}
        subprocess.run(["git", "init", "-q"], **quiet)
        listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "*.py"], **quiet).stdout.splitlines()
        listed = sorted(each.strip('"') for each in listed)
        self.assertEqual(self.files(), listed)
        self.assertLess(len(listed), len(paths))

    def test_a_folder_a_glob_and_standard_input(self):
        self.write(a__py=GOOD, pkg___b__py=GOOD, pkg___c__py=GOOD)
        self.assertEqual(self.files("pkg"), ["pkg/b.py", "pkg/c.py"])
        self.assertEqual(self.files("--root", ".", "p*/b.py"), ["pkg/b.py"])
        # Without any mark of a project a file keeps the name that it has on the command line.
        self.assertEqual(self.files("pkg/b.py"), ["pkg/b.py"])
        (self.folder / "pkg" / "setup.cfg").touch()
        self.assertEqual(self.files("pkg/b.py"), ["b.py"])
        run = self.lint("--stdin-filename", "new.py", stdin=GOOD)
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        self.assertIn("1 file analysed", run.stdout)
        run = self.lint("--stdin-filename", "new.py", stdin="def f(:\n")
        self.assertEqual(run.returncode, 3, run.stdout)

    def test_no_compile_database_is_asked_for_where_there_is_no_cxx(self):
        self.write(a__py=GOOD)
        self.assertEqual(self.report(status=0)["not_analysed"], [])
        empty = self.folder.parent / "empty"
        empty.mkdir()
        run = subprocess.run([LINT], cwd=empty, capture_output=True, text=True, check=False)
        self.assertEqual(run.returncode, 2, run.stdout)
        self.assertIn("no Python file", run.stderr)

    def test_cxx_without_a_compile_database_changes_nothing(self):
        self.write(a__py=GOOD, csrc___k__cu="int x;\n", csrc___w__cpp="int y;\n", csrc___w__h="int z;\n")
        listed = self.report(status=0)["not_analysed"]
        self.assertEqual([(each["file"], each["reason"]) for each in listed],
                         [("csrc/k.cu", "no-database"), ("csrc/w.cpp", "no-database")])
        listed = self.report("a.py", "csrc/w.cpp", status=3)["not_analysed"]
        self.assertEqual([(each["file"], each["reason"]) for each in listed], [("csrc/w.cpp", "no-command")])


class Unreadable(Case):
    def test_a_syntax_error_names_its_place_and_the_others_are_reported(self):
        self.write(bad__py="import torch\n\ndef f(x:\n    return x\n", good__py=GOOD)
        report = self.report("bad.py", "good.py", status=3)
        [entry] = report["not_analysed"]
        self.assertEqual((entry["file"], entry["reason"]), ("bad.py", "parse-error"))
        self.assertRegex(entry["detail"], r"^bad\.py:[34]:\d+: ")
        self.assertEqual(report["summary"]["files"], 1)

    def test_each_kind_of_file_has_a_clear_word(self):
        self.write(binary__py=b"\x00\x01\x02\xff" * 40, latin__py="x = 'é'\n".encode("latin-1"))
        for name in ("binary.py", "latin.py"):
            with self.subTest(name):
                [entry] = self.report(name, status=3)["not_analysed"]
                self.assertEqual((entry["file"], entry["reason"]), (name, "parse-error"))
                self.assertGreater(len(entry["detail"]), 15)

    def test_deep_nesting_is_no_crash(self):
        many = 20000
        expressions = {"parentheses": "(" * many + "a" + ")" * many, "lists": "[" * many + "a" + "]" * many,
                       "calls": "f(" * many + "a" + ")" * many, "methods": "a" + ".to(a)" * many, "minus": "-" * many + "a",
                       "negative": "-" * many + "1", "nots": "not " * many + "a", "sums": "a" + " + a" * many,
                       "lambdas": "lambda: " * many + "a", "choices": "a if a else " * many + "a",
                       "chain": "a" + " and a or a" * many, "names": "torch" + ".a" * many, "texts": "(" * many + "'a'" + ")" * many,
                       "assignments": "x = " * many + "a", "indices": "a[" * many + "0" + "]" * many,
                       "never closed": "[" * many}
        for name, text in expressions.items():
            with self.subTest(name):
                self.write(top__py=f"import torch\nx = {text}\n",
                           inside__py=f"import torch\ndef f(a):\n    x = {text}\n    return x\n")
                wanted = {3} if name == "never closed" else {0}
                self.assertEqual({self.lint(each).returncode for each in ("top.py", "inside.py")}, wanted)

    def test_code_that_unrolls_without_end_is_no_hang(self):
        loops = "".join(" " * i + "for x in (1, 2, 3, 4):\n" for i in range(1, 60))
        self.write(loops__py=f"def f(a):\n{loops}{' ' * 60}a = a + 1\n",
                   lists__py="def f(a):\n    return " + "[" * 40 + "a" + " for x in (1, 2, 3, 4)]" * 40 + "\n",
                   maps__py="def f(a):\n    return " + "map(lambda x: " * 40 + "a" + ", (1, 2, 3, 4))" * 40 + "\n",
                   choices__py="def g(a): return a\nh = g\ndef f(a):\n    u = g if a else h\n    return " + "u(" * 40 + "a" + ")" * 40,
                   names__py="from " + "." * 20000 + " import g\nfrom " + "a." * 20000 + "b import h\ndef f(): return g(h())\n")
        for name in ("loops.py", "lists.py", "maps.py", "choices.py", "names.py"):
            with self.subTest(name):
                self.assertIn(self.lint("--no-cache", name).returncode, (0, 3))

    def test_python_2_is_named(self):
        self.write(printed__py="import os\n\ndef f(x):\n    print 'x', x\n", executed__py="exec 'x = 1'\n",
                   now__py="print(1)\nprint (2), 3\nprint -1\nx = 'print me'  # print that\n")
        for name, line in (("printed.py", 4), ("executed.py", 1)):
            with self.subTest(name):
                [entry] = self.report(name, status=3)["not_analysed"]
                self.assertTrue(entry["detail"].startswith(f"{name}:{line}:"), entry)
                self.assertIn("is Python 2", entry["detail"])
        self.assertEqual(self.report("now.py", status=0)["not_analysed"], [])

    def test_links_that_lead_to_themselves_and_other_kinds_of_file(self):
        self.write(a__py=GOOD, pkg___b__py=GOOD)
        (self.folder / "loop1.py").symlink_to("loop2.py")
        (self.folder / "loop2.py").symlink_to("loop1.py")
        (self.folder / "gone.py").symlink_to("nowhere.py")
        (self.folder / "pkg" / "self").symlink_to(".")
        (self.folder / "folder.py").mkdir()
        os.mkfifo(self.folder / "pipe.py")
        run = self.lint()
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        self.assertIn("2 files analysed", run.stdout)
        for name in ("loop1.py", "gone.py", "pipe.py"):
            with self.subTest(name):
                run = self.lint(name)
                self.assertEqual(run.returncode, 2, run.stdout)
                self.assertIn(f"'{name}'", run.stderr)

    @unittest.skipIf(os.geteuid() == 0, "root may read everything")
    def test_a_file_that_may_not_be_read(self):
        self.write(a__py=GOOD)
        (self.folder / "a.py").chmod(0)
        run = self.lint("a.py")
        self.assertIn(run.returncode, (2, 3))
        self.assertIn("a.py", run.stdout + run.stderr)

    def test_what_is_odd_and_right_is_read(self):
        self.write(empty__py="", crlf__py=GOOD.replace("\n", "\r\n"), bom__py=b"\xef\xbb\xbf" + GOOD.encode(),
                   stub__pyi="def f(x: int) -> int: ...\n", declared__py="# -*- coding: latin-1 -*-\nx = 'é'\n".encode("latin-1"))
        for name in ("empty.py", "crlf.py", "bom.py", "stub.pyi", "declared.py"):
            with self.subTest(name):
                self.assertEqual(self.report(name, status=0)["not_analysed"], [])


TABLE = """from torch import Tensor
from {module} import ALL_ATTENTION_FUNCTIONS


def attend(module, name, q: Tensor, k: Tensor, v: Tensor):
    attention = ALL_ATTENTION_FUNCTIONS[name]
    return attention(module, q, k, v)
"""


class Counts(Case):
    def test_calls_through_a_table_count_wherever_the_table_is(self):
        self.write(model__py=TABLE.format(module="transformers.modeling_utils"))
        self.assertEqual(self.report("model.py", status=0)["summary"]["calls"], 1)
        self.write(transformers___model__py=TABLE.format(module=".modeling_utils"),
                   transformers___modeling_utils__py="class Table(dict):\n    pass\n\n\nALL_ATTENTION_FUNCTIONS: Table = Table()\n")
        (self.folder / "transformers" / "__init__.py").touch()
        self.assertEqual(self.report("transformers/model.py", status=0)["summary"]["calls"], 1)


class Options(Case):
    def refused(self, *arguments, words):
        run = self.lint(*arguments)
        self.assertEqual(run.returncode, 2, run.stdout)
        for word in words:
            self.assertIn(word, run.stderr)

    def test_libraries_and_environments_are_checked(self):
        self.write(a__py=GOOD)
        self.refused("--library", "flash_attn", "a.py", words=["--library", "'flash_attn'", "flash_attn=2.7"])
        self.refused("--library", "flash_atn=2.7", "a.py", words=["flash_attn"])
        self.refused("--library", "flash_attn=2.7", "--library=flash_attn=2.8", "a.py", words=["twice"])
        self.refused("--python", "nowhere", "a.py", words=["--python", "'nowhere'", "site-packages"])

    def test_results_are_cached_and_follow_the_text(self):
        self.write(a__py=GOOD)
        os.utime(self.folder / "a.py", (1_600_000_000, 1_600_000_000))
        first, again = (self.lint("--dump-flow", "a.py").stdout for _ in range(2))
        self.assertEqual(first, again)
        entries = [each for each in (self.folder.parent / "cache" / "dtype-lint").rglob("*") if each.is_file()]
        self.assertTrue(any(len(each.name) > 20 for each in entries), entries)
        self.write(a__py=GOOD + "\n\ndef thrice(x):\n    return x + x + x\n")
        self.assertNotEqual(self.lint("--dump-flow", "a.py").stdout, first)


EXAMPLES = pathlib.Path(__file__).resolve().parents[3] / "examples"


class Versions(Case):
    """flash_attn 2.8 dropped a check that the rotary example breaks."""

    def messages(self, *arguments):
        run = self.lint("--no-cache", "--precision=bf16", "--format=json", *arguments, "model.py")
        return [each["message"] for each in json.loads(run.stdout)["findings"]]

    def test_where_nothing_says_the_version_the_finding_does(self):
        self.write(model__py=(EXAMPLES / "qwen2_5_omni" / "before.py").read_text())
        [message] = self.messages()
        self.assertTrue(message.endswith("; with flash_attn before 2.8 only"), message)
        [message] = self.messages("--library=flash_attn=2.7")
        self.assertNotIn("only", message)
        self.assertEqual(self.messages("--library=flash_attn=2.8.1"), [])

    def test_pins_and_environments_say_it(self):
        self.write(model__py=(EXAMPLES / "qwen2_5_omni" / "before.py").read_text(), pyproject__toml="",
                   requirements__txt="torch\nflash-attn>=2.8  # newer\n")
        self.assertEqual(self.messages(), [])
        self.write(requirements__txt="Flash_Attn[all] ~= 2.6, <2.8\n")
        self.assertNotIn("only", self.messages()[0])
        (self.folder / ".venv" / "lib" / "python3.11" / "site-packages" / "flash_attn-2.8.3.dist-info").mkdir(parents=True)
        self.assertEqual(self.messages(), [])


NORMALIZED = """

class A{0}(torch.nn.Module):
    def forward(self, q: torch.Tensor, k: torch.Tensor):
        q = F.normalize(q, dim=-1)
        return flash_attn_func(q, k, k)
"""


class Fixes(Case):
    def test_many_fixes_cost_little_more_than_their_findings(self):
        self.write(a__py="import torch\nimport torch.nn.functional as F\nfrom flash_attn import flash_attn_func\n" +
                   "".join(map(NORMALIZED.format, range(33))))
        spent = []
        for options in ((), ("--fix",)):
            before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
            run = self.lint("--no-cache", *options, "a.py")
            spent.append(resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before)
        self.assertIn("fixed 33 findings in 1 file", run.stderr)
        self.assertLess(spent[1], 5 * spent[0])

    def test_a_fix_is_spelt_in_python_and_leaves_nothing(self):
        self.write(model__py=(EXAMPLES / "var" / "before.py").read_text())
        run = self.lint("--fix", "model.py")
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        self.assertIn("k = F.normalize(k, dim=-1).to(k.dtype)\n", (self.folder / "model.py").read_text())


WIDENS = """import torch
import torch.nn.functional as F


def attend(q, k, v):
    q = q.half()
    k = k.half()
    v = v.half()
    q = q * torch.ones(64)
    return F.scaled_dot_product_attention(q, k, v)
"""


class Changed(Case):
    """--diff-base and --statistics."""

    def git(self, *arguments):
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b.c", *arguments], cwd=self.folder, check=True,
                       capture_output=True)

    def commit(self):
        self.git("add", "-A")
        self.git("commit", "-qm", "one")

    def found(self, *arguments, status):
        return [(each["location"]["file"], each["location"]["line"]) for each in
                self.report("--no-cache", *arguments, status=status)["findings"]]

    def setUp(self):
        super().setUp()
        if not shutil.which("git"):
            self.skipTest("no git to compare with")
        self.git("init", "-q")
        self.write(**{"old model__py": WIDENS, "other__py": WIDENS})
        self.commit()

    def test_only_what_changed_lines_can_have_caused(self):
        self.assertEqual(len(self.found(status=1)), 2)
        self.assertEqual(self.found("--diff-base", "HEAD", status=0), [])
        # The call is touched, the line to edit is not.
        self.write(**{"old model__py": WIDENS.replace("attention(q, k, v)", "attention(q, k, v, None)")})
        self.assertEqual(self.found("--diff-base", "HEAD", status=1), [("old model.py", 9)])
        # A cast was taken away: the lines beside it are changed.
        self.write(**{"old model__py": WIDENS.replace("    q = q * torch", "    q = q.half()\n    q = q * torch")})
        self.commit()
        self.write(**{"old model__py": WIDENS})
        self.assertEqual(self.found("--diff-base=HEAD", status=1), [("old model.py", 9)])
        self.commit()
        self.assertEqual(self.found("--diff-base", "HEAD", status=0), [])
        self.assertEqual(self.found("--diff-base", "HEAD~1", status=1), [("old model.py", 9)])

    def test_a_new_file_is_changed_as_a_whole_and_names_are_relative_to_the_root(self):
        self.write(**{"sub___n\"ew__py": WIDENS})
        self.assertEqual(self.found("--diff-base", "HEAD", status=1), [('sub/n"ew.py', 9)])
        self.commit()
        self.write(**{"sub___n\"ew__py": WIDENS.replace("ones(64)", "ones(32)")})
        self.assertEqual(self.found("--diff-base", "HEAD", "--root", "sub", "sub", status=1), [('n"ew.py', 9)])

    def test_what_cannot_be_compared_is_refused(self):
        for words, expected in ((["--diff-base", "nowhere"], "'nowhere' cannot be compared"),
                                (["--diff-base=--output=x"], "'--output=x' cannot be compared"),
                                (["--diff-base", "HEAD", "--fix"], "--fix changes them"),
                                (["--diff-base", "HEAD", "--write-baseline", "b.json"], "--write-baseline")):
            run = self.lint("--no-cache", *words)
            self.assertEqual(run.returncode, 2, run.stdout + run.stderr)
            self.assertIn(expected, run.stderr)
        self.assertFalse((self.folder / "x").exists())
        shutil.rmtree(self.folder / ".git")
        run = self.lint("--no-cache", "--diff-base", "HEAD")
        self.assertEqual(run.returncode, 2, run.stdout + run.stderr)
        self.assertIn("name a revision of the repository", run.stderr)

    def test_many_warnings_of_git_stop_nothing(self):
        loud = self.folder.parent / "loud"
        loud.mkdir()
        (loud / "git").write_text(f'#!/bin/sh\nhead -c 300000 /dev/zero >&2\nexec "{shutil.which("git")}" "$@"\n')
        (loud / "git").chmod(0o755)
        with unittest.mock.patch.dict(os.environ, PATH=f"{loud}:{os.environ['PATH']}"):
            self.assertEqual(self.found("--diff-base", "HEAD", status=0), [])

    def test_statistics_stand_in_for_the_findings(self):
        run = self.lint("--no-cache", "--statistics")
        self.assertEqual(run.returncode, 1, run.stdout + run.stderr)
        rule = self.report("--no-cache", status=1)["findings"][0]["rule"]
        first, *rest = run.stdout.splitlines()
        self.assertRegex(first, rf"^ +2  {rule}( \(2 with a fix\))?$")
        self.assertEqual(len(rest), 1, run.stdout)
        self.assertIn("2 files analysed", rest[0])
        refused = self.lint("--statistics", "--format", "json")
        self.assertEqual(refused.returncode, 2)
        self.assertIn("stands in for the text report", refused.stderr)


if __name__ == "__main__":
    unittest.main()
