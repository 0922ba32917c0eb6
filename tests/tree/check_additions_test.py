#!/usr/bin/env python3
"""check_additions.py on made-up pages and files: what a page leaves out is found, and what it names is not."""
import unittest

from check_additions import Addition, wrong

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


if __name__ == "__main__":
    unittest.main()
