"""Jobs that can open or write little: no descriptor is free, another root or user, a file size limit, a journal that is taken
away. The job behaves as without the library; what can be recorded is, and what cannot is told with its reason."""
import os
import subprocess
import sys

from support import BUILT, Case, ask, environment, main, preloadable


class Lost(Case):
    def confined(self, *words, options=(), status=0):
        """Under `dtype-san run`, beside the program alone: its output is the same. Gives stderr and the report."""
        plain = self.execute(BUILT["confined"], *words)
        if plain.returncode == 77:
            self.skipTest(f"'{words[0]}' is not allowed here")
        self.assertEqual(plain.returncode, 0, plain.stderr)
        done, report = self.run_command(BUILT["confined"], *words, options=options)
        self.assertEqual((done.returncode, done.stdout), (status, plain.stdout), done.stderr)
        return done.stderr, report

    def counts(self, report):
        return report["watched"]["calls"]["flash_ref_rotary"], sorted(finding["count"] for finding in report["findings"])

    def test_no_descriptor_is_free(self):
        for limit in (300, 60, 5):
            with self.subTest(limit=limit):
                _, report = self.confined("full", limit)
                self.assertEqual(self.counts(report), (1, [1]))
                self.assertEqual((report["not_analysed"], [process["complete"] for process in report["watched"]["processes"]]),
                                 ([], [True]))
                self.assertIn("full", report["watched"]["processes"][0]["command"])

    def test_no_descriptor_is_free_in_a_bare_preload(self):
        for limit in (300, 60):
            with self.subTest(limit=limit):
                done = self.preloaded(BUILT["confined"], "full", limit)
                [journal] = self.journals()
                self.assertEqual((done.returncode, done.stdout), (0, "open -1\n"), done.stderr)
                self.assertIn(f", journal '{journal}'; 'dtype-san report' prints it", done.stderr)
                done, report = self.report(self.scratch / "journal")
                self.assertEqual((done.returncode, self.counts(report)), (1, (1, [1])), done.stderr)
                journal.unlink()

    def test_a_kernel_that_is_called_first_when_none_is_free(self):
        """A program that opens the kernels itself begins its journal at the first call."""
        program = (BUILT["source"] + "/programs/ctypes_calls.py", BUILT["kernels"])
        fill = ("import os, resource, runpy, sys; resource.setrlimit(resource.RLIMIT_NOFILE, (200, 200)); sys.argv = sys.argv[1:]\n"
                "import ctypes, _ctypes, struct\nload = ctypes.CDLL\n"
                "def full(*words, **more):\n"
                "  library = load(*words, **more)\n"
                "  try:\n    while True: os.dup(0)\n  except OSError: return library\n"
                "ctypes.CDLL = full\n"
                "with open(sys.argv[0]) as file: code = compile(file.read(), sys.argv[0], 'exec')\n"
                "exec(code, {'__name__': '__main__'})\n")
        words = (sys.executable, "-c", fill, *program)
        plain = self.execute(*words)
        self.assertEqual(plain.returncode, 0, plain.stderr)
        done = self.preloaded(*words)
        self.assertEqual((done.returncode, done.stdout), (0, plain.stdout), done.stderr)
        [journal] = self.journals()
        self.assertIn(f", journal '{journal}'; 'dtype-san report' prints it", done.stderr)
        done, report = self.report(journal)
        self.assertEqual((done.returncode, self.counts(report)[0], report["not_analysed"]), (1, 4, []), done.stderr)
        [process] = report["watched"]["processes"]
        self.assertTrue(process["complete"])
        self.assertIn("ctypes_calls.py", process["command"])

    def test_descriptors_that_become_free_again(self):
        _, report = self.confined("freed")
        calls, findings = self.counts(report)
        self.assertEqual((calls, sum(findings)), (4, 4))
        self.assertEqual(report["not_analysed"], [])

    def test_a_low_limit_is_all_the_jobs(self):
        for limit in (12, 64, 100):
            with self.subTest(limit=limit):
                plain = self.execute(BUILT["confined"], "low", limit)
                self.assertEqual(plain.stdout, f"first 3 last {limit - 1}\n")
                _, report = self.confined("low", limit)
                self.assertEqual(self.counts(report), (1, [1]))

    def test_a_limit_that_was_low_from_the_start(self):
        """Before the program runs: nothing may be kept at all."""
        script = f"ulimit -n 40; exec '{BUILT['confined']}' low 40"
        self.assertEqual(self.preloaded("bash", "-c", script).stdout, "first 3 last 39\n")
        self.assertEqual(self.counts(self.report(self.scratch / "journal")[1]), (1, [1]))

    def test_another_root(self):
        empty = self.scratch / "empty"
        empty.mkdir()
        _, report = self.confined("chroot", empty)
        self.assertEqual(self.counts(report), (1, [1]))
        [finding] = report["findings"]
        self.assertTrue(finding["location"]["file"].endswith("rotary_call.h"), finding["location"])

    def test_another_user(self):
        said, report = self.confined("user", 65534, status=3)
        self.assertEqual(self.counts(report), (1, [1]))  # the parent's; its child can make no journal
        self.assertIn("dtype-san: 1 finding could not be recorded: Permission denied\n", said)
        self.assertIn("1 process could not create a journal, so that what it called is not known: Permission denied", said)
        self.assertEqual([entry["reason"] for entry in report["not_analysed"]], ["lost", "lost"])

    def test_a_file_size_limit(self):
        said, report = self.confined("size", 0, status=3)
        self.assertIn("1 finding could not be recorded: File too large", said)
        self.assertEqual(report["findings"], [])
        plain = self.execute(BUILT["command"], "run", "--", BUILT["confined"], "size", 0)
        self.assertEqual(plain.returncode, 3)
        self.assertIn("no findings recorded, but not all could be", plain.stderr)
        self.assertNotIn("no findings;", plain.stderr)
        self.confined("size", 0, options=["--error-exitcode=9"], status=9)

    def test_a_journal_that_is_removed(self):
        folder = self.scratch / "kept"
        folder.mkdir()
        said, report = self.confined("removed", folder, options=["--journal", folder], status=3)
        self.assertIn("1 finding could not be recorded: the journal was removed or replaced", said)
        self.assertIn("1 journal of 1 that were begun is not there any more", said)
        self.assertEqual(report["findings"], [])

    def test_the_reason_is_in_the_journal(self):
        """A limit that lets the closing record through: it names what kept the findings out."""
        words = f"'{BUILT['kernel_calls']}' numbers 40"
        self.preloaded("bash", "-c", f"ulimit -f 2; {words}", options="print_summary=0")
        done, report = self.report("--options=symbolize=0", self.scratch / "journal")
        self.assertEqual(done.returncode, 3)
        self.assertNotIn("max_findings", " ".join(entry["detail"] for entry in report["not_analysed"]))

    def test_max_findings_is_blamed_where_it_is_the_reason(self):
        self.preloaded(BUILT["kernel_calls"], "numbers", 40, options="max_findings=10")
        done, report = self.report("--options=symbolize=0", self.scratch / "journal")
        self.assertEqual((done.returncode, [entry["detail"] for entry in report["not_analysed"]]),
                         (1, ["30 further distinct findings were not recorded (option max_findings)"]))

    def test_a_size_limit_of_our_own_is_no_failure(self):
        self.preloaded(BUILT["kernel_calls"], "numbers", 2900, options="max_findings=3000:max_journal_mb=1")
        _, report = self.report("--options=symbolize=0", self.scratch / "journal")
        details = " ".join(entry["detail"] for entry in report["not_analysed"])
        self.assertIn("the journal reached max_journal_mb=1", details)
        self.assertNotIn("max_findings", details)


