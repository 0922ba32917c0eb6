"""A job behaves under dtype-san as without, whatever it looks at."""
import os
import pathlib
import subprocess

from support import BUILT, Case, environment, main, preloadable


class Harmless(Case):
    def same(self, mode, findings=1, **changes):
        plain = self.execute(BUILT["harmless"], mode, **changes)
        bare = self.preloaded(BUILT["harmless"], mode, options="print_summary=0:max_findings=3000", **changes)
        self.assertEqual((bare.returncode, bare.stdout, bare.stderr), (plain.returncode, plain.stdout, plain.stderr))
        done, report = self.run_command(BUILT["harmless"], mode, **changes)
        self.assertEqual((done.returncode, done.stdout), (plain.returncode, plain.stdout), done.stderr)
        self.assertGreaterEqual(len(report["findings"]), findings)
        return report

    def test_floating_point_environment(self):
        self.same("floating")

    def test_signals_and_their_handlers(self):
        self.same("signals")

    def test_errno(self):
        self.same("errno")

    def test_folder_limits_descriptors_and_environment(self):
        self.same("process")

    def test_children_of_every_kind(self):
        report = self.same("children")
        calls = report["watched"]["calls"]["flash_ref_rotary"]
        self.assertEqual(calls, 5)  # 2 in the parent; fork, clone and _Fork once each
        self.assertEqual(sum(finding["count"] for finding in report["findings"]), 5)
        incomplete = [process for process in report["watched"]["processes"] if not process["complete"]]
        self.assertEqual(incomplete, [])

    def test_threads_that_come_and_go(self):
        report = self.same("threads")
        self.assertEqual(sum(finding["count"] for finding in report["findings"]), 800)

    def test_small_stack(self):
        self.same("stack")

    def test_exceptions(self):
        report = self.same("exceptions")
        self.assertEqual(report["watched"]["calls"]["flash_ref_rotary"], 1000)

    def test_signals_during_calls(self):
        self.same("during", findings=10)

    def test_abnormal_ends(self):
        for mode in ("abort", "uncaught"):
            self.same(mode)

    def test_ends_without_exit_handlers_are_complete(self):
        for mode in ("exit", "Exit"):
            report = self.same(mode)
            self.assertEqual([process["complete"] for process in report["watched"]["processes"]], [True])

    def test_process_replaced_by_another_program(self):
        done, report = self.run_command("sh", "-c", f"exec '{BUILT['harmless']}' errno")
        self.assertEqual(done.stdout, "errno 42\n")
        self.assertEqual([process["complete"] for process in report["watched"]["processes"]], [True])

    def test_other_preload_libraries(self):
        tried = []
        for name in ("libjemalloc.so.2", "faketime/libfaketime.so.1", "libtcmalloc_minimal.so.4"):
            for folder in ("/usr/lib/x86_64-linux-gnu/", "/usr/lib/aarch64-linux-gnu/"):
                if pathlib.Path(folder + name).exists():
                    tried.append(folder + name)
        if not tried:
            self.skipTest("neither jemalloc, tcmalloc nor libfaketime is installed")
        for library in tried:
            for mode in ("threads", "errno", "exceptions"):
                with self.subTest(library=library, mode=mode):
                    for order in ([library, BUILT["library"]], [BUILT["library"], library]):
                        done = self.execute(BUILT["harmless"], mode, LD_PRELOAD=":".join(map(preloadable, order)),
                                            DTYPE_SAN_OPTIONS=f"journal={self.scratch}/j:print_summary=0")
                        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_program_built_with_address_sanitizer(self):
        if BUILT["sanitized"] or "asan_calls" not in BUILT or not os.path.exists(BUILT["asan_calls"]):
            self.skipTest("the compiler has no address sanitizer, or everything is built with it")
        plain = self.execute(BUILT["asan_calls"])
        self.assertEqual(plain.returncode, 0, plain.stderr)
        done, report = self.run_command(BUILT["asan_calls"])
        self.assertEqual((done.returncode, done.stdout), (0, plain.stdout), done.stderr)
        self.assertEqual(report["watched"]["calls"]["flash_ref_rotary"], 4)


