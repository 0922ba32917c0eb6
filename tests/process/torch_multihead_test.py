"""The fast path of nn.MultiheadAttention makes no call of scaled_dot_product_attention: its own operator is watched in that one's place."""
import pathlib

from support import BUILT, Case, main, marked_line
from torch_support import PYTHON, skip_without_torch

PROGRAM = pathlib.Path(BUILT["source"]) / "programs" / "torch_multihead.py"
API = "torch.nn.MultiheadAttention"
MIXED, OTHER = "attention-mixed-dtypes", "operator-mixed-dtypes"


class Multihead(Case):
    def watched(self, how):
        plain = self.execute(PYTHON, "-W", "ignore", PROGRAM, how)
        done, report = self.run_command(PYTHON, "-W", "ignore", PROGRAM, how)
        self.assertEqual((done.returncode, done.stdout), (0, plain.stdout), done.stderr)
        return done.stdout, report

    def test_right(self):
        printed, report = self.watched("right")
        self.assertNotIn("Error", printed)
        self.assertEqual(report["findings"], [])
        self.assertGreaterEqual(report["watched"]["calls"][API], 8, printed)

    def test_wrong(self):
        printed, report = self.watched("wrong")
        self.assertEqual(printed.count("RuntimeError"), 6, printed)
        found = {finding["location"]["line"]: (finding["rule"], sorted((sink["api"], sink["role"]) for sink in finding["sinks"]))
                 for finding in report["findings"]}
        for role in "qkv":
            rule, sinks = found.pop(marked_line(PROGRAM.name, f"wide_{role}"))
            self.assertEqual(rule, MIXED)
            self.assertIn((API, role), sinks)
        self.assertEqual(found.pop(marked_line(PROGRAM.name, "wide_mask")), (OTHER, [("aten::baddbmm", "x")]))
        # The fast path is not taken for q beside another k; in it q, k and v are compared with each other, not with the weights.
        self.assertEqual(found.pop(marked_line(PROGRAM.name, "other_q"))[0], OTHER)
        self.assertEqual(found.pop(marked_line(PROGRAM.name, "wide_input")), ("attention-implicit-promotion", [(API, role) for role in "kqv"]))
        self.assertEqual(found, {})


if __name__ == "__main__":
    skip_without_torch()
    main()
