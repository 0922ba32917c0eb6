#!/usr/bin/env python3
"""check_additions.py on made-up pages and files: what a page leaves out is found, and what it names is not."""
import unittest

from check_additions import Addition, alternatives, is_test, rows_of, wrong, wrong_rows

RULE = Addition("a rule", "rules/README.md", ("rules/CMakeLists.txt",), ("first-rule", "second-rule"))
PAGE = "its name in `CMakeLists.txt`"
FILES = {"rules/CMakeLists.txt": "catalog/first-rule.md catalog/second-rule.md"}


class Additions(unittest.TestCase):
    def test_a_page_that_names_what_has_to_be_touched(self):
        self.assertEqual(wrong(RULE, FILES, PAGE), [])
        self.assertEqual(wrong(RULE, FILES, "a row in `rules/CMakeLists.txt`"), [])

    def test_a_page_that_does_not(self):
        self.assertIn("the page does not name it", wrong(RULE, FILES, "a page in the folder")[0])

    def test_a_file_with_all_of_them_that_the_page_leaves_out(self):
        more = {**FILES, "order.cpp": '{"first-rule", "second-rule"}', "one.cpp": '"first-rule"', "longer.cpp": "first-rules second-rule"}
        self.assertEqual(wrong(RULE, more, PAGE), ["order.cpp names all there are of a rule; rules/README.md has to name it"])

    def test_one_that_is_missing_where_the_page_says_that_it_stands(self):
        self.assertIn("missing: second-rule", wrong(RULE, {"rules/CMakeLists.txt": "catalog/first-rule.md"}, PAGE)[0])

    def test_names_that_others_have_too(self):
        shared = Addition("a source", "rules/README.md", (), ("a", "b"), only_there=False)
        self.assertEqual(wrong(shared, {"other.cpp": "a b"}, PAGE), [])

    def test_nothing_to_look_for_is_no_success(self):
        self.assertIn("is there", wrong(Addition("a rule", "rules/README.md", (), ()), {}, PAGE)[0])


TABLE = "Text.\n\n| added | build | `ctest -R` |\n|---|---|---|\n| a rule | `bin/lint`, `test_rules` | `catalog\\|lint: (a\\|b)` |\n"
BUILD = 'add_executable(test_rules a.cpp)\nadd_executable(\n  lint b.cpp)\nforeach(part a b)\nadd_test(NAME "lint: ${part}")\nadd_test(NAME catalog)'


class WhatToBuildAndRun(unittest.TestCase):
    def test_rows(self):
        self.assertEqual(rows_of(TABLE), {"a rule": (["bin/lint", "test_rules"], ["catalog", "lint: a", "lint: b"])})
        self.assertEqual(rows_of(TABLE.replace("\\|", "|")), {})  # four cells and more, as a page shows them
        self.assertEqual(alternatives("a (b|c) d|e"), ["a b d", "a c d", "e"])

    def test_names_of_tests(self):
        for name, found in (("catalog", True), ("lint: a", True), ("lint: c", False), ("fixtures", False)):
            self.assertEqual(is_test(name, BUILD), found, name)

    def test_what_is_wrong_with_a_row(self):
        self.assertEqual(wrong_rows(TABLE, {"a rule"}, BUILD), [])
        self.assertIn("no row says what to build and run for a source", wrong_rows(TABLE, {"a rule", "a source"}, BUILD)[0])
        self.assertIn("a rule is no kind of addition", wrong_rows(TABLE, set(), BUILD)[0])
        self.assertIn("no target bin/lint", wrong_rows(TABLE, {"a rule"}, BUILD.replace("lint b.cpp", "lint2 b.cpp"))[0])
        self.assertIn("no test is called 'lint: b'", wrong_rows(TABLE, {"a rule"}, BUILD.replace("part a b", "part a"))[0])


if __name__ == "__main__":
    unittest.main()
