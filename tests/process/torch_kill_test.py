"""Of a PyTorch job that is killed nothing is lost: it prints a number when a wrong call has been raised on, and is killed at random;
each number that it printed is found, at its line and with its origin, and calls are counted up to the last power of two.
KILLS=1000 in the environment for the long run."""
import os
import pathlib
import random
import signal
import subprocess
import time

from support import BUILT, Case, environment, main, preloadable
from torch_support import PYTHON, skip_without_torch

PROGRAM = pathlib.Path(BUILT["source"]) / "programs" / "torch_numbers.py"
KILLS = int(os.environ.get("KILLS", "24"))
BATCH = 24
ALONE = KILLS // 8  # that import torch themselves; the others are forks of one that has


def told(count):
    """What a journal has of a count at least: the last power of two."""
    return 1 << (count.bit_length() - 1) if count else 0


class Kill(Case):
    def start(self, *words, options):
        settings = f"journal={self.scratch / 'journal'}:max_findings=3000:print_summary=0:{options}"
        job = subprocess.Popen([PYTHON, PROGRAM, *words], env=environment(LD_PRELOAD=preloadable(BUILT["library"]), DTYPE_SAN_OPTIONS=settings),
                               cwd=self.scratch, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
        self.addCleanup(job.communicate)
        self.addCleanup(job.kill)
        self.assertEqual(job.stdout.readline(), b"ready\n")
        return job

    def kill(self, pid, seed, output):
        """A moment after some number; one in eight at once. Gives the lines that came before."""
        chosen = random.Random(seed)
        wanted = 1 if seed % 8 == 0 else chosen.randrange(1, 200)
        lines = [output.readline() for _ in range(wanted - 1)]
        time.sleep(chosen.uniform(0, 0.003))
        os.kill(pid, signal.SIGKILL)
        return lines

    def alone(self, seed, options):
        """The pid, and of each number that it printed the calls by then."""
        job = self.start(options=options)
        lines = [job.stdout.readline(), *self.kill(job.pid, seed, job.stdout)]
        rest = job.communicate()[0]
        self.assertEqual(job.returncode, -signal.SIGKILL)
        lines += rest[:rest.rfind(b"\n") + 1].splitlines()
        return job.pid, self.numbers(lines, job.pid)

    def forked(self, zygote, seed):
        zygote.stdin.write(b"go\n")
        first = zygote.stdout.readline()
        pid = int(first.split()[0])
        lines = [first, *self.kill(pid, seed, zygote.stdout)]
        while not (line := zygote.stdout.readline()).startswith(b"ended"):
            self.assertNotEqual(line, b"", "the program that forks has ended")
            lines.append(line)
        self.assertEqual(line.split(), [b"ended", b"%d" % pid, b"%d" % signal.SIGKILL])
        return pid, self.numbers(lines, pid)

    def numbers(self, lines, expected):
        calls = {}
        for line in lines:
            pid, number, count = map(int, line.split())
            self.assertEqual((pid, number), (expected, len(calls)))
            calls[number] = count
        return calls

    def read(self, options):
        """Of each pid the numbers in its journal with their counts, and the report."""
        done, report = self.report("--options=symbolize=0", self.scratch / "journal")
        self.assertIn(done.returncode, (1, 3), done.stderr)
        found = {}
        for finding in report["findings"]:
            number = (finding["location"]["line"] if "origins" in options else finding["sinks"][0]["line"]) - 1
            self.assertEqual(pathlib.Path(finding["location"]["file"]).name, "numbers.py")
            if "origins" in options:
                self.assertEqual(finding["path"][-1]["note"], "'q' is made by aten::ones()")
            for one in finding["occurrences"]:
                numbers = found.setdefault(one["pid"], {})
                numbers[number] = numbers.get(number, 0) + one["count"]
        return found, report

    def expect(self, jobs, options):
        found, report = self.read(options)
        for pid, numbers in jobs:
            kept = found.get(pid, {})
            short = {number: kept.get(number, 0) for number in numbers if not told(number % 5 + 1) <= kept.get(number, 0) <= number % 5 + 1}
            self.assertEqual(short, {}, f"pid {pid}: {options}")
        calls = [max(numbers.values(), default=0) for _, numbers in jobs]
        counted = report["watched"]["calls"]["scaled_dot_product_attention"]
        self.assertGreaterEqual(counted, sum(map(told, calls)))
        # Of what came between the last number and its end a job has printed nothing: at most the calls of one number more.
        self.assertLessEqual(counted, sum(calls) + 6 * len(jobs))
        ends = {process["pid"]: process["complete"] for process in report["watched"]["processes"]}
        self.assertEqual({ends[pid] for pid, _ in jobs}, {False})
        for journal in self.journals():
            journal.unlink()
        return sum(len(numbers) for _, numbers in jobs)

    def test_forks_of_a_job(self):
        total = 0
        for options in ("torch=origins", "torch=contracts", "torch=calls"):
            zygote = self.start("forks", options=options)
            for first in range(0, KILLS // 3, BATCH):
                jobs = [self.forked(zygote, seed) for seed in range(first, min(first + BATCH, KILLS // 3))]
                total += self.expect(jobs, options)
            zygote.communicate()
            self.assertEqual(zygote.returncode, 0)
        print(f"{KILLS // 3 * 3} forks killed, {total} numbers printed, all found")
        self.assertGreater(total, KILLS)

    def test_jobs(self):
        total = self.expect([self.alone(seed, "torch=origins") for seed in range(1, ALONE + 1)], "torch=origins")
        print(f"{ALONE} jobs killed, {total} numbers printed, all found")
        self.assertGreater(total, ALONE)


if __name__ == "__main__":
    skip_without_torch()
    main()
