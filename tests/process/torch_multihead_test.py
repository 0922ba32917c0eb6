"""The fast path of nn.MultiheadAttention makes no call of scaled_dot_product_attention: its own operator is watched in that one's place,
with the weights that it takes."""
import json
import pathlib

from support import BUILT, Case, main, marked_line, operands
from torch_support import PYTHON, skip_without_torch

PROGRAM = pathlib.Path(BUILT["source"]) / "programs" / "torch_multihead.py"
API = "_native_multi_head_attention"
MIXED, OTHER = "attention-mixed-dtypes", "operator-mixed-dtypes"
ROLES = ("q", "k", "v", "qkv_weight", "proj_weight", "proj_bias")


def sinks(finding):
    return sorted((sink["api"], sink["role"]) for sink in finding["sinks"])


def notes(report):
    return [entry["detail"] for entry in report["not_analysed"] if "under autocast" in entry["detail"]]


class Multihead(Case):
    def watched(self, *how, options="torch=origins"):
        done, report = self.run_command(PYTHON, "-W", "ignore", PROGRAM, *how, options=(f"--options=max_findings=1000:{options}",))
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout, report

    def unchanged(self, how):
        printed, report = self.watched(how)
        self.assertEqual(printed, self.execute(PYTHON, "-W", "ignore", PROGRAM, how).stdout)
        return printed, report

    def test_right(self):
        printed, report = self.unchanged("right")
        self.assertNotIn("Error", printed)
        self.assertEqual((report["findings"], notes(report)), ([], []))
        self.assertGreaterEqual(report["watched"]["calls"][API], 11, printed)

    def test_wrong(self):
        """The report opens with the operator that widened the one operand that differs."""
        printed, report = self.unchanged("wrong")
        self.assertEqual(printed.count("RuntimeError"), 11, printed)
        found = {finding["location"]["line"]: finding for finding in report["findings"]}
        for role in ROLES:
            finding = found.pop(marked_line(PROGRAM.name, f"wide_{role}"))
            self.assertEqual(finding["rule"], MIXED)
            self.assertIn((API, role), sinks(finding))
            self.assertEqual({name for api, name in sinks(finding) if api == API}, {role})
            self.assertEqual([step["operator"] for step in finding["path"]], ["aten::mul"])
            self.assertEqual(operands(finding), {name: "float32" if name == role else "bfloat16" for name in ROLES})
        forgotten = found.pop(marked_line(PROGRAM.name, "forgotten"))
        self.assertEqual((forgotten["rule"], sinks(forgotten)), (MIXED, [(API, "proj_bias"), (API, "proj_weight")]))
        mask = found.pop(marked_line(PROGRAM.name, "wide_mask"))
        self.assertEqual((mask["rule"], sinks(mask)), (OTHER, [("aten::baddbmm", "x")]))
        # The fast path is not taken for q beside another k.
        self.assertEqual(found.pop(marked_line(PROGRAM.name, "other_q"))["rule"], OTHER)
        wide = found.pop(marked_line(PROGRAM.name, "wide_input"))
        self.assertEqual((wide["rule"], wide["level"], sinks(wide)), (MIXED, "error", [(API, role) for role in "kqv"]))
        # A nested tensor has no sizes to read: what is called with its memory inside is found.
        nested = found.pop(marked_line(PROGRAM.name, "wide_nested"))
        self.assertEqual((nested["rule"], sinks(nested)), (OTHER, [("aten::mm", "a")]))
        self.assertEqual(found, {})

    def each(self, how, options):
        """What is found of each call that raises, by its line: the operand that is unlike the others alone."""
        printed, report = self.watched("each", how, options=options)
        cases = json.loads(printed)
        found = {}
        for finding in report["findings"]:
            self.assertEqual(pathlib.Path(finding["location"]["file"]).name, "calls.py")
            found.setdefault(finding["location"]["line"], []).append((finding["rule"], sinks(finding)))
        raised = {line: [(MIXED, [(API, case["role"])])] for line, case in enumerate(cases, 1) if case["raised"]}
        self.assertEqual(found, raised)
        self.assertEqual(report["watched"]["calls"], {**report["watched"]["calls"], API: len(cases)})
        return cases, report

    def test_each_operand_in_each_dtype(self):
        for options in ("torch=contracts", "torch=calls"):
            with self.subTest(options=options):
                cases, _ = self.each("plain", options)
                self.assertEqual([case for case in cases if case["raised"] != (case["most"] != case["dtype"] and case["role"] in ROLES)], [])

    def test_each_under_autocast(self):
        """It recasts all but float64; where it does not recast the operator, it may recast what that calls."""
        for how in ("autocast", "parts"):
            with self.subTest(how=how):
                cases, report = self.each(how, "torch=contracts")
                mixed = [case for case in cases if case["most"] != case["dtype"] and case["role"] in ROLES]
                self.assertEqual([case for case in cases if case["raised"] != (case in mixed and "torch.float64" in case.values())], [])
                self.assertEqual(bool(notes(report)), how == "autocast")

    def test_recast(self):
        """The weights of a float32 layer that is given what a layer before it made: read in four bytes and written in two, three times."""
        printed, report = self.watched("recast")
        self.assertEqual((printed.split()[1:], report["findings"]), (["torch.bfloat16"] * 3, []))
        [note] = notes(report)
        self.assertRegex(note, f"torch: under autocast {API} casts 'qkv_weight', 'proj_weight', 'proj_bias' inside, for its operands differ in "
                         rf"dtype: 3 calls, {3 * (96 * 32 + 32 * 32 + 32) * (4 + 2)} bytes read and written, at ")


if __name__ == "__main__":
    skip_without_torch()
    main()
