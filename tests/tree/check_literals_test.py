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
        self.assertEqual(compared('constexpr std::array kAll = {"cuda"sv, "xpu"sv};'), ["cuda", "xpu"])
        self.assertEqual(compared('const std::set<std::string> all = {"numel"};'), ["numel"])
        self.assertEqual(compared('constexpr Row kRows[] = {{"numel", Rule::kSame}};'), [])

    def test_parts_of_a_name_count(self):
        for code in ('name.starts_with("torch::")', 'name.ends_with("_out") ? 4 : 1', 'text.find("device") != npos', 'all.contains("numel")',
                     'std::find(all.begin(), all.end(), "numel")', 'name.rfind("::forward")', 'std::erase(names, "None")',
                     'remove_suffix(name, "Impl")', 'name.substr(0, 4) == "aten"', '"numel" == name', '"cuda"sv != name'):
            self.assertEqual(len(compared(f"if ({code}) f();")), 1, code)
        for code in ('name.find("::")', 'message("numel")', 'name.starts_with(kPrefix) && f("numel")', 'digits.find_first_not_of("0a")',
                     'name.starts_with("autocast_")'):
            self.assertEqual(compared(f"if ({code}) f();"), [], code)

    def test_constants_count_but_for_those_of_the_ir(self):
        text = 'inline constexpr std::string_view kFirst = "eq", kSecond =\n "torch.Tensor";\nconstexpr const char* kThird = "weight";\n'
        self.assertEqual(compared(text), ["torch.Tensor", "weight"])
        self.assertEqual(compared(text, names_are_its_own=False), [])
        self.assertEqual(len(wrong({"analyzer/flow/ir/a.h": text, "analyzer/flow/state/a.h": text}, set())), 2)
        self.assertEqual(compared('constexpr std::string_view kSaid = "a sentence", kVersion = "2.13";'), [])

    def test_what_is_refused(self):
        self.assertEqual(wrong({"a.cpp": 'a == "eq"; c == "some-rule"'}, {"some-rule"}), [])
        texts = {"a.cpp": 'a == "softmax"; c == "some-rule"'}
        self.assertEqual(len(wrong(texts, {"some-rule"})), 1)
        self.assertIn('a.cpp: compares with "softmax"', wrong(texts, {"some-rule"})[0])


if __name__ == "__main__":
    unittest.main()
