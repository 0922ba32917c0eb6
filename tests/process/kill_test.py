"""Nothing is lost: a job prints a number when a watched call has returned and is killed at random; every number that it
printed is found by the reader. KILLS=1000 in the environment for the long run."""
import os
import random
import re
import signal
import subprocess
import time

from support import BUILT, Case, environment, main, preloadable

KILLS = int(os.environ.get("KILLS", "60"))
BATCH = 20


class Kill(Case):
    def killed(self, seed):
        """The pid and the numbers that it printed. One job in eight is killed in its first milliseconds, the others a moment after
        some number: how fast they are does not matter."""
        settings = f"journal={self.scratch / 'journal'}:max_findings=3000"
        with subprocess.Popen([BUILT["kernel_calls"], "numbers", "2900"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              env=environment(LD_PRELOAD=preloadable(BUILT["library"]), DTYPE_SAN_OPTIONS=settings)) as job:
            random.seed(seed)
            wanted = 0 if seed % 8 == 0 else random.randrange(1, 100)
            printed = b"".join(job.stdout.readline() for _ in range(wanted))
            time.sleep(random.uniform(0, 0.001 if wanted else 0.02))
            job.send_signal(signal.SIGKILL)
            printed += job.stdout.read()
            job.wait()
        whole = printed[:printed.rfind(b"\n") + 1]
        return job.pid, [int(number) for number in whole.split()]

    def found(self):
        """The numbers in the journals of each pid."""
        done, report = self.report("--options=symbolize=0", self.scratch / "journal")
        self.assertIn(done.returncode, (0, 1, 3), done.stderr)
        numbers = {}
        for finding in report["findings"]:
            bits, lanes = map(int, re.search(r"bits (\d+), lanes (\d+)", finding["operands"][1]["dtypes"][0]).groups())
            for occurrence in finding["occurrences"]:
                numbers.setdefault(occurrence["pid"], set()).add((lanes - 2) * 120 + bits - 1)
        return numbers

    def test_every_printed_number_is_found(self):
        total = 0
        for start in range(0, KILLS, BATCH):
            jobs = [self.killed(seed) for seed in range(start, min(start + BATCH, KILLS))]
            if not (self.scratch / "journal").exists():
                continue
            found = self.found()
            for pid, numbers in jobs:
                self.assertEqual([number for number in numbers if number not in found.get(pid, ())], [], f"pid {pid}")
                total += len(numbers)
            for journal in self.journals():
                journal.unlink()
        print(f"{KILLS} kills, {total} numbers printed, all found")
        self.assertGreater(total, KILLS)


if __name__ == "__main__":
    main()
