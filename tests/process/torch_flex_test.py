"""flex_attention that is called without torch.compile is an autograd Function's record: it is checked, and what widened its operands is found."""
import pathlib

from support import BUILT, Case, main, marked_line, operands
from torch_support import PYTHON, skip_without_torch

PROGRAM = pathlib.Path(BUILT["source"]) / "programs" / "torch_flex.py"
API, FLOAT, LOW = "flex_attention", "float32", "bfloat16"


class Flex(Case):
    def watched(self, *names):
        done, report = self.run_command(PYTHON, "-W", "ignore", PROGRAM, *names)
        self.assertEqual((done.returncode, done.stdout), (0, self.execute(PYTHON, "-W", "ignore", PROGRAM, *names).stdout), done.stderr)
        self.assertEqual(report["watched"]["calls"].get(API, 0), len(names))
        return report["findings"]

    def test_right(self):
        self.assertEqual(self.watched("right", "right"), [])

    def test_widened(self):
        """Keys and values may have another dtype since 2.11, so that a wide q beside them is computed, too."""
        found = {finding["location"]["line"]: finding for finding in self.watched("widened", "widened_alone")}
        for name, dtypes in (("widened", {"q": FLOAT, "k": FLOAT, "v": FLOAT}), ("widened_alone", {"q": FLOAT, "k": LOW, "v": LOW})):
            with self.subTest(name=name):
                finding = found[marked_line("torch_flex.py", name)]
                self.assertEqual((finding["rule"], finding["api"], operands(finding)), ("attention-implicit-promotion", API, dtypes))
                self.assertEqual([sink["role"] for sink in finding["sinks"]], [role for role in dtypes if dtypes[role] == FLOAT])
        self.assertEqual(len(found), 2)

    def test_a_dtype_that_it_does_not_take(self):
        [finding] = self.watched("in_eight_bits")
        self.assertEqual((finding["rule"], finding["location"]["line"]), ("attention-unsupported-dtype", marked_line("torch_flex.py", "in_eight_bits")))


if __name__ == "__main__":
    skip_without_torch()
    main()
