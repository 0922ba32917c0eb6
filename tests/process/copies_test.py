"""Each way to reach a kernel: every call is seen once and answered as without dtype-san."""
import shutil
import subprocess

from support import BUILT, Case, main, preloadable


class Copies(Case):
    def expect(self, *words, calls=4, libraries=1, **changes):
        """The command makes `calls` calls, half of them wrong."""
        plain = self.execute(*words, **changes)
        self.assertEqual(plain.returncode, 0, plain.stdout + plain.stderr)
        done, report = self.run_command(*words, **changes)
        self.assertEqual((done.returncode, done.stdout), (plain.returncode, plain.stdout), done.stderr)
        self.assertEqual(report["watched"]["calls"]["flash_ref_rotary"], calls)
        self.assertEqual(sum(finding["count"] for finding in report["findings"]), calls // 2)
        self.assertEqual(len(report["watched"]["libraries"]), libraries)
        self.assertEqual({finding["rule"] for finding in report["findings"]}, {"rotary-dtype-mismatch"})
        return report

    def copy_of(self, name, target="copy.so"):
        path = self.scratch / target
        path.parent.mkdir(exist_ok=True)
        shutil.copy2(BUILT[name], path)
        return str(path)

    def test_linked(self):
        report = self.expect(BUILT["linked_calls"])
        self.assertEqual(report["watched"]["libraries"][0]["path"], BUILT["kernels"])

    def test_opened(self):
        for how in ("local", "global", "deepbind", "default"):
            with self.subTest(how=how):
                self.expect(BUILT["opened_calls"], how, BUILT["kernels"])

    def test_ctypes(self):
        if BUILT["sanitized"]:
            self.skipTest("an instrumented library cannot be loaded into Python")
        self.expect("/usr/bin/python3", BUILT["source"] + "/programs/ctypes_calls.py", BUILT["kernels"])

    def test_two_copies(self):
        self.expect(BUILT["opened_calls"], "local", BUILT["kernels"], self.copy_of("kernels"), calls=8, libraries=2)

    def test_static_copy_in_the_program(self):
        report = self.expect(BUILT["static_copy"])
        self.assertEqual(report["watched"]["libraries"][0]["path"], BUILT["static_copy"])

    def test_static_copy_stripped(self):
        stripped = self.copy_of("static_copy", "stripped")
        subprocess.run(["strip", "--strip-all", stripped], check=True)
        self.expect(stripped)

    def test_hidden_copy_in_a_library(self):
        self.expect(BUILT["opened_calls"], "inside", BUILT["hidden_copy"])

    def test_calls_inside_a_symbolic_library(self):
        self.expect(BUILT["opened_calls"], "inside", BUILT["symbolic_copy"])

    def test_calls_inside_a_library(self):
        self.expect(BUILT["opened_calls"], "inside", BUILT["inner_copy"])

    def test_a_static_copy_beside_a_shared_one(self):
        self.expect(BUILT["opened_calls"], "inside", BUILT["hidden_copy"], BUILT["symbolic_copy"], calls=8, libraries=2)

    def test_found_by_runpath(self):
        """The library's bare name is found through the RUNPATH of the program that asks."""
        self.copy_of("kernels", "lib/libmine.so")
        program = self.copy_of("opened_by_runpath", "opened")
        self.expect(program, "local", "libmine.so")

    def test_library_without_a_slot(self):
        for how in ("local", "global", "deepbind", "default"):
            with self.subTest(how=how):
                self.expect(BUILT["opened_calls"], how, BUILT["plain_kernel"])

    def test_two_libraries_without_a_slot_stay_two(self):
        report = self.expect(BUILT["opened_calls"], "local", BUILT["plain_kernel"], BUILT["other_kernel"], calls=8)
        self.assertEqual(len(report["findings"]), 1)

    def test_linked_without_a_slot(self):
        self.expect(BUILT["plain_linked"])

    def test_with_and_without_a_slot(self):
        self.expect(BUILT["opened_calls"], "local", BUILT["kernels"], BUILT["plain_kernel"], calls=8)

    def test_a_namespace_of_its_own(self):
        """dlmopen: the copy there is found by its note, with its modules in the stacks."""
        for how, name in (("address", "kernels"), ("inside", "inner_copy"), ("inside", "symbolic_copy")):
            with self.subTest(how=how, name=name):
                report = self.expect(BUILT["namespace_calls"], how, BUILT[name])
                self.assertEqual(report["watched"]["libraries"][0]["path"], BUILT[name])
                functions = [frame["function"] for frame in report["findings"][0]["backtrace"]]
                self.assertEqual(functions[-1], "_start")
                self.assertIn("main", functions)
                if how == "inside":
                    self.assertIn("call_inside", functions)

    def test_a_namespace_that_goes_and_comes_back(self):
        self.expect(BUILT["namespace_calls"], "twice", BUILT["inner_copy"], calls=8)

    def test_a_namespace_with_a_library_without_a_slot(self):
        """Calls of addresses that dlsym gave are seen; those inside the namespace are not, and that is said."""
        self.expect(BUILT["namespace_calls"], "address", BUILT["plain_kernel"])
        done, report = self.run_command(BUILT["namespace_calls"], "inside", BUILT["inner_plain"])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(report["watched"]["calls"]["flash_ref_rotary"], 0)
        self.assertIn(f"'{BUILT['inner_plain']}' holds flash_ref without an observer slot and was opened by dlmopen",
                      " ".join(entry["detail"] for entry in report["not_analysed"]))

    def test_probes_for_a_kernel_that_is_not_there(self):
        plain = self.execute(BUILT["opened_calls"], "probe")
        self.assertIn("found: 0\nerror: 1\n", plain.stdout)
        done, report = self.run_command(BUILT["opened_calls"], "probe")
        self.assertEqual((done.returncode, done.stdout), (plain.returncode, plain.stdout))
        self.assertEqual(report["watched"]["libraries"], [])

    def test_probes_for_a_kernel_that_is_there(self):
        plain = self.execute(BUILT["opened_calls"], "probe", LD_PRELOAD=BUILT["kernels"])
        self.assertIn("found: 1\n", plain.stdout)
        done, _ = self.run_command(BUILT["opened_calls"], "probe", LD_PRELOAD=BUILT["kernels"])
        self.assertEqual(done.stdout, plain.stdout)

    def test_another_tool_that_forwards_the_call(self):
        for order in (["forwarder", "library"], ["library", "forwarder"]):
            preload = ":".join(preloadable(BUILT[name]) for name in order)
            done = self.execute(BUILT["linked_calls"], LD_PRELOAD=preload,
                                DTYPE_SAN_OPTIONS=f"journal={self.scratch / 'journal'}:print_summary=0")
            self.assertEqual((done.returncode, done.stdout), (0, "status 0\nstatus 3\n" * 2), done.stderr)
            _, report = self.report(self.scratch / "journal")
            self.assertEqual(report["watched"]["calls"]["flash_ref_rotary"], 4, order)
            self.assertEqual([finding["count"] for finding in report["findings"]], [2], order)
            for journal in self.journals():
                journal.unlink()

    def test_two_copies_of_the_sanitizer(self):
        other = self.scratch / "other" / "libdtype_san.so"
        other.parent.mkdir()
        shutil.copy2(BUILT["library"], other)
        ours = preloadable(BUILT["library"])
        for preload, working in ((f"{ours}:{other}", ours), (f"{other}:{ours}", str(other))):
            done = self.execute(BUILT["linked_calls"], LD_PRELOAD=preload, DTYPE_SAN_OPTIONS=f"journal={self.scratch / 'journal'}")
            self.assertEqual((done.returncode, done.stdout), (0, "status 0\nstatus 3\n" * 2), done.stderr)
            self.assertEqual(done.stderr.count("this second copy does nothing"), 1, done.stderr)
            self.assertIn(f"already, from '{working}'", done.stderr)
            self.assertEqual(len(self.journals()), 1)
            _, report = self.report(self.scratch / "journal")
            self.assertEqual(report["watched"]["calls"]["flash_ref_rotary"], 4, preload)
            self.assertEqual([finding["count"] for finding in report["findings"]], [2], preload)
            self.assertEqual([library["path"] for library in report["watched"]["libraries"]], [BUILT["kernels"]])
            for journal in self.journals():
                journal.unlink()
        self.expect(BUILT["linked_calls"], LD_PRELOAD=str(other))  # beside `dtype-san run`
        done = self.execute(BUILT["no_kernels"], LD_PRELOAD=f"{ours}:{other}", DTYPE_SAN_OPTIONS=f"journal={self.scratch / 'journal'}")
        self.assertEqual((done.returncode, self.journals()), (7, []), done.stderr)

    def test_library_opened_again_and_again(self):
        done, report = self.run_command(BUILT["opens_later"], BUILT["later_library"])
        self.assertEqual(done.returncode, 0)
        self.assertEqual(report["watched"]["calls"]["flash_ref_rotary"], 3)


class Notes(Case):
    def test_every_copy_has_its_note(self):
        for name in ("kernels", "static_copy", "hidden_copy", "symbolic_copy"):
            shown = subprocess.run(["readelf", "-nW", BUILT[name]], capture_output=True, text=True, check=True).stdout
            self.assertEqual(shown.count("flash_ref  "), 1, (name, shown))


if __name__ == "__main__":
    main()
