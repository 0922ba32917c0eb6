"""What a run without findings did not watch is in its closing line: programs that were started without the library, and processes
that did not end with the command."""
import os
import signal
import sys

from support import BUILT, Case, main

CALLS = ("import subprocess, sys; sys.path.insert(0, sys.argv[1] + '/programs'); import ctypes_calls\n"
         "ctypes_calls.apply_rotary(ctypes_calls.ctypes.CDLL(sys.argv[2]), False)\n"
         "for _ in range(int(sys.argv[3])): subprocess.run(['/bin/true'], env={})\n")


class NotWatched(Case):
    def closing(self, *words):
        """The line of a run without findings, and its notes."""
        done, report = self.run_command(*words)
        self.assertEqual((done.returncode, report["findings"]), (0, []), done.stderr)
        text = self.execute(BUILT["command"], "run", "--", *words)
        self.assertEqual(text.returncode, 0, text.stderr)
        [line] = [line for line in text.stderr.splitlines() if line.startswith("dtype-san: no findings; ")]
        return done.stdout + text.stdout, line, [entry["detail"] for entry in report["not_analysed"]]

    def test_programs_without_the_library(self):
        for count, told in ((0, ""), (1, "; not watched: 1 program started without libdtype_san.so in LD_PRELOAD"),
                            (2, "; not watched: 2 programs started without libdtype_san.so in LD_PRELOAD")):
            with self.subTest(count=count):
                _, line, notes = self.closing(sys.executable, "-c", CALLS, BUILT["source"], BUILT["kernels"], count)
                self.assertEqual(line, "dtype-san: no findings; 1 call to watched kernels" + told)
                self.assertEqual(len(notes), count > 0)

    def left(self, script):
        """As closing(), of a command that leaves a process; that one is ended."""
        printed, line, notes = self.closing("/bin/sh", "-c", script)
        for pid in printed.split():
            try:
                os.kill(int(pid), signal.SIGKILL)
            except ProcessLookupError:
                pass
        return line.split("; ", 2)[2:], notes

    def test_processes_that_run_on(self):
        said = "1 process that the command started runs on: what it calls from here on is not in this report"
        self.assertEqual(self.left("sleep 600 > /dev/null 2>&1 & echo $!"), ([said], [said]))
        # The child of a fork is another program by no exec.
        self.assertEqual(self.left("[ -p pipe ] || mkfifo pipe; (read line < pipe; :) > /dev/null 2>&1 & echo $!"), ([said], [said]))
        said = "2 processes that the command started run on: what they call from here on is not in this report"
        self.assertEqual(self.left("for i in 1 2; do sleep 600 > /dev/null 2>&1 & echo $!; done"), ([said], [said]))

    def test_what_ends_just_after_the_command_is_no_news(self):
        self.assertEqual(self.left("sleep 0.1 > /dev/null 2>&1 & :"), ([], []))


if __name__ == "__main__":
    main()
