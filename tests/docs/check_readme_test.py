#!/usr/bin/env python3
"""check_readme.py accepts what is true and refuses what is not."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).with_name("check_readme.py")


def check(markdown, have=""):
    with tempfile.TemporaryDirectory(prefix="a readme ") as scratch:
        root = pathlib.Path(scratch)
        (root / "out of tree").mkdir()
        (root / "out of tree" / "log").write_text("hello\n")
        file = root / "README.md"
        file.write_text(markdown, encoding="utf-8")
        done = subprocess.run([sys.executable, SCRIPT, file, "--root", root, "--build", root / "out of tree",
                               "--have", have], capture_output=True, text=True)
        return done.returncode, done.stdout


def block(body, marker="<!-- check -->"):
    return f"text\n\n{marker}\n```console\n{body}\n```\n"


class CheckReadme(unittest.TestCase):
    def test_true_output_is_accepted(self):
        self.assertEqual(check(block("$ echo one; echo two\none\ntwo\n$ true")), (0, ""))

    def test_wrong_output_is_refused_and_shown(self):
        status, printed = check(block("$ echo one\ntwo"))
        self.assertEqual(status, 1)
        self.assertIn("line 5: $ echo one", printed)
        self.assertIn("--- it printed\none", printed)

    def test_a_missing_or_additional_line_is_refused(self):
        self.assertEqual(check(block("$ echo one; echo two\none"))[0], 1)
        self.assertEqual(check(block("$ echo one\none\ntwo"))[0], 1)

    def test_exit_status(self):
        self.assertEqual(check(block("$ exit 3", "<!-- check: exit 3 -->"))[0], 0)
        self.assertEqual(check(block("$ exit 3"))[0], 1)
        self.assertEqual(check(block("$ true", "<!-- check: exit 3 -->"))[0], 1)

    def test_wildcards(self):
        self.assertEqual(check(block("$ seq 5; echo pid 77 ended\n1\n...\npid … ended"))[0], 0)
        self.assertEqual(check(block("$ seq 5\n1\n...\n6"))[0], 1)

    def test_build_folder_stands_for_the_real_one(self):
        self.assertEqual(check(block("$ cat build/log\nhello\n$ ls -d build/log\nbuild/log"))[0], 0)

    def test_needs(self):
        marker = "<!-- check: needs torch -->"
        self.assertEqual(check(block("$ false", marker))[0], 0)
        self.assertEqual(check(block("$ false", marker), have="analyzer,torch")[0], 1)

    def test_a_file_without_blocks_is_refused(self):
        status, printed = check("```\n$ true\n```\n")
        self.assertEqual(status, 1)
        self.assertIn("no block is marked", printed)

    def test_an_unknown_term_is_refused(self):
        self.assertEqual(check(block("$ true", "<!-- check: exits 1 -->"))[0], 1)


if __name__ == "__main__":
    unittest.main()
