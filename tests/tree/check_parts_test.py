#!/usr/bin/env python3
"""check_parts.py on made-up headers and tests: what does work has to be made, with what stands below it alone."""
import re
import unittest

from check_parts import blocks, classes, wrong

PART = ("class Part {\n public:\n  explicit Part(const Code& code) : code_(code) {}\n  int size() const;\n\n"
        " private:\n  const Code& code_;\n};\n")
HEADER, FILE = "analyzer/flow/a.h", "tests/unit/flow/a_test.cpp"
# Of three classes the second stands on the first, and the third beside both.
THREE = {f"analyzer/flow/{file}.h": include + f"class {name} {{\n public:\n  int f() const;\n}};\n" for file, name, include in (
    ("low", "Low", ""), ("high", "High", '#include "analyzer/flow/low.h"\n'), ("beside", "Beside", ""))}


def names(text):
    return [name for _, name, _ in classes(text)]


def case(body, fixture="", asserts=True):
    """Asserts something of each variable that it makes."""
    for name in re.findall(r"[\w>*] (\w+)(?:\(code\)|\{code\}|\(1\)| = [^;]*)?;", body) if asserts else ():
        body += f"\n  CHECK({name}.f() == 1);"
    head = f'TEST_CASE_METHOD({fixture}, "a name")' if fixture else 'TEST_CASE("a name")'
    return f"{head} {{\n  {body}\n}}\n"


