"""Code that torch.compile or torch.fx generated has no line of the model's: a finding opens at the function that was compiled, or at
the line that runs the code, and says so."""
import pathlib
import shutil

from support import BUILT, Case, main, marked_line
from torch_support import PYTHON, skip_without_torch

NAME = "torch_compiled.py"
PROGRAM = pathlib.Path(BUILT["source"]) / "programs" / NAME
GENERATED = r"; it stands in generated code \(<eval_with_key>\.\d+:\d+\), of the function here or of what that calls"


class Compiled(Case):
    def watched(self, backend):
        done, report = self.run_command(PYTHON, "-W", "ignore", PROGRAM, backend, TORCHINDUCTOR_CACHE_DIR=str(self.scratch / "torchinductor_test"))
        self.assertEqual(done.returncode, 0, done.stderr)
        return report["findings"]

    def lines(self, findings):
        for finding in findings:
            self.assertEqual(pathlib.Path(finding["location"]["file"]).name, NAME)
        return sorted(finding["location"]["line"] for finding in findings)

    def test_each_function(self):
        """Recompiled or not, each operator that widens is one finding; two of one function are two."""
        for backend in ("eager", "aot_eager"):
            with self.subTest(backend=backend):
                findings = self.watched(backend)
                self.assertEqual(self.lines(findings), sorted(marked_line(NAME, name) for name in ("one", "other", "several", "several")))
                for finding in findings:
                    self.assertEqual((finding["rule"], finding["count"]), ("attention-implicit-promotion", 2))
                    self.assertRegex(finding["path"][-1]["note"], GENERATED)

    def test_a_graph_of_fx(self):
        findings = self.watched("fx")
        self.assertEqual(set(self.lines(findings)), {marked_line(NAME, "run")})
        self.assertEqual(sum(finding["count"] for finding in findings), 8)
        for finding in findings:
            self.assertRegex(finding["path"][-1]["note"], GENERATED)

    def test_inductor(self):
        """Its kernels make no record: what they wrote is told by the allocator, as made in the compiled region."""
        if shutil.which("c++") is None and shutil.which("g++") is None:
            self.skipTest("inductor needs a C++ compiler")
        [finding] = self.watched("inductor")
        self.assertEqual((finding["rule"], self.lines([finding])), ("attention-mixed-dtypes", [marked_line(NAME, "table_of")]))
        self.assertEqual([sink["role"] for sink in finding["sinks"]], ["q"])
        self.assertRegex(finding["path"][-1]["note"], r"^'q' is made by code that torch.compile compiled \(Torch-Compiled Region: 0/0\)")


if __name__ == "__main__":
    skip_without_torch()
    main()
