"""Core dumps, limits, keys of thread-local data, handlers, dlclose, the environment, floating-point units and quotas are under
dtype-san as without it."""
import os
import pathlib
import resource

from support import BUILT, Case, environment, main, preloadable


class Surroundings(Case):
    def same(self, mode, *more, findings=1, missing=()):
        """Alone, preloaded by hand and under `run`: the same output and status. Gives run's report."""
        plain = self.execute(BUILT["surroundings"], mode, *more)
        bare = self.preloaded(BUILT["surroundings"], mode, *more, options="print_summary=0")
        self.assertEqual((bare.returncode, bare.stdout, bare.stderr), (plain.returncode, plain.stdout, plain.stderr))
        done, report = self.run_command(BUILT["surroundings"], mode, *more)
        self.assertEqual((done.returncode, done.stdout), (plain.returncode, plain.stdout), done.stderr)
        self.assertGreaterEqual(len(report["findings"]), findings)
        for word in missing:
            self.assertIn(word, plain.stdout)
        return report

    def test_limits(self):
        self.same("limits", missing=["limit 15"])

    def test_keys_of_thread_local_data(self):
        self.same("keys", missing=["call answered 1"])

    def test_handlers_masks_and_timers(self):
        self.same("handlers", findings=2)

    def test_dlclose(self):
        """The library without a slot is closed as without us; the copy with one is opened at the same place again."""
        report = self.same("closing", BUILT["plain_kernel"], missing=["still loaded 0"])
        self.assertEqual(report["watched"]["calls"]["flash_ref_rotary"], 30)
        self.same("closing", BUILT["kernels"])

    def test_environment(self):
        self.same("environment", findings=3, missing=["same list 1, same value 1", "by the program 1", "empty 1"])

    def test_floating_point_units(self):
        self.same("units")

    def test_a_small_stack(self):
        """A coroutine's or a signal handler's, of two pages; the first call needs most."""
        if BUILT["sanitized"]:
            self.skipTest("an instrumented program needs more")
        self.same("small stack", missing=["came back"])

    def core_dump(self, folder, words, **variables):
        """The exit status as the kernel gives it, and the core files that were left."""
        folder.mkdir()
        pid = os.fork()
        if pid == 0:
            os.chdir(folder)
            os.dup2(os.open("out", os.O_WRONLY | os.O_CREAT, 0o600), 1)
            os.dup2(os.open("/dev/null", os.O_WRONLY), 2)
            _, most = resource.getrlimit(resource.RLIMIT_CORE)
            resource.setrlimit(resource.RLIMIT_CORE, (most, most))
            os.execve(words[0], words, environment(**variables))
        _, status = os.waitpid(pid, 0)
        return status, (folder / "out").read_text(encoding="utf-8"), len(list(folder.glob("*core*")))

    def test_core_dumps(self):
        words = [BUILT["surroundings"], "core"]
        plain = self.core_dump(self.scratch / "plain", words)
        self.assertTrue(os.WIFSIGNALED(plain[0]))
        watched = self.core_dump(self.scratch / "watched", words, LD_PRELOAD=preloadable(BUILT["library"]),
                                 DTYPE_SAN_OPTIONS=f"journal={self.scratch}/journal:print_summary=0")
        self.assertEqual(watched, plain)
        status, output, cores = self.core_dump(self.scratch / "run", [BUILT["command"], "run", "--", *words])
        self.assertEqual((os.WTERMSIG(status), output, cores), (os.WTERMSIG(plain[0]), plain[1], plain[2]))
        pattern = pathlib.Path("/proc/sys/kernel/core_pattern").read_text(encoding="utf-8").strip()
        print(f"core dumped: {os.WCOREDUMP(plain[0])}, files {plain[2]} (core_pattern '{pattern}')")

    def refused(self, mode):
        plain = self.execute(BUILT["surroundings"], mode)
        if "no filter" in plain.stdout:
            self.skipTest("this system lets no process filter its system calls (seccomp)")
        self.assertEqual(plain.stdout, "answered 40\n")
        bare = self.preloaded(BUILT["surroundings"], mode, options="print_summary=0:max_findings=3000")
        self.assertEqual((bare.returncode, bare.stdout, bare.stderr), (0, plain.stdout, ""))
        _, report = self.report(self.scratch / "journal", "--options=symbolize=0")
        self.assertEqual(len(report["findings"]), 20)  # those from before
        self.assertFalse(report["watched"]["processes"][0]["complete"])

    def test_small_file_size_limits(self):
        """Nothing that the library makes larger ends the job, the sealed page for `attach` included."""
        words = f"'{BUILT['kernel_calls']}' numbers 40 | cat; exit ${{PIPESTATUS[0]}}"
        for limit in (0, 1, 2, 3):
            with self.subTest(limit=limit):
                limited = f"ulimit -f {limit}; {words}"
                plain = self.execute("bash", "-c", limited)
                self.assertEqual((plain.returncode, len(plain.stdout.split())), (0, 40), plain.stderr)
                bare = self.preloaded("bash", "-c", limited, options="print_summary=0")
                self.assertEqual((bare.returncode, bare.stdout, bare.stderr), (0, plain.stdout, ""))
                run = self.execute("bash", "-c", f"ulimit -f {limit}; '{BUILT['command']}' run --journal '{self.scratch}/run{limit}' "
                                   f"-- bash -c '{words.replace(chr(39), chr(34))}' | cat; exit ${{PIPESTATUS[0]}}")
                self.assertEqual((run.returncode, run.stdout), (3, plain.stdout), run.stderr)  # findings are missing, and it is said
                self.assertRegex(run.stderr, "could not be recorded: File too large|empty \\(0 bytes\\)")

    def test_beyond_a_quota(self):
        self.refused("quota")

    def test_a_disk_that_fails(self):
        self.refused("broken disk")


if __name__ == "__main__":
    main()
