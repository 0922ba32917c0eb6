#!/usr/bin/env python3
"""check_literals.py on made-up sources: names of libraries are counted, words of the IR, rules and comments are not."""
import unittest

from check_literals import compared, wrong


class Literals(unittest.TestCase):
    def test_what_counts(self):
        self.assertEqual(compared('if (name == "softmax" || other != "numel") f();'), ["softmax", "numel"])

    def test_what_does_not(self):
        self.assertEqual(compared('a == "eq"; b != "**"; f("softmax"); // c == "softmax"\n'), [])

    def test_names_of_a_list_count(self):
        self.assertEqual(compared('constexpr std::array<std::string_view, 2> kAll = {"softmax",\n "eq"};'), ["softmax"])
        self.assertEqual(compared('for (const std::string_view each : {"numel", "dim"}) f(each);'), ["numel", "dim"])
        self.assertEqual(compared('std::array<std::string_view, 1> kNone = {std::string_view()};'), [])

    def test_what_is_refused(self):
        self.assertEqual(wrong({"a.cpp": 'a == "eq"; c == "some-rule"'}, {"some-rule"}), [])
        texts = {"a.cpp": 'a == "softmax"; c == "some-rule"'}
        self.assertEqual(len(wrong(texts, {"some-rule"})), 1)
        self.assertIn('a.cpp: compares with "softmax"', wrong(texts, {"some-rule"})[0])


if __name__ == "__main__":
    unittest.main()
