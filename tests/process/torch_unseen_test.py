"""Calls of known names that only an extension module makes are counted as not seen, by name, and the closing line of a run without
findings says so; those from inside a watched call are part of it."""
import pathlib
import shutil
import subprocess

from support import BUILT, LONG, Case, environment, main
from torch_support import PYTHON, skip_without_torch

PROGRAMS = pathlib.Path(BUILT["source"]) / "programs"


class Unseen(Case):
    def built(self, *flags):
        """The extension, for PYTHONPATH."""
        header = subprocess.run([PYTHON, "-c", "import sysconfig; print(sysconfig.get_path('include'))"], env=environment(), text=True,
                                capture_output=True, timeout=LONG, check=True).stdout.strip()
        if not pathlib.Path(header, "Python.h").exists() or shutil.which("cc") is None:
            self.skipTest(f"no C compiler, or no {header}/Python.h (Debian has it in python3-dev)")
        subprocess.run(["cc", "-shared", "-fPIC", f"-I{header}", *flags, "-o", self.scratch / "flash_attn_2_cuda.so", PROGRAMS / "extension.c"], check=True)
        return {"PYTHONPATH": str(self.scratch), "PYTHONDONTWRITEBYTECODE": "1"}

    def watched(self, how, places):
        words = PYTHON, PROGRAMS / "torch_unseen.py", how
        plain = self.execute(*words, **places)
        self.assertEqual(plain.returncode, 0, plain.stderr)
        done, report = self.run_command(*words, options=("--options=torch=origins",), **places)
        self.assertEqual((done.returncode, done.stdout), (0, plain.stdout), done.stderr)
        self.assertEqual((report["findings"], report["watched"]["calls"]["flash_attn_func"]), ([], 1))
        return done.stderr.splitlines()[-1], {one["function"]: one["detail"] for one in report["not_analysed"] if one["reason"] == "not-seen"}

    def test_bare_calls(self):
        for flags in ((), ("-DTWO_PHASES",)):
            with self.subTest(flags=flags):
                closing, not_seen = self.watched("bare", self.built(*flags))
                self.assertEqual(not_seen, {f"flash_attn_2_cuda.{name}": f"{count} calls, not looked at"
                                            for name, count in (("fwd", 3), ("varlen_fwd", 1), ("bwd", 1))})
                self.assertEqual(closing, "dtype-san: no findings; 1 call to watched kernels: 1 of flash_attn_func; not seen: calls of "
                                 "flash_attn_2_cuda.bwd, flash_attn_2_cuda.fwd, flash_attn_2_cuda.varlen_fwd")

    def test_calls_inside_a_watched_one(self):
        closing, not_seen = self.watched("inside", self.built())
        self.assertEqual((not_seen, "not seen" in closing), ({}, False))


if __name__ == "__main__":
    skip_without_torch()
    main()
