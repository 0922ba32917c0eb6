#!/usr/bin/env python3
"""check_includes.py on made-up trees: each fault is found, and what is allowed is not."""
import unittest

from check_includes import check

CLEAN = {"a/x.h": "", "a/x.cpp": '#include "a/x.h"\n#include <vector>\n', "b/y.h": '#include "a/x.h"\n'}
FOLDERS = {"a": [], "b": ["a"]}
TABLE = {"include_roots": ["r"], "made_by_the_build": ["made.h"], "folders": FOLDERS, "known_circles": [],
         "known_circles_of_folders": []}
CIRCLE = {"a/z.h": '#include "a/x.h"\n', "a/x.cpp": '#include "a/z.h"\n'}


class Includes(unittest.TestCase):
    def expect(self, *messages, files=None, **changes):
        found = check({**TABLE, **changes}, {**CLEAN, **(files or {})})
        self.assertEqual(len(found), len(messages), found)
        for said, message in zip(found, messages):
            self.assertIn(message, said)

    def test_allowed(self):
        self.expect()
        self.expect(files={"b/y.cpp": '#include "../a/x.h"\n#include "made.h"\n'})
        self.expect(files={"r/z.h": "", "b/y.cpp": "#include <z.h>\n"}, folders={**FOLDERS, "b": ["a", "r"], "r": []})
        self.expect(files={"b/deeper/z.h": '#include "a/x.h"\n#include "b/y.h"\n'})

    def test_a_folder_that_may_not(self):
        self.expect("a/z.h:2: includes \"b/y.h\", but a may not include b", files={"a/z.h": '\n#include "b/y.h"\n'})
        self.expect("b/deeper may not include b", files={"b/deeper/z.h": '#include "b/y.h"\n'},
                    folders={**FOLDERS, "b/deeper": []})

    def test_folders_of_one_row_are_apart(self):
        rows = {**FOLDERS, "c/*": ["a"]}
        self.expect(files={"c/d/z.h": '#include "a/x.h"\n', "c/e/z.h": ""}, folders=rows)
        self.expect("c/* may not include another of them", files={"c/d/z.h": '#include "c/e/z.h"\n', "c/e/z.h": ""},
                    folders=rows)

    def test_files_and_rows_that_are_missing(self):
        self.expect('b/y.cpp:1: "a/none.h" is no file of this tree', files={"b/y.cpp": '#include "a/none.h"\n'})
        self.expect("c/z.h: its folder has no row", files={"c/z.h": ""})
        self.expect("no file belongs to c", folders={**FOLDERS, "c": []})
        self.expect("b names c, which has no row", folders={**FOLDERS, "b": ["a", "c"]})

    def test_circles_of_units(self):
        self.expect("2 units include each other in a circle: a/x, a/z", files=CIRCLE)
        self.expect(files=CIRCLE, known_circles=[["a/x", "a/z"]])

    def test_known_circles_only_shrink(self):
        self.expect("form no circle any more", known_circles=[["a/x", "a/z"]])
        self.expect("take a/w out", files=CIRCLE, known_circles=[["a/w", "a/x", "a/z"]])
        grown = {**CIRCLE, "a/z.h": '#include "a/w.h"\n', "a/w.h": '#include "a/x.h"\n'}
        self.expect("3 units include each other", "form no circle any more", files=grown,
                    known_circles=[["a/x", "a/z"]])

    def test_circles_of_folders(self):
        self.expect("2 folders include each other in a circle: a, b", folders={"a": ["b"], "b": ["a"]})


if __name__ == "__main__":
    unittest.main()
