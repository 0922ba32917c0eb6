#!/usr/bin/env python3
"""check_readme.py accepts what is true and refuses what is not."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).with_name("check_readme.py")


class CheckReadme(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="a readme ")
        self.addCleanup(scratch.cleanup)
        self.root = pathlib.Path(scratch.name).resolve()
        self.build = self.root / "out of tree"
        self.build.mkdir()
        (self.build / "log").write_text("hello\n")

    def check(self, markdown, *options):
        file = self.root / "README.md"
        file.write_text(markdown, encoding="utf-8")
        done = subprocess.run([sys.executable, SCRIPT, file, "--root", self.root, "--build", self.build, *options],
                              capture_output=True, text=True)
        return done.returncode, done.stdout

    def block(self, command, output, terms="", *options):
        return self.check(f"text\n\n<!-- check{terms}: {command} -->\n```\n{output}\n```\n", *options)

    def test_true_output_is_accepted(self):
        self.assertEqual(self.block("echo one; echo two", "one\ntwo"), (0, ""))
        self.assertEqual(self.block("echo one", "$ echo one\none"), (0, ""))

    def test_wrong_output_is_refused_and_shown(self):
        status, printed = self.block("echo one", "two")
        self.assertEqual(status, 1)
        self.assertIn("line 3: echo one", printed)
        self.assertIn("--- true now\none", printed)

    def test_a_missing_or_additional_line_is_refused(self):
        self.assertEqual(self.block("echo one; echo two", "one")[0], 1)
        self.assertEqual(self.block("echo one", "one\ntwo")[0], 1)

    def test_exit_status(self):
        self.assertEqual(self.block("echo a; exit 3", "a", " (exit 3)")[0], 0)
        self.assertEqual(self.block("echo a; exit 3", "a")[0], 1)
        self.assertEqual(self.block("echo a", "a", " (exit 3)")[0], 1)

    def test_wildcards(self):
        self.assertEqual(self.block("seq 5; echo pid 77 ended", "1\n...\npid … ended")[0], 0)
        self.assertEqual(self.block("seq 5", "1\n...\n6")[0], 1)

    def test_build_folder_and_root_are_scrubbed(self):
        self.assertEqual(self.block("cat build/log; ls build/log; pwd", "hello\nbuild/log\n.")[0], 0)

    def test_needs(self):
        self.assertEqual(self.block("echo a", "b", " (needs torch)")[0], 0)
        self.assertEqual(self.block("echo a", "b", " (needs torch)", "--have", "analyzer,torch")[0], 1)

    def test_accept_writes_the_truth(self):
        self.assertEqual(self.block("echo one; exit 4", "three", " (needs torch)", "--accept", "--have", "torch")[0], 0)
        text = (self.root / "README.md").read_text()
        self.assertEqual(text, "text\n\n<!-- check (exit 4, needs torch): echo one; exit 4 -->\n```\none\n```\n")

    def test_generated_tables(self):
        (self.root / "cmake" / "packages").mkdir(parents=True)
        (self.root / "cmake" / "packages" / "packages.tsv").write_text(
            "# comment\nllvm-releases\t22 19\nneed\tkind\tdebian-12\twhy\nLLVM\trequired\tllvm-@-dev\tlint\n")
        self.assertEqual(self.check("<!-- generated: packages -->\n<!-- end -->\n")[0], 1)
        self.assertEqual(self.check("<!-- generated: packages -->\n<!-- end -->\n", "--accept")[0], 0)
        self.assertIn("| `llvm-22-dev` | lint |  |\n<!-- end -->", (self.root / "README.md").read_text())

    def test_what_fixtures_miss(self):
        for name, text in {"constructs/a.cpp": "// Missed: what a\n// table runs.\nint f();\n  // False alarm: `a || b`.\n",
                           "python/bugs/b.py": "# run: f()\n# missed: a name\nimport torch\n"}.items():
            file = self.root / "tests/golden" / name
            file.parent.mkdir(parents=True)
            file.write_text(text)
        self.assertEqual(self.check("<!-- generated: known -->\n<!-- end -->\n", "--accept")[0], 0)
        rows = (self.root / "README.md").read_text().splitlines()[3:-1]
        self.assertEqual(rows, ["| false alarm | `a \\|\\| b` | [a.cpp](tests/golden/constructs/a.cpp) |",
                                "| missed | what a table runs | [a.cpp](tests/golden/constructs/a.cpp) |",
                                "| missed | a name | [b.py](tests/golden/python/bugs/b.py) |"])

    def test_wrong_markers_are_refused(self):
        for markdown in ("```\n$ true\n```\n", "<!-- check: true -->\ntext\n", "<!-- check: true -->\n```\n",
                         "<!-- check true -->\n```\n```\n", "<!-- check (exits 1): true -->\n```\n```\n",
                         "<!-- generated: nothing -->\n<!-- end -->\n", "<!-- generated: packages -->\n"):
            self.assertNotEqual(self.check(markdown)[0], 0, markdown)


if __name__ == "__main__":
    unittest.main()
