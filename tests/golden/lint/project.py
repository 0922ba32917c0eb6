"""What the tests of whole projects share: a project folder with a compile database, and running dtype-lint on it."""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

LINT, TORCH = sys.argv[1], sys.argv[2]
HERE = pathlib.Path(__file__).resolve().parent
FIXTURES = HERE / "fixtures"
FLAGS = f"-std=c++17 -include '{TORCH}' -include attention.h"


def standard(path):
    """In which C++ a fixture is written, which it says itself where that is not C++17."""
    named = re.search(r"^// standard: (\S+)$", path.read_text(), re.M)
    return named.group(1) if named else "c++17"


class Case(unittest.TestCase):
    """A test with a project folder of its own, its cache beside it."""

    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.scratch = pathlib.Path(folder.name)
        self.folder = self.scratch / "project"
        (self.folder / "build").mkdir(parents=True)
        (self.folder / ".dtype-lint.json").write_text("{}")
        for header in FIXTURES.glob("*.h"):
            (self.folder / header.name).write_text(header.read_text())
        self.entries = []

    def write(self, **files):
        """Files of the project; "__" stands for "." and "_in_" for "/" in their names."""
        for name, text in files.items():
            path = self.folder / name.replace("_in_", "/").replace("__", ".")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text if isinstance(text, bytes) else text.encode())

    def compiled(self, *names, flags="", directory=None):
        """Adds the files to the compile database."""
        for name in names:
            self.entries.append({"directory": str(directory or self.folder), "file": name,
                                 "command": f"g++ {FLAGS} {flags} -o {name}.o -c {name}"})
        (self.folder / "build" / "compile_commands.json").write_text(json.dumps(self.entries))

    def lint(self, *arguments, cwd=None, home=None, cache=True, stdin=None, **environment):
        command = [LINT, *map(str, arguments)]
        settings = {**os.environ, "XDG_CACHE_HOME": str(home or self.scratch / "cache"), **environment}
        if not cache:
            command.append("--no-cache")
        return subprocess.run(command, capture_output=True, text=True, cwd=cwd or self.folder,
                              env=settings, input=stdin, check=False)

    def report(self, *arguments, status=None, **rest):
        """The JSON report of a run over the database, or of what the arguments say."""
        run = self.lint("--format=json", *(arguments or ["-p", "build"]), **rest)
        if status is not None:
            self.assertEqual(run.returncode, status, run.stdout + run.stderr)
        self.assertTrue(run.stdout, run.stderr)
        return json.loads(run.stdout)

    def found(self, *arguments, **rest):
        """(rule, file, line) of each finding."""
        return [(f["rule"], f["location"]["file"], f["location"]["line"])
                for f in self.report(*arguments, **rest)["findings"]]


def main():
    unittest.main(argv=sys.argv[:1])
