"""Operators of libraries without any of the operands that may be missing: each is checked by those that are there."""
import collections
import pathlib

from support import BUILT, Case, main
from torch_support import PYTHON, skip_without_torch

PROGRAM = pathlib.Path(BUILT["source"]) / "programs" / "torch_absent.py"
CONTRACTS = sorted(path for path in (pathlib.Path(BUILT["schema"]).parents[1] / "contracts").glob("*.json") if "schema" not in path.name)


class Absent(Case):
    def watched(self, way):
        done, report = self.run_command(PYTHON, PROGRAM, way, *CONTRACTS, options=("--options=torch=origins",))
        self.assertEqual(done.returncode, 0, done.stderr)
        return [tuple(line.split()) for line in done.stdout.splitlines() if line.split()[1:] != [] and line[0] != "/"], report

    def calls(self, names, report):
        return {name: report["watched"]["calls"][name] for name in names}

    def test_right(self):
        operators, report = self.watched("right")
        names = collections.Counter(name for name, _ in operators)
        self.assertGreater(len(names), 15)
        self.assertEqual(report["findings"], [])
        self.assertEqual(self.calls(names, report), dict(names))

    def test_wrong(self):
        operators, report = self.watched("wrong")
        names = collections.Counter(name for name, wrong in operators for _ in range(1 if wrong == "None" else 2))
        self.assertEqual(self.calls(names, report), dict(names))
        blamed = collections.defaultdict(set)
        for finding in report["findings"]:
            for sink in finding["sinks"]:
                blamed[sink["api"]].add(sink["role"])
        self.assertEqual({name for name, wrong in operators if wrong != "None"}, set(blamed), blamed)


if __name__ == "__main__":
    skip_without_torch()
    main()
