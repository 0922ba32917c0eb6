"""A watched program that becomes another one by exec: nothing of it is lost, and the report says what it became."""
from support import BUILT, Case, main

ECHO = ("-c", 'echo "$LEFT $0 $1 $2 $3"', "a", "b", "c")


class Exec(Case):
    def became(self, *words):
        """What the program printed, the same as without the library, and its report."""
        plain = self.execute(BUILT["exec_ways"], *words)
        done = self.preloaded(BUILT["exec_ways"], *words, options="print_summary=0")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (plain.returncode, plain.stdout, plain.stderr))
        shown, report = self.report(self.scratch / "journal")
        for journal in self.journals():
            journal.unlink()
        self.assertEqual(shown.returncode, 1, shown.stderr)
        return done.stdout, shown.stdout, report

    def notes(self, report):
        return [entry["detail"] for entry in report["not_analysed"] if entry["reason"] == "exec"]

    def test_each_function(self):
        for function in ("execl", "execle", "execlp", "execv", "execve", "execvp", "execvpe", "fexecve", "execveat", "empty_path"):
            with self.subTest(function=function):
                printed, shown, report = self.became(function, "/bin/sh", *ECHO, "d")
                left = "over" if function in ("execle", "execve", "execvpe", "fexecve", "execveat", "empty_path") else ""
                self.assertEqual(printed, f"{left} a b c d\n")
                [process] = report["watched"]["processes"]
                name = "(a descriptor)" if function in ("fexecve", "empty_path") else "/bin/sh"
                self.assertEqual((process["complete"], process["replaced_by"]), (True, name))
                self.assertEqual(report["watched"]["calls"]["flash_ref_rotary"], 3)
                self.assertEqual([finding["count"] for finding in report["findings"]], [3])
                self.assertIn(f"(became '{name}' by exec)", shown)
                [note] = self.notes(report)
                self.assertIn(f"became '{name}' by exec, and that left no journal", note)

    def test_a_watched_program_follows(self):
        words = (BUILT["kernel_calls"], "wrong", 1, "c", "d", "e", "f")
        done = self.preloaded(BUILT["exec_ways"], "execv", *words)
        self.assertEqual(done.returncode, self.execute(*words).returncode, done.stderr)
        _, report = self.report(self.scratch / "journal")
        self.assertEqual(self.notes(report), [])
        self.assertEqual(sorted(process["replaced_by"].split()[0] if process["replaced_by"] else ""
                                for process in report["watched"]["processes"]), ["", BUILT["kernel_calls"]])
        self.assertEqual(sum(finding["count"] for finding in report["findings"]), 3 + 1)

    def test_what_fails_is_no_end(self):
        for function, path, error in (("execv", "/nowhere", "No such file or directory"), ("bad_pointer", "/bin/sh", "Bad address"),
                                      ("execlp", "no-such-program", "No such file or directory")):
            with self.subTest(function=function):
                printed, shown, report = self.became(function, path, *ECHO, "d")
                self.assertEqual(printed, f"went on: {error}\n")
                self.assertEqual(sum(finding["count"] for finding in report["findings"]), 3 + 1)
                self.assertEqual((self.notes(report), report["watched"]["processes"][0]["replaced_by"]), ([], ""))
                self.assertNotIn("by exec", shown)

    def test_a_quick_exit_writes_its_counts(self):
        done = self.preloaded(BUILT["exec_ways"], "quick_exit", "/bin/sh", *ECHO, "d")
        self.assertEqual(done.returncode, 7, done.stderr)
        self.assertIn("dtype-san: 1 finding in process", done.stderr)
        shown, report = self.report(self.scratch / "journal")
        self.assertEqual(shown.returncode, 1, shown.stderr)
        self.assertEqual(([finding["count"] for finding in report["findings"]], report["not_analysed"]), ([3], []))
        self.assertTrue(report["watched"]["processes"][0]["complete"])

    def test_a_vfork_child_leaves_its_parents_journal_alone(self):
        printed, shown, report = self.became("vfork", "/bin/sh", *ECHO, "d")
        self.assertEqual(sorted(printed.splitlines()), sorted([" a b c d", "child 0", "went on: Success"]))
        self.assertEqual(sum(finding["count"] for finding in report["findings"]), 3 + 1)
        self.assertNotIn("by exec", shown)

    def test_children_without_the_library_are_told_of(self):
        for how in ("bare_fork", "bare_vfork", "bare_spawn", "bare_spawnp"):
            with self.subTest(how=how):
                printed, shown, report = self.became(how, "/bin/sh", *ECHO, "d")
                self.assertEqual(printed, "over a b c d\n" * 2 + "went on: Success\n")
                self.assertEqual([(entry["reason"], entry["detail"][:73]) for entry in report["not_analysed"]],
                                 [("note", "2 children became another program by exec without libdtype_san.so in LD_P")])
                self.assertIn("what that called was not watched", shown)
                self.assertEqual(report["watched"]["processes"][0]["complete"], True)

    def test_children_with_the_library_are_no_news(self):
        for how in ("vfork", "spawn", "off_spawn"):
            _, _, report = self.became(how, "/bin/sh", *ECHO, "d")
            self.assertEqual(report["not_analysed"], [], how)


if __name__ == "__main__":
    main()
