#!/usr/bin/env python3
"""check_files.py sees what it is for: private words, also in names, and pages that are too long or whose limit is."""
import unittest

from check_files import KB, PAGE_KB, PAGE_LIMITS, dead_links, gone_files, own_clocks, page_size, private_words, top_level


class Words(unittest.TestCase):
    def test_private_words_are_found(self):
        for line in ("// Whoever sets it", "def test_a_thing_that_nobody_switches_on(self):", "// somebody's choice",
                     "// a pointer that gets out of sight", '"""What is said of it."""', "the contract has the word"):
            with self.subTest(line=line):
                self.assertEqual(len(list(private_words("a.cpp", line))), 1)

    def test_the_place_and_what_to_write(self):
        [said] = private_words("a.cpp", "// first\n// code nobody sees\n")
        self.assertRegex(said, r"^a\.cpp:2: 'nobody' in '// code nobody sees': write 'unseen code'")

    def test_other_words_are_left_alone(self):
        text = "// No body was read; some bodies are; what is said, of course; the word; a body in sight"
        self.assertEqual(list(private_words("a.cpp", text)), [])


class Clocks(unittest.TestCase):
    def test_a_test_sets_no_limit_of_its_own(self):
        self.assertEqual(len(list(own_clocks("tests/golden/a.py", "run(command, timeout=120)\nrun(command, timeout=LONG)\n"))), 1)
        self.assertEqual(list(own_clocks("tests/bench/a.py", "run(command, timeout=120)\n")), [])


class Pages(unittest.TestCase):
    def test_limits(self):
        self.assertEqual(list(page_size("a/README.md", PAGE_KB * KB)), [])
        self.assertEqual(len(list(page_size("a/README.md", PAGE_KB * KB + 1))), 1)
        self.assertEqual(len(list(page_size("README.md", PAGE_LIMITS["README.md"] * KB + 1))), 1)

    def test_an_exception_only_shrinks(self):
        for name, limit in PAGE_LIMITS.items():
            if limit > PAGE_KB:
                self.assertIn("lower it", "".join(page_size(name, (limit - 1) * KB)))
                self.assertEqual(list(page_size(name, limit * KB)), [])

    def test_dead_links(self):
        text = "[a](a.md) and [b](b.md#part), [c](https://c.org/d), `x](y)`\n[d](gone/d.md)"
        self.assertEqual(list(dead_links("p.md", text, lambda target: target in ("a.md", "b.md", "y"))),
                         ["p.md:2: links to 'gone/d.md', which is not there"])

    def test_files_that_are_gone(self):
        there = {"a", "a/README.md", "a/one.cpp", "a/one.h", "b", "b/c", "b/c/two.json", "tests", "tests/three.py"}
        text = "`one.cpp`, `one.*`, `one.{cpp,h}`, `c/two.json`, `b/c/`, `../b/c/two.json`, `NAME.cpp`, `RULE.inc`, `.cu`, `setup.py`, `ATen/a.h`"
        self.assertEqual(list(gone_files("a/README.md", text, there)), [])
        for named, missing in (("two.cpp", "two.cpp"), ("two.{json,h}", "two.h"), ("d/two.json", "d/two.json"), ("gone/", "gone/"), ("zwei.*", "zwei.*"),
                               ("../c/two.json", "../c/two.json")):
            self.assertEqual(list(gone_files("a/README.md", f"\n`{named}`", there)), [f"a/README.md:2: names '{missing}', which is not there"])


class Layout(unittest.TestCase):
    def test_the_top_has_what_the_layout_names(self):
        self.assertEqual(list(top_level(["README.md", "rules/a.json", ".ci/run", "Makefile"])), [])
        [said] = top_level(["README.md", "pyproject.toml"])
        self.assertRegex(said, r"^pyproject\.toml: stands at the top, ")


if __name__ == "__main__":
    unittest.main()
