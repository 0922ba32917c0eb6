"""What raises with operands that autocast casts, or that the library has taken before, raises for another reason than their dtypes: no
finding. What autocast does not cast is one, at the line that made the operand what it is."""
import pathlib

from support import BUILT, Case, main, marked_line
from torch_support import PYTHON, skip_without_torch

PROGRAM = "torch_stopped.py"
MODES = ("torch=origins", "torch=contracts")


class Stopped(Case):
    def watched(self, how, options="torch=origins"):
        done, report = self.run_command(PYTHON, "-W", "ignore", pathlib.Path(BUILT["source"]) / "programs" / PROGRAM, how,
                                        options=(f"--options={options}",))
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout, report

    def test_right(self):
        for how, printed in (("recomputed", "torch.float32"), ("recomputed_with_a_mask", "torch.bfloat16"), ("no_memory", "RuntimeError"),
                             ("no_fit", "RuntimeError")):
            for options in MODES:
                with self.subTest(how=how, options=options):
                    said, report = self.watched(how, options)
                    self.assertEqual({line.split()[0] for line in said.splitlines()}, {printed})
                    self.assertEqual(report["findings"], [])
                    self.assertEqual([entry["detail"] for entry in report["not_analysed"]], [])

    def test_wrong(self):
        for how, rule, api, roles in (("stored", "operator-mixed-dtypes", "aten::index_copy_", ["source"]),
                                      ("double", "operator-mixed-dtypes", "aten::linear", ["weight"]),
                                      ("double_in_parts", "operator-mixed-dtypes", "aten::einsum", ["a"]),
                                      ("without", "operator-mixed-dtypes", "aten::linear", ["weight", "bias"]),
                                      ("wide_mask", "attention-mask-dtype", "scaled_dot_product_attention", ["mask"])):
            for options in MODES:
                with self.subTest(how=how, options=options):
                    said, report = self.watched(how, options)
                    self.assertIn("RuntimeError", said)
                    [finding] = report["findings"]
                    self.assertEqual((finding["rule"], finding["api"], finding["count"]), (rule, api, 1))
                    self.assertEqual([sink["role"] for sink in finding["sinks"]], roles)
                    lines = {frame["line"] for frame in finding["backtrace"] if frame["file"].endswith(PROGRAM)}
                    self.assertIn(marked_line(PROGRAM, how), lines)


if __name__ == "__main__":
    skip_without_torch()
    main()
