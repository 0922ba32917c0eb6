#!/usr/bin/env python3
"""check_calls.py on symbol tables written by hand and on two files compiled here: circles are found, and calls through
headers, virtual functions and other libraries are none."""
import pathlib
import shutil
import subprocess
import tempfile
import unittest

from check_calls import call_graph, hold_against, objects_of, symbols_of
from check_includes import circles


class Calls(unittest.TestCase):
    def test_an_edge_is_a_symbol_of_another_file(self):
        graph = call_graph({"a.cpp": [("T", "a"), ("U", "b"), ("U", "malloc")], "b.cpp": [("T", "b"), ("W", "inline"), ("U", "a")],
                            "c.cpp": [("W", "inline"), ("U", "inline"), ("U", "a")]})
        self.assertEqual(graph, {"a.cpp": {"b.cpp"}, "b.cpp": {"a.cpp"}, "c.cpp": {"a.cpp"}})
        self.assertEqual(circles(graph), [frozenset({"a.cpp", "b.cpp"})])

    def test_files_in_circles_may_only_become_fewer(self):
        circle = frozenset({"a.cpp", "b.cpp"})
        self.assertIn("a.cpp, b.cpp", hold_against("x", [circle], 0)[0])
        self.assertEqual(hold_against("x", [circle], 2), [])
        self.assertIn("only 0", hold_against("x", [], 2)[0])

    def test_objects_by_library_without_the_tests(self):
        command = "g++ -c -o {}/CMakeFiles/{}.dir/room/a.cpp.o -x /s/a.cpp"
        found = objects_of([{"directory": "/b", "command": command.format("flow", "flow")},
                            {"directory": "/b", "command": command.format("tests/unit", "t")}])
        self.assertEqual(found, {"flow": [("room/a.cpp", pathlib.Path("/b/flow/CMakeFiles/flow.dir/room/a.cpp.o"))]})

    @unittest.skipUnless(shutil.which("g++"), "needs g++")
    def test_of_real_objects(self):
        header = "struct I { virtual void run() = 0; }; void up(I&); void down(I&); inline int twice(int a) { return 2 * a; }\n"
        texts = {"up": header + "void up(I& i) { if (twice(1)) down(i); }",
                 "down": header + "struct J : I { void run() override { } }; void down(I& i) { i.run(); }"}
        with tempfile.TemporaryDirectory() as folder:
            paths = {}
            for name, text in texts.items():
                source = pathlib.Path(folder, name + ".cpp")
                source.write_text(text, encoding="utf-8")
                paths[name] = source.with_suffix(".o")
                subprocess.run(["g++", "-O0", "-c", str(source), "-o", str(paths[name])], check=True)
            symbols = symbols_of(paths.values())
            graph = call_graph({name: symbols[str(path)] for name, path in paths.items()})
        self.assertEqual(graph, {"up": {"down"}, "down": set()})

    @unittest.skipUnless(shutil.which("g++"), "needs g++")
    def test_what_an_inline_function_calls_is_called_by_each_file_that_has_it(self):
        header = "int low(int); int high(int); struct A { static int f(int a) { return low(a); } };\n"
        texts = {"low": header + "int low(int a) { return a > 0 ? high(a) : a; }", "high": header + "int high(int a) { return A::f(a - 1); }"}
        with tempfile.TemporaryDirectory() as folder:
            for optimised in ("-O0", "-O2"):
                paths = {name: pathlib.Path(folder, name + ".o") for name in texts}
                for name, text in texts.items():
                    source = pathlib.Path(folder, name + ".cpp")
                    source.write_text(text, encoding="utf-8")
                    subprocess.run(["g++", optimised, "-c", str(source), "-o", str(paths[name])], check=True)
                symbols = symbols_of(paths.values())
                graph = call_graph({name: symbols[str(path)] for name, path in paths.items()})
                self.assertEqual(circles(graph), [frozenset({"low", "high"})], optimised)


if __name__ == "__main__":
    unittest.main()
