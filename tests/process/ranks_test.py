"""Jobs of several ranks, as mpirun and torchrun start them: a journal for each, one report, and the rank that differs named."""
import glob
import os
import pathlib
import re
import shutil
import subprocess

from support import BUILT, LONG, Case, environment, main, marked_line, preloadable

PROGRAM = BUILT["source"] + "/programs/ranks.py"
RANKS, ODD = 4, 2


def has_torch(python):
    """PyTorch 2: Debian's 1.13 fails in its own launcher under Python 3.11."""
    code = ("import sys, torch, torch.distributed as d; "
            "sys.exit(not (torch.__version__[0] >= '2' and d.is_available() and d.is_gloo_available()))")
    return os.access(python, os.X_OK) and subprocess.run([python, "-c", code], capture_output=True, check=False).returncode == 0


class Ranks(Case):
    def setUp(self):
        super().setUp()
        if BUILT["sanitized"]:
            self.skipTest("an instrumented library cannot be loaded into Python")
        self.journal = self.scratch / "journal"

    def run_job(self, *words, **changes):
        done = subprocess.run([str(word) for word in words], env=environment(**changes), cwd=self.scratch, timeout=LONG,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        ranks = dict(re.findall(r"rank (\d+) pid (\d+) status", done.stdout))
        self.assertEqual(sorted(map(int, ranks)), list(range(RANKS)), done.stdout)
        statuses = dict(re.findall(r"rank (\d+) pid \d+ status (\d+)", done.stdout))
        self.assertEqual({int(rank) for rank, status in statuses.items() if status != "0"}, {ODD})
        return {int(rank): int(pid) for rank, pid in ranks.items()}

    def expect(self, pids):
        """Journals of all ranks, under their names, and a report that points at the odd one."""
        for rank, pid in pids.items():
            self.assertEqual(len(glob.glob(f"{self.journal}/*.{pid}.*.rank{rank}.dtype-san")), 1, os.listdir(self.journal))
        done, report = self.report(self.journal)
        self.assertEqual(done.returncode, 1, done.stderr)
        [finding] = report["findings"]
        self.assertEqual([(one["rank"], one["pid"]) for one in finding["occurrences"]], [(ODD, pids[ODD])])
        [difference] = [entry for entry in report["not_analysed"] if entry["reason"] == "ranks-differ"]
        self.assertIn(f"cos is float32 in rank {ODD}, bfloat16 in ranks 0-1, 3", difference["detail"])
        self.assertTrue(difference["file"].endswith(f"programs/ranks.py:{marked_line('ranks.py', 'rank')}"), difference)
        self.assertIn(f"float32 in rank {ODD}", done.stdout)
        self.assertIn(f"    rank {ODD}, pid {pids[ODD]} on ", done.stdout)

    def variables(self):
        return {"LD_PRELOAD": preloadable(BUILT["library"]), "DTYPE_SAN_OPTIONS": f"journal={self.journal}:print_summary=0:verbosity=0"}

    def mpirun(self):
        if shutil.which("mpirun") is None:
            self.skipTest("mpirun is not installed (Debian: openmpi-bin)")
        words = ["mpirun", "-np", RANKS, "--oversubscribe"] + (["--allow-run-as-root"] if os.geteuid() == 0 else [])
        return words + ["--mca", "btl", "self,vader,tcp", "/usr/bin/python3", PROGRAM, BUILT["kernels"], ODD, "mpi"]

    def test_mpirun_with_a_bare_preload(self):
        words = self.mpirun()
        forwarded = [word for name in self.variables() for word in ("-x", name)]
        self.expect(self.run_job(*words[:3], *forwarded, *words[3:], **self.variables()))

    def test_mpirun_under_the_launcher(self):
        self.expect(self.run_job(BUILT["command"], "run", "--journal", self.journal, "--", *self.mpirun()))

    def test_the_launcher_under_mpirun(self):
        words = self.mpirun()
        at = words.index("/usr/bin/python3")
        self.expect(self.run_job(*words[:at], BUILT["command"], "run", "--journal", self.journal, "--", *words[at:]))

    def torchrun(self, python):
        program = [python, "-m", "torch.distributed.run", f"--nproc_per_node={RANKS}", "--standalone", PROGRAM,
                   BUILT["kernels"], ODD, "torch"]
        return {"OMP_NUM_THREADS": "1", **self.variables()}, program

    def test_torchrun(self):
        pythons = [python for python in BUILT["torch_pythons"] if has_torch(python)]
        if not pythons:
            self.skipTest("no PyTorch 2 with torch.distributed and gloo on this machine")
        for python in pythons:
            with self.subTest(python=python):
                self.journal = self.scratch / pathlib.Path(python).parent.parent.name
                variables, program = self.torchrun(python)
                self.expect(self.run_job(*program, **variables))


if __name__ == "__main__":
    main()
