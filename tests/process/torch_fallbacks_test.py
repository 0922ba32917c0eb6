"""What of attention is slower than it looks: operands that autocast casts inside a call are a note with its cost. On a CPU no
dtype, of inputs or mask, makes PyTorch take another backend, so there is nothing to report of that."""
import pathlib

from support import BUILT, Case, main, marked_line
from torch_support import PYTHON, skip_without_torch

PROGRAM = "torch_fallbacks.py"


class Fallbacks(Case):
    def watched(self, how, options="torch=origins"):
        done, report = self.run_command(PYTHON, pathlib.Path(BUILT["source"]) / "programs" / PROGRAM, how, options=(f"--options={options}",))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.found = [finding["rule"] for finding in report["findings"] for _ in range(finding["count"])]
        return done.stdout, [one["detail"] for one in report["not_analysed"] if one["reason"] == "note"]

    def test_recast(self):
        """256 elements of four bytes are read and as many of two bytes written, three times."""
        for options in ("torch=origins", "torch=contracts"):
            with self.subTest(options=options):
                printed, [note] = self.watched("recast", options)
                self.assertEqual(self.found, [])
                self.assertEqual(printed.split(), ["torch.bfloat16"] * 3)
                place = f"{PROGRAM}:{marked_line(PROGRAM, 'recast')}"
                self.assertRegex(note, "torch: under autocast scaled_dot_product_attention casts 'q' inside, for its operands differ in dtype: "
                                 rf"3 calls, {3 * 256 * (4 + 2)} bytes read and written, at .*{place}$")

    def test_operands_of_one_dtype_are_what_autocast_is_for(self):
        self.assertEqual((self.watched("all_recast"), self.found), (("torch.bfloat16\n", []), []))

    def test_no_dtype_changes_the_backend(self):
        """Asked of PyTorch itself: with and without a mask one backend for all dtypes that are taken. Findings are those that raise."""
        printed, notes = self.watched("pairs")
        self.assertEqual(self.found, ["attention-mask-dtype"] * printed.count("raises"))
        backends = {}
        for line in printed.replace("raises\n", "").splitlines():
            has_mask, *names = line.split()
            backends.setdefault(has_mask, set()).add(tuple(names))
        self.assertEqual({has_mask: len(names) for has_mask, names in backends.items()}, {"False": 1, "True": 1}, backends)
        self.assertEqual(notes, [])


if __name__ == "__main__":
    skip_without_torch()
    main()
