#!/usr/bin/env python3
"""check_literals.py on made-up sources: names of libraries are counted, words of the IR, rules and comments are not."""
import unittest

from check_literals import compared, wrong


class Literals(unittest.TestCase):
    def test_what_counts(self):
        self.assertEqual(compared('if (name == "softmax" || other != "numel") f();'), ["softmax", "numel"])

    def test_what_does_not(self):
        self.assertEqual(compared('a == "eq"; b != "**"; f("softmax"); // c == "softmax"\n'), [])

    def test_more_and_fewer_than_there_may_be(self):
        texts = {"a.cpp": 'a == "softmax"; b == "numel"; c == "some-rule"'}
        self.assertEqual(wrong(texts, {"some-rule"}, 2), [])
        self.assertIn("a.cpp: numel", "\n".join(wrong(texts, {"some-rule"}, 1)))
        self.assertIn("lower it", wrong(texts, {"some-rule"}, 3)[0])


if __name__ == "__main__":
    unittest.main()
