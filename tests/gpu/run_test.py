"""tests/gpu/run.sh judged from outside on a machine without a GPU: its programs are stood in for by scripts that note how
they were called.

Usage: run_test.py
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
NAMES = [f"test {i}, with a comma [and brackets]" for i in range(20)]
TEST_GPU = r"""#!/bin/sh
case $1 in
  --list-test-names-only) cat "$FAKES/names"; exit 20 ;;
  --input-file) [ ! -f "$FAKES/hang" ] || sleep 60
                cat "$2" >> "$FAKES/ran"; ! grep -q . "$FAKES/fails" 2> /dev/null ;;
esac
"""
PYTHON = r"""#!/bin/sh
shift 2
while [ $# -gt 0 ]; do
  case $1 in
    --table) echo "the table" > "$2"; shift ;;
    --dry-run) echo "bench on CPU" ;;
  esac
  shift
done
"""


class RunTest(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self.scratch.name)
        self.pack = self.root / "pack"
        self.write("pack/bin/test_gpu", TEST_GPU)
        self.write("pack/bin/gpu_probe", "#!/bin/sh\necho 'Some GPU, compute capability 9.0'\n")
        self.write("pack/kernels/libflash_ref.so", "")
        self.write("path/python", PYTHON)
        self.write("names", "".join(f"{name}\n" for name in NAMES))

    def tearDown(self):
        self.scratch.cleanup()

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)

    def run_script(self, *arguments, gpu=True):
        if gpu:
            self.write("path/nvidia-smi", "#!/bin/sh\necho 'GPU 0: Some GPU'\n")
        path = f"{self.root / 'path'}:{os.environ['PATH']}"
        if not gpu:  # a machine that has one says so here too
            self.write("path/nvidia-smi", "#!/bin/sh\nexit 9\n")
        environment = {**os.environ, "PATH": path, "FAKES": str(self.root), "PYTHON": str(self.root / "path/python")}
        done = subprocess.run(["sh", HERE / "run.sh", *arguments], env=environment, capture_output=True, text=True, timeout=600)
        return done.returncode, done.stdout, done.stderr

    def sanitizer(self, text):
        self.write("path/compute-sanitizer", f"#!/bin/sh\n{text}\n")

    def test_without_a_gpu_it_says_so(self):
        status, out, _ = self.run_script(str(self.pack), gpu=False)
        self.assertEqual((status, out), (77, "skipped: no CUDA device: nvidia-smi finds none\n"))

    def test_wrong_arguments(self):
        status, _, error = self.run_script("--dry", str(self.pack))
        self.assertEqual(status, 2)
        self.assertIn("'--dry' is no option; expected --dry-run", error)
        status, _, error = self.run_script(str(self.root / "none"))
        self.assertEqual(status, 2)
        self.assertIn("make it with tests/gpu/pack.sh BUILD", error)

    def test_a_dry_run_skips_what_needs_a_gpu_and_does_the_rest(self):
        status, out, _ = self.run_script("--dry-run", str(self.pack), gpu=False)
        self.assertEqual(status, 77)
        self.assertIn("20 tests of accuracy", out)
        for name in ("accuracy", "memcheck", "racecheck"):
            self.assertIn(f"== {name}: skipped: no CUDA device", out)
        self.assertIn("bench on CPU", out)
        self.assertFalse((self.root / "ran").exists())
        self.assertTrue(out.endswith("skipped: accuracy memcheck racecheck cupti torch\nthe table\n"))

    def test_every_test_runs_once_and_the_table_is_last(self):
        self.sanitizer('echo "$@" >> "$FAKES/sanitized"; cat "$7" >> "$FAKES/small"')
        status, out, _ = self.run_script(str(self.pack))
        self.assertEqual(status, 0, out)
        ran = (self.root / "ran").read_text().splitlines()
        self.assertEqual(sorted(ran), sorted(name.replace(",", "\\,").replace("[", "\\[").replace("]", "\\]")
                                             for name in NAMES))
        tools = [line.split()[1] for line in (self.root / "sanitized").read_text().splitlines()]
        self.assertEqual(sorted(tools), ["memcheck", "racecheck"])
        small = (HERE / "small_tests.txt").read_text().splitlines()
        self.assertEqual(len((self.root / "small").read_text().splitlines()), 2 * len(small))
        self.assertTrue(out.endswith("skipped: cupti torch\nthe table\n"))

    def test_what_fails_is_named_and_the_rest_still_runs(self):
        self.write("fails", "yes")
        self.sanitizer("exit 9")
        status, out, _ = self.run_script(str(self.pack))
        self.assertEqual(status, 1)
        self.assertTrue(out.endswith("failed: accuracy(1) memcheck(9) racecheck(9)\nthe table\n"), out[-300:])

    def test_only_the_named_steps(self):
        self.sanitizer('echo "$@" >> "$FAKES/sanitized"')
        status, out, _ = self.run_script("--only", "racecheck bench", str(self.pack))
        self.assertEqual(status, 0, out)
        self.assertEqual([line.split()[1] for line in (self.root / "sanitized").read_text().splitlines()], ["racecheck"])
        self.assertFalse((self.root / "ran").exists())
        self.assertNotIn("== accuracy", out)

    def test_a_limit_for_all(self):
        """A step gets what is left; with nothing left it has failed."""
        status, out, _ = self.run_script("--seconds", "3", str(self.pack))
        self.assertEqual(status, 1)
        self.assertIn("no time left", out)
        self.assertIn("accuracy(over-0-s)", out)

    def test_a_command_that_hangs_is_ended_and_named(self):
        self.write("hang", "")
        self.write("commands", f"FAKES='{self.root}' sh '{self.pack}/bin/test_gpu' --input-file /dev/null\necho beside\nexit 77\n")
        done = subprocess.run(["sh", HERE / "side_by_side.sh", "5", self.root / "commands"], capture_output=True, text=True,
                              timeout=600)
        self.assertEqual(done.returncode, 1)
        self.assertIn("took more than 5 s and was ended", done.stdout)
        self.assertIn("beside", done.stdout)

    def test_all_skipped_is_skipped(self):
        self.write("commands", "echo why; exit 77\nexit 77\n")
        done = subprocess.run(["sh", HERE / "side_by_side.sh", "9", self.root / "commands"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 77)
        self.assertIn("why", done.stdout)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v"])
