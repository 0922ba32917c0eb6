"""The program's own behaviour is untouched: output, exit status, signals, descriptors, errno."""
import os
import pathlib
import signal
import subprocess

from support import BUILT, LONG, Case, environment, main, preloadable


class Untouched(Case):
    def test_program_without_kernels_is_identical_when_preloaded(self):
        for mode in ("", "abort", "kill"):
            plain = self.execute(BUILT["no_kernels"], mode)
            watched = self.preloaded(BUILT["no_kernels"], mode)
            self.assertEqual((watched.returncode, watched.stdout, watched.stderr),
                             (plain.returncode, plain.stdout, plain.stderr))
        self.assertFalse((self.scratch / "journal").exists())

    def test_program_without_kernels_is_identical_under_run(self):
        for mode in ("", "abort", "kill"):
            plain = self.execute(BUILT["no_kernels"], mode)
            watched = self.execute(BUILT["command"], "run", "--options=print_summary=0", "--", BUILT["no_kernels"], mode)
            self.assertEqual((watched.returncode, watched.stdout, watched.stderr),
                             (plain.returncode, plain.stdout, plain.stderr))

    def test_clean_calls_are_identical_when_preloaded(self):
        for mode in ("clean", "status"):
            plain = self.execute(BUILT["kernel_calls"], mode)
            watched = self.preloaded(BUILT["kernel_calls"], mode, options="print_summary=0")
            self.assertEqual((watched.returncode, watched.stdout, watched.stderr),
                             (plain.returncode, plain.stdout, plain.stderr))

    def test_exit_status_stays(self):
        self.assertEqual(self.calls("wrong")[0].returncode, 4)
        self.assertEqual(self.calls("_exit")[0].returncode, 6)

    def test_dies_by_the_same_signal(self):
        for number in (signal.SIGTERM, signal.SIGSEGV, signal.SIGABRT, signal.SIGKILL, signal.SIGINT):
            done, _ = self.calls("signal", int(number))
            self.assertEqual(done.returncode, -number)

    def test_private_folder_is_removed(self):
        for words in (["wrong"], ["signal", "15"]):
            folder = self.scratch / "tmp"
            folder.mkdir(exist_ok=True)
            self.calls(*words, TMPDIR=str(folder))
            self.assertEqual(list(folder.iterdir()), [])

    def test_errno_survives_a_finding(self):
        self.assertEqual(self.calls("errno")[0].returncode, 0)

    def test_broken_descriptors_reach_the_kernel(self):
        plain = self.execute(BUILT["kernel_calls"], "broken")
        done, report = self.calls("broken")
        self.assertEqual((done.returncode, done.stdout), (plain.returncode, plain.stdout))
        # A NULL q and a dtype that does not exist are the kernel's to refuse; k as float32 is ours, without a shape.
        self.assertEqual([finding["operands"][1]["shape"] for finding in report["findings"]], [[]])

    def test_own_descriptors_are_never_written_to(self):
        done, report = self.calls("close")
        self.assertEqual(done.stdout, "own file has 0 bytes\n")
        self.assertEqual(sum(finding["count"] for finding in report["findings"]), 8)

    def test_file_size_limit_does_not_kill(self):
        script = f'ulimit -f 0; "{BUILT["kernel_calls"]}" wrong 3; echo "status $?"'
        done = self.preloaded("bash", "-c", script)
        self.assertEqual(done.stdout, "status 4\n")

    def test_a_run_that_lost_something_is_not_called_clean(self):
        done = self.execute(BUILT["command"], "run", "--", BUILT["kernel_calls"], "signal", "9")
        self.assertIn("; a process ended without a closing record: calls and findings may be missing\n", done.stderr)
        done = self.execute(BUILT["command"], "run", "--", BUILT["kernel_calls"], "clean")
        self.assertNotIn("closing record", done.stderr)

    def test_unwritable_journal_does_not_stop_the_program(self):
        done = self.execute(BUILT["kernel_calls"], "wrong", LD_PRELOAD=preloadable(BUILT["library"]),
                            DTYPE_SAN_OPTIONS="journal=/proc/nowhere")
        self.assertEqual(done.returncode, 4)
        self.assertIn("dtype-san: cannot create a journal at '/proc/nowhere", done.stderr)
        self.assertEqual(done.stderr.count("cannot create"), 1)

    def test_disabled(self):
        done = self.preloaded(BUILT["kernel_calls"], "wrong", options="enabled=0")
        self.assertEqual((done.returncode, done.stderr), (4, ""))
        self.assertFalse((self.scratch / "journal").exists())

    def test_signal_is_forwarded(self):
        command = [BUILT["command"], "run", "--options=print_summary=0", "--", BUILT["kernel_calls"], "wait"]
        with subprocess.Popen(command, env=environment(), stdout=subprocess.PIPE, text=True) as running:
            self.assertEqual(running.stdout.readline(), "ready\n")
            os.kill(running.pid, signal.SIGTERM)
            self.assertEqual(running.wait(timeout=LONG), 42)

    def test_signals_that_end_or_stop_it(self):
        """In a group of its own, for in one whose parents have all gone SIGTSTP stops no process."""
        command = [BUILT["command"], "run", "--options=print_summary=0", "--", BUILT["kernel_calls"], "wait"]

        def state(pid):
            return pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
        for number in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGTSTP):
            with self.subTest(signal=number.name), subprocess.Popen(command, env=environment(), stdout=subprocess.PIPE,
                                                                    preexec_fn=os.setpgrp, text=True) as running:
                self.assertEqual(running.stdout.readline(), "ready\n")
                os.kill(running.pid, number)
                if number != signal.SIGTSTP:
                    self.assertEqual(running.wait(timeout=LONG), -number)
                    continue
                self.until(lambda process=running.pid: state(process) == "T")
                [child] = pathlib.Path(f"/proc/{running.pid}/task/{running.pid}/children").read_text(encoding="utf-8").split()
                self.until(lambda process=child: state(process) == "T")
                os.kill(running.pid, signal.SIGCONT)
                self.until(lambda process=child: state(process) == "S")
                os.kill(running.pid, signal.SIGTERM)
                self.assertEqual(running.wait(timeout=LONG), 42)

    def test_a_dormant_command_that_is_never_switched_on(self):
        done, report = self.run_command(BUILT["kernel_calls"], "clean", options=["--options", "start=dormant"])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("the command was started dormant and left no journal: ", done.stderr)
        self.assertIn("('dtype-san on PID')", done.stderr)
        self.assertNotIn("sign of life", done.stderr)
        self.assertNotIn("closing record", done.stderr)
        self.assertEqual([entry["reason"] for entry in report["not_analysed"]], ["not-watched"])

    def test_ignored_hangup_stays_ignored(self):
        script = f'trap "" HUP; "{BUILT["command"]}" run --options=print_summary=0 -- bash -c "echo up; read; echo alive"'
        with subprocess.Popen(["bash", "-c", script], env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              text=True, start_new_session=True) as running:
            self.assertEqual(running.stdout.readline(), "up\n")
            os.killpg(running.pid, signal.SIGHUP)
            self.assertEqual(running.communicate("\n", timeout=LONG)[0], "alive\n")


