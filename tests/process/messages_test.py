"""A stderr or stdout that is closed, full or without a reader changes no exit status, no report file, and leaves nothing behind."""
import json

from support import BUILT, Case, main

UNWRITABLE = ("2>&-", "2>/dev/full", "2> >(exec true)")


class Messages(Case):
    def shell(self, *words, redirected):
        folder = self.scratch / "tmp"
        folder.mkdir(exist_ok=True)
        line = " ".join(f"'{word}'" for word in words)
        done = self.execute("bash", "-c", f"{line} {redirected}", TMPDIR=str(folder))
        self.assertEqual(list(folder.iterdir()), [])
        return done

    def test_run_gives_the_status_of_the_command(self):
        for redirected in UNWRITABLE:
            with self.subTest(redirected=redirected):
                for status, words in ((4, [BUILT["kernel_calls"], "wrong"]), (0, [BUILT["kernel_calls"], "numbers", "3"]),
                                      (5, ["sh", "-c", "exit 5"])):
                    done = self.shell(BUILT["command"], "run", "--", *words, redirected=redirected)
                    self.assertEqual(done.returncode, status, words)

    def test_run_still_writes_its_report_file(self):
        for number, redirected in enumerate(UNWRITABLE):
            with self.subTest(redirected=redirected):
                report = self.scratch / f"{number}.json"
                done = self.shell(BUILT["command"], "run", f"--format=json={report}", "--", BUILT["kernel_calls"], "wrong",
                                  redirected=redirected)
                self.assertEqual(done.returncode, 4)
                self.assertEqual(len(json.loads(report.read_text(encoding="utf-8"))["findings"]), 1)

    def test_run_still_decides_by_its_findings(self):
        done = self.shell(BUILT["command"], "run", "--error-exitcode=9", "--", BUILT["kernel_calls"], "wrong", redirected="2>/dev/full")
        self.assertEqual(done.returncode, 9)

    def test_a_report_that_was_asked_for_and_is_lost_is_a_failure(self):
        done = self.shell(BUILT["command"], "run", "--format=json", "--", "true", redirected="2>/dev/full")
        self.assertEqual(done.returncode, 3)
        done = self.shell(BUILT["command"], "explain", "attention-mixed-dtypes", redirected=">/dev/full")
        self.assertEqual(done.returncode, 2)
        self.assertIn("stdout could not be written", done.stderr)

    def test_a_report_beyond_the_file_size_limit(self):
        self.preloaded(BUILT["kernel_calls"], "wrong")
        report = self.scratch / "report.json"
        for status, words in ((2, ["report", self.scratch / "journal"]), (3, ["run", "--", "true"])):
            line = " ".join(f"'{word}'" for word in [BUILT["command"], words[0], f"--format=json={report}", *words[1:]])
            done = self.execute("bash", "-c", f"ulimit -f 0; {line} 2>&1 | cat; exit ${{PIPESTATUS[0]}}")
            self.assertEqual(done.returncode, status, done.stdout)
            self.assertIn("report.json: the report could not be written: File too large", done.stdout)

    def test_a_command_finds_its_streams_as_they_were(self):
        for redirected in ("<&-", "2>&-"):
            number = 2 if redirected[0] == "2" else 0
            script = f"[ -e /proc/self/fd/{number} ] && echo open || echo closed"
            done = self.shell(BUILT["command"], "run", "--", "bash", "-c", script, redirected=redirected)
            self.assertEqual((done.returncode, done.stdout), (0, "closed\n"))

    def test_other_commands_keep_their_documented_status(self):
        foreign = self.scratch / "foreign"
        foreign.write_text("no journal")
        for redirected in UNWRITABLE[:2]:
            for status, words in ((3, ["report", foreign]), (1, ["attach", "99999999"]), (2, ["bogus"]), (2, ["run"]),
                                  (127, ["run", "--", "/no/such/program"]), (1, ["off", "99999999"])):
                with self.subTest(words=words, redirected=redirected):
                    self.assertEqual(self.shell(BUILT["command"], *words, redirected=redirected).returncode, status)


if __name__ == "__main__":
    main()