class Storage(Case):
    """Where the journal cannot be written any more, the job goes on and the report says what is missing."""

    def small_disk(self, size):
        folder = self.scratch / "disk"
        folder.mkdir()
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "none", str(folder)], capture_output=True,
                                 text=True, check=False)
        if mounted.returncode != 0:
            self.skipTest(f"no file system can be mounted here: {mounted.stderr.strip()}")
        self.addCleanup(subprocess.run, ["umount", str(folder)], check=True)
        return folder

    def test_full_disk(self):
        folder = self.small_disk("64k")
        done = self.execute(BUILT["kernel_calls"], "numbers", 1000, LD_PRELOAD=preloadable(BUILT["library"]),
                            DTYPE_SAN_OPTIONS=f"journal={folder}:print_summary=0:max_findings=3000")
        self.assertEqual((done.returncode, len(done.stdout.split())), (0, 1000))
        done, report = self.report("--options=symbolize=0", folder)
        self.assertEqual(done.returncode, 3)
        self.assertGreater(len(report["findings"]), 20)
        self.assertRegex(" ".join(entry["detail"] for entry in report["not_analysed"]), "truncated|missing")
        self.assertFalse(report["watched"]["processes"][0]["complete"])

    def test_file_size_limit(self):
        script = f'ulimit -f 32; "{BUILT["kernel_calls"]}" numbers 1000 | tail -1'
        self.assertEqual(self.preloaded("bash", "-c", script).stdout, "999\n")
        done, report = self.report("--options=symbolize=0", self.scratch / "journal")
        self.assertEqual(done.returncode, 3)
        self.assertGreater(len(report["findings"]), 20)

    def test_errno_survives_a_write_that_fails(self):
        """The journal's write sets errno itself here, which an errno that nothing touches would not show."""
        for limit in (0, 1):
            done = self.preloaded("bash", "-c", f"ulimit -f {limit}; '{BUILT['kernel_calls']}' errno", options="print_summary=0")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
        done, _ = self.report(self.scratch / "journal")
        self.assertEqual(done.returncode, 3, "every write succeeded")

    def changed_while_it_runs(self, change, waits=True):
        """`change` gets the journal after fifty findings; the job `waits` meanwhile, or goes on."""
        settings = f"journal={self.scratch / 'journal'}:max_findings=3000:print_summary=0"
        with subprocess.Popen([BUILT["kernel_calls"], "numbers-in-two", "2900", "50"], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, text=True,
                              env=environment(LD_PRELOAD=preloadable(BUILT["library"]), DTYPE_SAN_OPTIONS=settings)) as job:
            for _ in range(50):
                job.stdout.readline()
            if waits:
                change(self.journals()[0])
            job.stdin.write("go on")
            job.stdin.flush()
            if not waits:
                change(self.journals()[0])
            self.assertEqual(job.stdout.read().split()[-1], "2899")
            self.assertEqual(job.wait(), 0)

    def test_journal_truncated_while_it_runs(self):
        self.changed_while_it_runs(lambda journal: os.truncate(journal, 1000))
        done, report = self.report("--options=symbolize=0", self.scratch / "journal")
        self.assertEqual(done.returncode, 3)
        self.assertGreater(len(report["findings"]), 1000)

    def test_journal_removed_while_it_runs(self):
        self.changed_while_it_runs(lambda journal: journal.unlink())

    def test_reader_at_work_while_it_is_written(self):
        counts = []

        def read(_journal):
            for _ in range(5):
                done, report = self.report("--options=symbolize=0", self.scratch / "journal")
                self.assertIn(done.returncode, (1, 3))
                counts.append(len(report["findings"]))
        self.changed_while_it_runs(read, waits=False)
        self.assertEqual(counts, sorted(counts))
        self.assertGreater(counts[0], 0)

    def test_folder_that_cannot_be_written(self):
        done = self.execute(BUILT["kernel_calls"], "wrong", LD_PRELOAD=preloadable(BUILT["library"]),
                            DTYPE_SAN_OPTIONS="journal=/proc/nowhere")
        self.assertEqual(done.returncode, 4)
        self.assertIn("are not recorded. Name a directory that you can write in DTYPE_SAN_OPTIONS=journal=", done.stderr)
        self.assertNotIn("set DTYPE_SAN_OPTIONS", done.stderr)
        self.assertRegex(done.stderr, r"1 finding in process \d+, not recorded\n")

    def test_64_threads(self):
        done, report = self.calls("threads", 64, 300)
        self.assertEqual(done.returncode, 0)
        self.assertEqual(report["watched"]["calls"]["flash_ref_attention_fwd"], 2 * 64 * 300)
        self.assertEqual(sum(finding["count"] for finding in report["findings"]), 64 * 300)


if __name__ == "__main__":
    main()
