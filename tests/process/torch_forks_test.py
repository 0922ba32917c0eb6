"""Forks beside a thread that trains: libtorch's lock of its list of callbacks, which that thread takes again and again, is not
held for ever in the child, whether the job is run or joined. And what makes a child of PyTorch alone crash."""
import pathlib
import subprocess

from support import BUILT, LONG, Case, environment, main
from torch_support import PYTHON, skip_without_torch

PROGRAM = pathlib.Path(BUILT["source"]) / "programs" / "torch_forks.py"


class Forks(Case):
    def hung(self, *before, join=False):
        """Whether the child of some fork hung, and after how many."""
        job = subprocess.Popen([*map(str, before), "env", f"LD_PRELOAD={self.preload(before)}", PYTHON, PROGRAM], cwd=self.scratch, text=True,
                               env=environment(SLOW_LOCK=BUILT["slow_lock"]), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)
        self.addCleanup(job.communicate)
        self.addCleanup(job.kill)
        self.assertEqual(job.stdout.readline(), "ready\n", job.stderr.read() if job.poll() is not None else "")
        if join:
            done = self.execute(BUILT["command"], "attach", job.pid, "--library", BUILT["library"], "--options",
                                f"journal={self.scratch / 'journal'}")
            self.assertEqual(done.returncode, 0, done.stderr)
        output, errors = job.communicate("\n", timeout=LONG)
        self.assertEqual(job.returncode, 0, errors)
        count, word, hung = output.split()
        self.assertEqual(word, "ended")
        return int(hung), int(count)

    def preload(self, before):
        return f"{BUILT['library']} {BUILT['slow_lock']}" if before else BUILT["slow_lock"]

    def test_the_lock_is_one_that_a_fork_can_meet(self):
        """Without dtype-san: PyTorch itself does not hold it over a fork. Else the tests below would tell nothing."""
        hung, _ = self.hung()
        self.assertGreater(hung, 0)

    def test_run(self):
        hung, count = self.hung(BUILT["command"], "run", "--")
        self.assertEqual(hung, 0, f"at fork {count}")

    def test_joined(self):
        hung, count = self.hung(join=True)
        self.assertEqual(hung, 0, f"at fork {count}")


class Engine(Case):
    """Nothing of dtype-san is in these processes. PyTorch makes its autograd engine anew in a child, when an operator first saves a tensor
    or at the first backward call, and guards that by nothing: of two threads both destroy the old one, and rarely one crashes
    (in 2.13.0 in std::_Sp_counted_base::_M_release of its ThreadPoolShared)."""

    def status(self, *words):
        done = self.execute(PYTHON, PROGRAM.with_name("torch_engine.py"), *words, LD_PRELOAD=BUILT["meet_in_engine"])
        return done.stdout.strip() or done.stderr

    def test_two_threads_make_it_anew(self):
        """If this fails, PyTorch guards it by now: make_engine_anew() of torch_training.py can go."""
        self.assertEqual(self.status(), "7")

    def test_a_thread_that_uses_it_first_makes_it_for_all(self):
        self.assertEqual(self.status("first"), "0")


if __name__ == "__main__":
    skip_without_torch()
    main()