class Parts(unittest.TestCase):
    def refused(self, header, test, exceptions=None):
        return wrong({HEADER: header}, {FILE: test}, exceptions or {})

    def expect(self, test, *messages, **sources):
        alone = "".join(case(f"{name} one;") for name in ("Low", "Beside"))
        found = wrong({**THREE, **sources}, {FILE: alone + test}, {})
        self.assertEqual(len(found), len(messages), found)
        for said, message in zip(found, messages):
            self.assertIn(message, said)

    def test_what_does_work(self):
        self.assertEqual(names(PART), ["Part"])
        self.assertEqual(names("class Run final : public Base {\n public:\n  ~Run() {\n    end();\n  }\n};\n"), ["Run"])
        self.assertEqual(names("struct Info {\n  explicit Info(const Code& code);\n};\n"), ["Info"])
        self.assertEqual(names("struct Info {\n  int at(int place,\n         int length) const;\n};\n"), ["Info"])
        self.assertEqual(names("template <class T>\nclass Row {\n public:\n  int size() const { return 1; }\n};\n"), ["Row"])

    def test_what_does_not(self):
        self.assertEqual(names("class Part;\nstruct Data {\n  int size = f();\n  std::function<void(int)> then;\n"
                               "  bool empty() const { return size == 0; }\n};\n"), [])
        self.assertEqual(names("class Error : public std::runtime_error {\n public:\n  Error(int line);\n  int line;\n};\n"), [])
        self.assertEqual(names("struct Entry {\n  Entry() = default;\n"
                               "  friend bool operator==(const Entry&, const Entry&);\n};\n"), [])

    def test_inner_classes(self):
        inner = "class At {\n   public:\n    ~At() { end(); }\n   private:\n    int at_;\n  };\n"
        self.assertEqual(names(f"class Out {{\n public:\n  {inner}  void f();\n}};\n"), ["Out", "At"])
        self.assertEqual(names(f"class Out {{\n public:\n  void f();\n\n private:\n  {inner}}};\n"), ["Out"])

    def test_blocks(self):
        text = "namespace a {\nusing B = C;\nint f(int a,\n      int b) {\n  return 1;\n}\n\nstruct D {\n  int e;\n};\n}  // namespace a\n"
        self.assertEqual([block.split("\n")[0] for block in blocks(text)], ["using B = C;", "int f(int a,", "struct D {"])

    def test_what_builds_one(self):
        for text in ("Part part(code);", "const Part part{code};", "CHECK(Part(code).size() == 1);", "flow::Part part;"):
            self.assertEqual(self.refused(PART, case(text)), [], text)
        row = "template <class T>\nclass Row {\n public:\n  int size() const;\n};\n"
        self.assertEqual(self.refused(row, case("Row<std::vector<int>> row(1);")), [])
        self.assertEqual(self.refused(row, "using Numbers = Row<int>;\n" + case("Numbers numbers;")), [])

    def test_what_a_case_uses(self):
        fixture = "struct All : Code {\n  Part part{code};\n};\n"
        self.assertEqual(self.refused(PART, fixture + case("CHECK(part.size() == 1);", "All")), [])
        self.assertEqual(len(self.refused(PART, fixture + case("CHECK(true);"))), 1)
        self.assertEqual(self.refused(PART, fixture + "struct More : All {\n};\n" + case("CHECK(part.size() == 1);", "More")), [])
        self.assertEqual(self.refused(PART, "int f() {\n  return Part(code).size();\n}\n" + case("CHECK(f() == 1);")), [])
        shared = {FILE: '#include "tests/unit/flow/parts.h"\n' + case("CHECK(part.size() == 1);", "All"), "tests/unit/flow/parts.h": fixture}
        self.assertEqual(wrong({HEADER: PART}, shared, {}), [])

    def test_what_builds_none(self):
        for text in ("", "f(const Part& part);", "OtherPart part(code);", "struct Part {};", "// Part part(code);",
                     'CHECK(text == "Part part(code)");', 'R"IR(\nPart part(code)\n)IR"'):
            self.assertEqual(len(self.refused(PART, case(text))), 1, text)
        self.assertEqual(len(self.refused(PART, '#include "tests/unit/flow/lint_text.h"\n' + case("Part part(code);"))), 1)
        self.assertIn("analyzer/flow/a.h: no test of tests/unit/flow/ builds Part", self.refused(PART, "")[0])

    def test_something_is_asserted_of_what_it_gives(self):
        alone = case("Part part(code);", asserts=False)
        self.assertEqual(self.refused(PART, alone), ["tests/unit/flow/a_test.cpp: builds Part and asserts nothing of what it gives"])
        for text in ("CHECK(true);", "CHECK(code.size() == 1);", "part.size();", "const int size = other.size();\n  CHECK(size == 1);"):
            self.assertEqual(len(self.refused(PART, case(f"Part part(code);\n  {text}", asserts=False))), 1, text)
        for text in ("CHECK(part.size() == 1);", "const int size = part.size();\n  CHECK(size == 1);", "REQUIRE(f(part));",
                     "part.add(1, out);\n  CHECK(out.size() == 1);", "part.add(1);\n  CHECK(code.size() == 1);",
                     "const auto size = [&] { return part.size(); };\n  CHECK(size() == 1);", "for (int each : part.all()) CHECK(each == 1);"):
            self.assertEqual(self.refused(PART, case(f"Part part(code);\n  {text}", asserts=False)), [], text)
        guard = "class Run final {\n public:\n  explicit Run(int& depth);\n  ~Run() {\n    end();\n  }\n};\n"
        self.assertEqual(self.refused(guard, case("Run run(depth);\n  CHECK(depth == 1);", asserts=False)), [])
        self.assertEqual(self.refused(PART, alone + case("Part part(code);")), [])

    def test_without_others(self):
        self.expect(case("High high;"))
        self.expect(case("Low low;\n  High high;"))
        self.expect(case("Beside beside;\n  High high;"), "a_test.cpp: builds High together with Beside, which analyzer/flow/high.h")
        self.expect(case("Beside beside;\n  High high;") + case("High high;"))
        uses = {"analyzer/flow/high.cpp": '#include "analyzer/flow/beside.h"\nint High::f() const { return 1; }\n'}
        self.expect(case("Beside beside;\n  High high;"), **uses)
        apart = wrong(THREE, {FILE: case("Low low;\n  High high;\n  Beside beside;")}, {})
        self.assertEqual(len(apart), 3, apart)

    def test_without_objects(self):
        abstract = "class Base {\n public:\n  virtual int f() = 0;\n};\n"
        self.assertEqual(len(self.refused(abstract, case("Base& base();"))), 1)
        self.assertEqual(self.refused(abstract, "class Own : public Base {\n};\n" + case("Own own;")), [])
        static = "class Rooms {\n public:\n  static void* take() {\n    return f();\n  }\n};\n"
        self.assertEqual(len(self.refused(static, "")), 1)
        self.assertEqual(self.refused(static, case("void* room = Rooms<int>::take();")), [])

    def test_exceptions_are_needed(self):
        self.assertEqual(self.refused(PART, "", {"Part": "a reason"}), [])
        self.assertIn("take it out", self.refused(PART, case("Part part(code);"), {"Part": "a reason"})[0])
        self.assertIn("no class", self.refused("", "", {"Part": "a reason"})[0])


if __name__ == "__main__":
    unittest.main()
