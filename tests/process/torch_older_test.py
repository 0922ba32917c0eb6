"""Of a tensor that is older than the watching no origin is claimed; the report gives its shape and the line where it was used first,
as far as was seen."""
import pathlib
import subprocess

from support import BUILT, LONG, Case, environment, main, marked_line
from torch_support import PYTHON, skip_without_torch

PROGRAM = "torch_older.py"
PATH = pathlib.Path(BUILT["source"]) / "programs" / PROGRAM


class Older(Case):
    def joined(self, way):
        """What the job says, its findings, and the notes on operands by role."""
        plain = subprocess.run([PYTHON, PATH, way], env=environment(), cwd=self.scratch, input="\n", text=True, capture_output=True,
                               timeout=LONG, check=True)
        job = subprocess.Popen([PYTHON, PATH, way], env=environment(), cwd=self.scratch, text=True, stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE)
        self.addCleanup(job.communicate)
        self.addCleanup(job.kill)
        self.assertEqual(job.stdout.readline(), "ready\n")
        done = self.execute(BUILT["command"], "attach", job.pid, "--library", BUILT["library"], "--options",
                            f"journal={self.scratch / 'journal'}:torch=origins")
        self.assertEqual(done.returncode, 0, done.stderr)
        said, _ = job.communicate("\n", timeout=LONG)
        self.assertEqual((job.returncode, "ready\n" + said), (0, plain.stdout))
        self.text, report = self.report(self.scratch / "journal")
        notes = [one["detail"] for one in report["not_analysed"] if "which operator made" in one["detail"]]
        return said, report["findings"], {note.split("'")[1]: note for note in notes}

    def test_cache(self):
        said, [finding], notes = self.joined("wide")
        self.assertEqual(said, " ".join(["RuntimeError"] * 4) + "\n")
        self.assertEqual([operand["origin"] for operand in finding["operands"] if operand["role"] == "k"], [None])
        self.assertEqual(finding.get("path", []), [])
        use = f"'aten::slice' at .*{PROGRAM}:{marked_line(PROGRAM, 'used')} .Attention.forward.$"
        self.assertRegex(notes["k"], "is not known: .*; it is of shape 1x2x1x8; the first use of its memory that was seen since origins "
                                     "were last switched on, which is not its origin, is " + use)
        self.assertIn("v", notes)
        self.assertIn(notes["k"], self.text.stdout + self.text.stderr)

    def test_right_model(self):
        """Its parameters and its cache are as old."""
        said, findings, notes = self.joined("narrow")
        self.assertEqual((said, findings, notes), (" ".join(["torch.bfloat16"] * 4) + "\n", [], {}))

    def test_that_was_not_used_before(self):
        _, [finding], notes = self.joined("untouched")
        self.assertEqual(finding["location"]["line"], marked_line(PROGRAM, "attended"))
        self.assertTrue(notes["q"].endswith("; it is of shape 1x2x4x8; no use of its memory before this call was seen since origins were "
                                            "last switched on"), notes["q"])

    def test_bounded(self):
        """Where too many lines use older tensors the place is not said, and origins keep their room."""
        _, findings, notes = self.joined("many")
        self.assertTrue(notes["q"].endswith("it is of shape 1x2x4x8"), notes["q"])
        self.assertIn(marked_line(PROGRAM, "widened"), [finding["location"]["line"] for finding in findings])


if __name__ == "__main__":
    skip_without_torch()
    main()
