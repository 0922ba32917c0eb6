"""torch_every=N: calls are checked in every step of a training job, origins are noted in the first and every N-th."""
import pathlib

from support import BUILT, Case, main, marked_line
from torch_support import PYTHON, skip_without_torch

PROGRAM = "torch_every.py"
STEPS = 7


class Every(Case):
    def with_origin(self, options):
        """Of the findings by line whether they have one."""
        done, report = self.run_command(PYTHON, pathlib.Path(BUILT["source"]) / "programs" / PROGRAM, options=(f"--options=torch=origins{options}",))
        self.assertEqual(done.returncode, 0, done.stderr)
        [source] = [one for one in report["watched"]["sources"] if one["name"] == "torch"]
        self.why = source["why"]
        self.assertEqual(report["watched"]["calls"]["scaled_dot_product_attention"], STEPS + 1)
        found = {}
        for finding in report["findings"]:
            lines = [frame["line"] for frame in finding["backtrace"] if frame["file"].endswith(PROGRAM)]
            origin = [operand for operand in finding["operands"] if operand["role"] == "q"][0]["origin"]
            found[lines[1]] = origin is not None
        return found

    def expected(self, sampled, older):
        return {**{marked_line(PROGRAM, f"step {i}"): i in sampled for i in range(STEPS)}, marked_line(PROGRAM, "older"): older}

    def test_every_third(self):
        self.assertEqual(self.with_origin(":torch_every=3"), self.expected({0, 3, 6}, False))
        self.assertIn("noted in one of 3 optimizer steps", self.why)

    def test_every_step(self):
        self.assertEqual(self.with_origin(""), self.expected(set(range(STEPS)), True))
        self.assertNotIn("optimizer steps", self.why)


if __name__ == "__main__":
    skip_without_torch()
    main()
