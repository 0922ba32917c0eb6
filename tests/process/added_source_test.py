"""A source that is added in one folder and one row: asked, told, counted and named in the report, in a library that keeps the
rules of the library in the process."""
import json
import re
import subprocess
import sys

from support import BUILT, Case, main

PROGRAM = """
import ctypes, os, sys
program = ctypes.CDLL(None)
print(program.added_answer(), flush=True)
if (child := os.fork()) == 0:
    print('child', program.added_forked(), flush=True)
    os._exit(0)
os.waitpid(child, 0)
program.dtype_san_switch(0)
print('off', hasattr(program, 'added_forked'))
program.dtype_san_switch(1)
"""


class AddedSource(Case):
    def job(self, tool, library):
        report = self.scratch / "report.json"
        done = self.execute(tool, "run", "--library", library, f"--format=json={report}", "--", sys.executable, "-c", PROGRAM)
        return done, json.loads(report.read_text(encoding="utf-8"))

    def test_is_asked_told_and_named(self):
        done, report = self.job(BUILT["added_tool"], BUILT["added_source"])
        self.assertEqual((done.returncode, done.stdout), (0, "42\nchild 1\noff False\n"), done.stderr)
        [source] = [one for one in report["watched"]["sources"] if one["name"] == "answers"]
        self.assertEqual((source["on"], source["why"]), (True, "1 lookups answered"))
        notes = [note["detail"] for note in report["not_analysed"] if note["reason"] == "note"]
        self.assertIn("answers: 2 switches", notes)

    def test_the_others_are_as_they_were(self):
        plain = self.execute(BUILT["command"], "run", "--", sys.executable, "-c", "import ctypes; ctypes.CDLL(None).added_answer")
        self.assertIn("undefined symbol: added_answer", plain.stderr)
        _, report = self.job(BUILT["added_tool"], BUILT["added_source"])
        names = [one["name"] for one in report["watched"]["sources"]]
        _, before = self.run_command(sys.executable, "-c", "")
        self.assertEqual(names, [one["name"] for one in before["watched"]["sources"]] + ["answers"])

    def test_no_constructor_was_added(self):
        def size(library):
            shown = subprocess.run(["readelf", "-SW", library], capture_output=True, text=True, check=True).stdout
            return re.search(r"\.init_array\s+INIT_ARRAY\s+\S+\s+\S+\s+(\S+)", shown).group(1)
        self.assertEqual(size(BUILT["added_source"]), size(BUILT["library"]))


if __name__ == "__main__":
    main()
