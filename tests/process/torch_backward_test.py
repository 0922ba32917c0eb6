"""Findings in backward calls of PyTorch name the line of the forward call, by the autograd node's number and thread, or say that
it is not known."""
import pathlib

from support import BUILT, Case, main, marked_line
from torch_support import PYTHON, skip_without_torch

PROGRAM = "torch_backward.py"
UNKNOWN = "it is a backward call, and the line of its forward call is not known"


class Backward(Case):
    def watched(self, name, options="torch=auto"):
        done, report = self.run_command(PYTHON, pathlib.Path(BUILT["source"]) / "programs" / PROGRAM, name, options=(f"--options={options}",))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.text = done.stderr
        return report["findings"]

    def forward(self, finding):
        [step] = [step for step in finding.get("path", []) if step["note"].endswith("was called here: this is its backward call")]
        return step["operator"], pathlib.Path(step["file"]).name, step["line"]

    def test_named(self):
        for options in ("torch=origins", "torch=contracts"):
            for name, rule, api, function in (
                    ("function", "operator-mixed-dtypes", "aten::matmul", "Narrow"),
                    ("behind_others", "operator-mixed-dtypes", "aten::matmul", "Narrow"),
                    ("on_another_thread", "operator-mixed-dtypes", "aten::matmul", "Narrow"),
                    ("attention", "attention-mixed-dtypes", "_flash_attn_backward", "FlashAttnWithBackward")):
                with self.subTest(options=options, name=name):
                    [finding] = self.watched(name, options)
                    self.assertEqual((finding["rule"], finding["api"]), (rule, api))
                    program = PROGRAM if name != "attention" else "flash_attn_interface.py"
                    if name != "attention":
                        self.assertEqual(self.forward(finding), (function, program, marked_line(PROGRAM, name)))
                    else:
                        self.assertEqual(self.forward(finding)[:2], (function, program))
                    self.assertIn(f"it is the backward call of '{function}' (", self.text)

    def test_each_forward_is_a_finding(self):
        findings = self.watched("two_forwards")
        self.assertEqual({(self.forward(finding)[2], finding["count"]) for finding in findings},
                         {(marked_line(PROGRAM, "first"), 2), (marked_line(PROGRAM, "second"), 1)})

    def test_not_known(self):
        [finding] = self.watched("not_known")
        self.assertTrue(finding["message"].endswith(UNKNOWN), finding["message"])
        self.assertIn(UNKNOWN, self.text)

    def test_nodes_are_freed(self):
        self.assertEqual(sum(finding["count"] for finding in self.watched("freed")), 100)

    def test_right(self):
        self.assertEqual(self.watched("right"), [])


if __name__ == "__main__":
    skip_without_torch()
    main()