class Asked(Case):
    def test_error_exitcode(self):
        self.assertEqual(self.calls("wrong", options=["--error-exitcode", "9"])[0].returncode, 9)
        self.assertEqual(self.calls("clean", options=["--error-exitcode", "9"])[0].returncode, 0)
        self.assertEqual(self.calls("wrong", DTYPE_SAN_OPTIONS="exitcode=11")[0].returncode, 11)

    def test_exitcode_when_preloaded_keeps_the_output(self):
        done = self.preloaded(BUILT["kernel_calls"], "status", options="exitcode=12")
        self.assertEqual(done.returncode, 12)
        self.assertTrue(done.stdout.startswith("0 3 "), done.stdout)

    def test_halt_on_error(self):
        done, report = self.calls("wrong", 5, options=["--halt-on-error"])
        self.assertEqual(done.returncode, -signal.SIGABRT)
        self.assertEqual([finding["count"] for finding in report["findings"]], [1])
        self.assertIn("halt_on_error: process", done.stderr)
        done, _ = self.calls("wrong", 5, options=["--error-exitcode", "9"], DTYPE_SAN_OPTIONS="halt_on_error=1")
        self.assertEqual(done.returncode, 9)
        self.assertEqual(self.calls("clean", options=["--halt-on-error"])[0].returncode, 0)

    def test_preloaded_program_names_its_journal(self):
        done = self.preloaded(BUILT["kernel_calls"], "wrong")
        self.assertRegex(done.stderr, r"dtype-san: 1 finding in process \d+, journal '.*/journal/.*'")
        self.assertEqual(self.preloaded(BUILT["kernel_calls"], "clean").stderr, "")

    def test_log_path(self):
        done = self.execute(BUILT["command"], "run", "--options", f"log_path={self.scratch}/log.%p", "--",
                            BUILT["kernel_calls"], "wrong")
        self.assertEqual(done.stderr, "")
        logs = list(self.scratch.glob("log.*"))
        self.assertEqual(len(logs), 1)
        self.assertIn("[attention-mixed-dtypes]", logs[0].read_text(encoding="utf-8"))

    def test_help_lists_the_options(self):
        done = self.execute(BUILT["no_kernels"], LD_PRELOAD=preloadable(BUILT["library"]), DTYPE_SAN_OPTIONS="help=1")
        self.assertIn("halt_on_error=0", done.stderr)
        self.assertIn("stack_depth=32", done.stderr)

    def test_unknown_option_is_named_and_the_program_goes_on(self):
        done = self.preloaded(BUILT["kernel_calls"], "wrong", options="stak_depth=3:verbosity=many")
        self.assertEqual(done.returncode, 4)
        self.assertIn("unknown option 'stak_depth', did you mean 'stack_depth'?", done.stderr)
        self.assertIn("option 'verbosity' is 'many', expected a number from 0 to 2", done.stderr)
        self.assertEqual(len(self.journals()), 1)

    def test_existing_preload_is_kept(self):
        if BUILT["sanitized"]:
            self.skipTest("an instrumented library cannot be preloaded into sh")
        done = self.execute(BUILT["command"], "run", "--", "sh", "-c", "echo $LD_PRELOAD",
                            LD_PRELOAD=preloadable(BUILT["kernels"]))
        present, own = done.stdout.strip().split(":")
        self.assertEqual(present, preloadable(BUILT["kernels"]))
        if preloadable(BUILT["library"]) == BUILT["library"]:
            self.assertEqual(own, BUILT["library"])
        else:  # a private link, gone by now
            self.assertEqual(os.path.basename(own), os.path.basename(BUILT["library"]))

    def test_library_opened_later(self):
        done, report = self.run_command(BUILT["opens_later"], BUILT["later_library"])
        self.assertEqual(done.stdout, self.execute(BUILT["opens_later"], BUILT["later_library"]).stdout)
        self.assertEqual(report["watched"]["calls"]["flash_ref_rotary"], 3)
        self.assertEqual(sum(finding["count"] for finding in report["findings"]), 3)

    def test_weak_reference_without_a_kernel_is_null(self):
        done = self.execute(BUILT["command"], "run", "--", BUILT["weak_reference"])
        self.assertEqual((done.returncode, done.stdout), (0, "started\n"))
        self.assertEqual(done.stderr, "dtype-san: no findings; no call to a watched kernel was seen\n")


if __name__ == "__main__":
    main()
