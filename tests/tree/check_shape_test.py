#!/usr/bin/env python3
"""check_shape.py on made-up files: what is too long or too large is found, and what fits is not."""
import unittest

from check_shape import LINES, METHODS, large_parts, long_functions


def function(name, lines):
    return f"void {name}(int a,\n    int b) {{\n" + "  a += b;\n" * (lines - 3) + "}\n"


def part(methods, more=""):
    return "class Part final : public Other {\n public:\n  explicit Part(int a);\n" + "".join(
        f"  int m{i}(int a,\n         int b) const;\n" for i in range(methods)) + more + "  int kept_;\n};\n"


class Shape(unittest.TestCase):
    def test_functions(self):
        self.assertEqual(long_functions({"a.cpp": function("f", LINES)}, set()), [])
        said = long_functions({"a.cpp": function("f", LINES) + function("A::g", LINES + 1)}, set())
        self.assertEqual(said, [f"a.cpp: A::g has {LINES + 1} lines; keep a function within {LINES}"])

    def test_in_a_class(self):
        lines = function("g", LINES + 1).splitlines()
        text = "class A {\n public:\n  A() : a_(1) {}\n  bool is_it() const { return a_(); }\n" + "".join(f"  {each}\n" for each in lines) + "};\n"
        self.assertEqual(long_functions({"a.cpp": text}, set()), [f"a.cpp: g has {LINES + 1} lines; keep a function within {LINES}"])

    def test_a_known_one_is_left_and_one_that_is_not_long_is_no_longer_known(self):
        self.assertEqual(long_functions({"a.cpp": function("f", LINES + 1)}, {"a.cpp:f"}), [])
        self.assertIn("take it out", long_functions({"a.cpp": function("f", LINES)}, {"a.cpp:f"})[0])

    def test_one_of_that_name_in_another_file_is_not_known(self):
        both = {"a.cpp": function("f", LINES + 1), "b.cpp": function("f", LINES + 1)}
        self.assertEqual(long_functions(both, {"a.cpp:f"}), [f"b.cpp: f has {LINES + 1} lines; keep a function within {LINES}"])

    def test_declarations_and_classes_are_no_functions(self):
        text = "void f(int a);  // and so on\nnamespace a {\n" + part(LINES) + "}\n"
        self.assertEqual(long_functions({"a.h": text}, set()), [])

    def test_parts(self):
        self.assertEqual(list(large_parts({"a.h": part(METHODS)})), [])
        self.assertIn("26 methods", list(large_parts({"a.h": part(METHODS + 1)}))[0])
        self.assertIn("friend", list(large_parts({"a.h": part(1, "  friend class Other;\n")}))[0])
        self.assertIn("friend", list(large_parts({"a.h": part(1, "  friend Part join(const Part&, const Part&);\n")}))[0])
        equal = "  friend bool operator==(const Part&, const Part&) = default;\n"
        self.assertEqual(list(large_parts({"a.h": part(1, equal)})), [])

    def test_structs_and_inner_classes_are_parts(self):
        self.assertIn("26 methods", list(large_parts({"a.h": part(METHODS + 1).replace("class", "struct")}))[0])
        self.assertEqual(list(large_parts({"a.h": part(METHODS).replace("class", "struct")})), [])
        inner = "".join(f"  {line}\n" for line in part(METHODS + 1).splitlines())
        self.assertIn("Part has 26 methods", list(large_parts({"a.h": f"class Outer {{\n{inner}  int f();\n}};\n"}))[0])
        self.assertEqual(list(large_parts({"a.h": "class Part;\nstruct Data;\n" + part(1)})), [])


if __name__ == "__main__":
    unittest.main()