class Switches(Case):
    def job(self, mode, options="start=on", **changes):
        folder = self.scratch / "journal"
        job = subprocess.Popen([BUILT["confined"], mode], cwd=self.scratch, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               env=environment(LD_PRELOAD=preloadable(BUILT["library"]),
                                               DTYPE_SAN_OPTIONS=f"journal={folder}:print_summary=0:{options}", **changes))
        self.addCleanup(job.communicate)
        self.addCleanup(job.kill)
        return job

    def tool(self, *words, status=0):
        done = self.execute(BUILT["command"], *words)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def is_on(self, pid):
        return "switched on" in self.tool("doctor", pid, "--library", BUILT["library"])

    def kept_open(self, pid, name):
        """How many files of that name. A descriptor may be closed while it is looked at."""
        folder, found = f"/proc/{pid}/fd", 0
        for descriptor in os.listdir(folder):
            try:
                found += name in os.readlink(f"{folder}/{descriptor}")
            except FileNotFoundError:
                continue
        return found

    def test_a_child_has_a_switch_of_its_own(self):
        job = self.job("fork")
        _, parent, _, child = job.stdout.readline().split()
        self.assertIn("is now not watched", self.tool("off", child))
        self.assertEqual((self.is_on(parent), self.is_on(child)), (True, False))
        self.assertIn("is now watched", self.tool("on", child))
        self.assertIn("is now not watched", self.tool("off", parent))
        self.assertEqual((self.is_on(parent), self.is_on(child)), (False, True))
        for pid in (parent, child):
            self.until(lambda process=pid: self.kept_open(process, ".dtype-san"))  # its first record makes it
            self.assertEqual(self.kept_open(pid, ".dtype-san"), 1, "a parent's journal is left over")
            self.assertEqual(self.kept_open(pid, "dtype-san-control"), 1, "a switch is left over")
        job.stdin.close()
        job.stdin = None
        self.assertEqual(job.wait(), 0)

    def test_a_child_starts_as_its_parent_is(self):
        job = self.job("fork")
        _, parent, _, child = job.stdout.readline().split()
        self.assertTrue(self.is_on(child))
        self.tool("off", parent)
        self.assertTrue(self.is_on(child))

    def test_a_child_of_a_dormant_job(self):
        """It has made no call that is looked at, and has a switch of its own all the same."""
        job = self.job("fork", options="start=dormant")
        _, parent, _, child = job.stdout.readline().split()
        self.assertIn("is now watched", self.tool("on", child))
        self.assertEqual((self.is_on(parent), self.is_on(child)), (False, True))
        self.until(self.recorded)
        job.stdin.close()
        job.stdin = None
        self.assertEqual(job.wait(), 0)
        _, report = self.report(self.scratch / "journal")
        self.assertEqual([occurrence["pid"] for finding in report["findings"] for occurrence in finding["occurrences"]], [int(child)])

    def test_another_file_in_the_journals_place_is_left_alone(self):
        """A job that closed our descriptors makes us open the journal again by its name."""
        job = self.job("closed")
        self.assertEqual(job.stdout.readline(), "closed\n")
        [journal] = self.journals()
        journal.rename(self.scratch / "away")
        journal.write_text("the job's own", encoding="utf-8")
        self.assertEqual(ask(job, 100), "called\n")
        job.communicate()
        self.assertEqual(journal.read_text(encoding="utf-8"), "the job's own")

    def test_a_job_that_closed_our_descriptors(self):
        job = self.job("closed")
        self.assertEqual(job.stdout.readline(), "closed\n")
        done = self.execute(BUILT["command"], "off", job.pid)
        if "refused" in done.stderr:
            self.skipTest("this machine lets no process be traced: " + done.stderr.strip())
        self.assertIn("is now not watched", done.stderr)
        said = self.tool("doctor", job.pid, "--library", BUILT["library"])
        self.assertIn("switched off", said)
        self.assertIn("has closed the descriptor of its switch", said)
        self.assertEqual(ask(job, 100), "called\n")  # a count is written at powers of two
        self.assertEqual([finding["count"] for finding in self.recorded()], [1])
        self.assertIn("is now watched", self.tool("on", job.pid))
        self.assertEqual(ask(job, 100), "called\n")
        self.assertGreater(sum(finding["count"] for finding in self.recorded()), 50)


if __name__ == "__main__":
    main()
