"""What cannot be done is refused before anything starts, with a reason, and with the status that says which kind."""
import os
import pathlib
import shutil
import struct

from support import BUILT, Case, main


def elf_header(machine, bits=64):
    """The start of an ELF file, as a shared library of that machine."""
    return b"\x7fELF" + bytes([2 if bits == 64 else 1, 1, 1]) + bytes(9) + struct.pack("<HH", 3, machine) + bytes(44)


class Refusals(Case):
    def expect(self, status, message, *words, **changes):
        done = self.execute(BUILT["command"], *words, **changes)
        self.assertEqual((done.returncode, done.stdout), (status, ""), done.stderr)
        self.assertIn(message, done.stderr)
        self.assertTrue(done.stderr.startswith("dtype-san: "), done.stderr)
        self.assertNotIn("started", done.stdout)

    def test_command_that_does_not_exist(self):
        self.expect(127, "'no-such-command' was not found in PATH", "run", "--", "no-such-command")
        self.expect(127, "'./no-such-file' cannot be started: No such file", "run", "./no-such-file")

    def test_command_that_is_not_executable(self):
        (self.scratch / "data").write_text("hello\n")
        self.expect(126, "permission denied", "run", "./data")
        self.expect(126, "is a directory", "run", "--", "/")

    def test_script_with_missing_interpreter(self):
        script = self.scratch / "script"
        script.write_text("#!/no/such/interpreter\n")
        script.chmod(0o755)
        self.expect(127, "'/no/such/interpreter' cannot be started", "run", script)

    def test_static_program(self):
        self.expect(126, "is statically linked", "run", BUILT["static"])

    def test_program_of_another_architecture(self):
        program = self.scratch / "program"
        program.write_bytes(elf_header(183))
        program.chmod(0o755)
        self.expect(126, "is a 64-bit aarch64 program", "run", program)

    def test_set_uid_program(self):
        if os.geteuid() != 0:
            self.skipTest("only root can make a set-uid file of another user")
        program = self.scratch / "raised"
        shutil.copy2(BUILT["no_kernels"], program)
        os.chown(program, 65534, 65534)
        program.chmod(0o4755)
        self.expect(126, "is set-uid", "run", program)

    def test_missing_library(self):
        missing = str(self.scratch / "nowhere.so")
        message = f"{missing}: no such preload library"
        self.expect(2, message, "run", "--library", missing, "--", "echo", "started")
        self.expect(2, message, "run", "--", "echo", "started", DTYPE_SAN_LIBRARY=missing)

    def test_missing_library_beside_the_command(self):
        alone = self.scratch / "bin" / "dtype-san"
        alone.parent.mkdir()
        shutil.copy2(BUILT["command"], alone)
        done = self.execute(alone, "run", "--", "echo", "started")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn(f"libdtype_san.so was not found in {self.scratch}/lib", done.stderr)

    def test_library_of_another_architecture(self):
        other = self.scratch / "libdtype_san.so"
        other.write_bytes(elf_header(183))
        self.expect(2, f"{other}: a 64-bit aarch64 library, this system runs", "run", "--library", other, "echo", "started")
        other.write_bytes(b"text\n" * 20)
        self.expect(2, f"{other}: not a preload library: it is no ELF file", "run", "--library", other, "echo", "started")

    def test_unknown_command_line_options(self):
        self.expect(2, "--bogus", "run", "--bogus", "--", "echo", "started")
        self.expect(2, "--format: 'xml' is none of text, json, ", "run", "--format", "xml", "--", "echo", "started")
        self.expect(2, "--error-exitcode", "run", "--error-exitcode", "300", "--", "echo", "started")
        self.expect(2, "--root: '/no/such' is no directory", "run", "--root", "/no/such", "--", "echo", "started")
        self.expect(2, "no command was given", "run")
        self.expect(2, "unknown command 'reprt', did you mean", "reprt")
        self.expect(2, "--bogus", "report", "--bogus", "x")
        self.expect(2, "holds none of yours; name a journal", "report", TMPDIR=str(self.scratch))

    def test_values_that_an_option_does_not_take(self):
        for number in ("x", "0", "256", "-1", "1.5", ""):
            self.expect(2, f"run: --error-exitcode: '{number}' is no whole number from 1 to 255; give one of these", "run",
                        "--error-exitcode", number, "--", "echo", "started")
        self.expect(2, "--error-exitcode: nothing stands behind '=', expected N", "run", "--error-exitcode=", "--", "echo", "started")
        self.expect(2, "given 2 times ('3', '4'), expected once", "run", "--error-exitcode=3", "--error-exitcode=4", "--", "echo", "started")
        self.expect(2, "--halt-on-error: takes no value, '3' was given", "run", "--halt-on-error=3", "--", "echo", "started")
        self.expect(2, "--journal: '' is empty, expected DIR", "run", "--journal", "", "--", "echo", "started")
        self.expect(2, "--format: nothing stands behind it, expected FORMAT", "report", "x", "--format")
        self.expect(2, "attach: PID is missing, expected its process id", "attach")
        self.expect(2, "unknown option '--with-lint'; 'dtype-san report --help' prints them all", "report", "x", "--with-lint")
        self.expect(2, "attach: '2' is one word too many", "attach", "1", "2")
        self.expect(2, "PID: 'x' is no process id, expected a positive number", "doctor", "x")
        self.expect(2, "no command was given, expected run, report")
        command = self.execute(BUILT["command"], "run", "echo", "--format=", "--halt-on-error=3")
        self.assertEqual(command.stdout, "--format= --halt-on-error=3\n", "what stands behind the command is its own")

    def test_unknown_runtime_options(self):
        message = "unknown option 'halt_on_eror', did you mean 'halt_on_error'?"
        self.expect(2, message, "run", "--", "echo", "started", DTYPE_SAN_OPTIONS="halt_on_eror=1")
        self.expect(2, message, "run", "--options", "halt_on_eror=1", "--", "echo", "started")
        self.expect(2, "option 'stack_depth' is '0', expected a number from 1 to 128", "run", "--options",
                    "stack_depth=0", "echo", "started")

    def test_unwritable_report(self):
        path = self.scratch / "no" / "such" / "folder" / "r.json"
        message = f"--format: '{path}': the report cannot be written there: No such file or directory"
        self.expect(2, message, "run", f"--format=json={path}", "--", "echo", "started")
        self.expect(2, "names no file", "run", "--format=json=", "--", "echo", "started")
        self.expect(2, "log_path", "run", f"--options=log_path={path}", "--", "echo", "started")
        self.expect(2, "journals cannot be written there", "run", "--journal", "/proc/nowhere", "--", "echo", "started")

    def test_unwritable_report_of_a_journal(self):
        self.preloaded(BUILT["kernel_calls"], "wrong")
        path = self.scratch / "no" / "r.json"
        self.expect(2, f"'{path}': the report cannot be written there", "report", f"--format=json={path}", self.scratch / "journal")

    def test_unknown_rule(self):
        self.expect(2, "unknown rule 'attention-mixed-dtype', did you mean 'attention-mixed-dtypes'?", "explain",
                    "attention-mixed-dtype")


class CommandLine(Case):
    def test_words_of_the_command_are_its_own(self):
        show = self.scratch / "report"  # also the name of a subcommand
        show.write_text("#!/bin/sh\necho $*\n")
        show.chmod(0o755)
        here = {"PATH": f"{self.scratch}:{os.environ['PATH']}"}
        for before, after in (([], ["--help"]), (["--"], ["--format", "x"]), ([], ["--", "run"]),
                              (["--format", f"json={self.scratch}/r"], ["--bogus"])):
            done = self.execute(BUILT["command"], "run", *before, "report", *after, **here)
            self.assertEqual((done.returncode, done.stdout.split()), (0, after), done.stderr)

    def test_json_on_the_terminal_replaces_text(self):
        done = self.execute(BUILT["command"], "run", "--format", "json", "--", BUILT["kernel_calls"], "clean")
        self.assertTrue(done.stderr.startswith('{\n  "schema": "dtype-guard/report/1"'), done.stderr)
        self.assertEqual(done.stdout, "")

    def test_explain_reads_kernel_names(self):
        name = ("void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<128, 64, 64, 4, false, false, "
                "cutlass::half_t, Flash_kernel_traits<128, 64, 64, 4, cutlass::half_t> >, false>(int)")
        done = self.execute(BUILT["command"], "explain", name)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("call:     scaled_dot_product_attention\n", done.stdout)
        self.assertIn("q float16, k float16, v float16, out float16\nproof:    certain\n", done.stdout)
        unknown = self.execute(BUILT["command"], "explain", "my_kernel_bf16")
        self.assertEqual(unknown.returncode, 2)
        self.assertIn("unknown rule 'my_kernel_bf16'", unknown.stderr)

    def test_explain_reads_contracts(self):
        done = self.execute(BUILT["command"], "explain", "flash_attn_func")
        self.assertEqual(done.returncode, 0)
        self.assertIn("flash_attn.flash_attn_func", done.stdout)

    def test_explain(self):
        done = self.execute(BUILT["command"], "explain", "rotary-dtype-mismatch")
        self.assertEqual(done.returncode, 0)
        self.assertIn("rotary-dtype-mismatch", done.stdout)

    def test_help_and_version(self):
        shown = self.execute(BUILT["command"], "--help")
        self.assertEqual(shown.returncode, 0)
        for word in ("run", "report", "explain", "Examples:"):
            self.assertIn(word, shown.stdout)
        self.assertIn("--error-exitcode", self.execute(BUILT["command"], "run", "--help").stdout)
        self.assertRegex(self.execute(BUILT["command"], "--version").stdout, r"^dtype-san \d+\.\d+\.\d+\n$")

    def test_paths_that_preload_would_split(self):
        for name in ("a folder", "a:folder"):
            folder = self.scratch / name / "lib"
            folder.mkdir(parents=True)
            library = folder / "libdtype_san.so"
            shutil.copy2(BUILT["library"], library)
            for temporary in (self.scratch, folder):
                done, report = self.calls("wrong", options=["--library", str(library)], TMPDIR=str(temporary))
                self.assertEqual(len(report["findings"]), 1, done.stderr)

    def test_found_beside_the_command_after_a_move(self):
        prefix = self.scratch / "a prefix"
        for file, folder in ((BUILT["command"], "bin"), (BUILT["library"], "lib")):
            (prefix / folder).mkdir(parents=True)
            shutil.copy2(file, prefix / folder)
        done = self.execute(prefix / "bin" / "dtype-san", "run", "--", BUILT["kernel_calls"], "wrong")
        self.assertIn("[attention-mixed-dtypes]", done.stderr)

    def test_a_library_that_was_not_loaded_is_said(self):
        done = self.execute(BUILT["command"], "run", "--", "env", "-u", "LD_PRELOAD", BUILT["kernel_calls"], "wrong")
        self.assertEqual(done.returncode, 4)
        if BUILT["sanitized"]:
            self.skipTest("an instrumented library cannot be preloaded into echo")
        done = self.execute(BUILT["command"], "run", "--library", self.refused_library(), "--", "echo", "x")
        self.assertIn("the preload library left no sign of life", done.stderr)
        self.assertEqual((done.returncode, done.stdout), (3, "x\n"))  # nothing was watched, which is no success

    def refused_library(self):
        """Ours, but for a system that the dynamic loader does not know."""
        library = self.scratch / "libdtype_san.so"
        content = bytearray(pathlib.Path(BUILT["library"]).read_bytes())
        content[7] = 9  # EI_OSABI
        library.write_bytes(content)
        return library


if __name__ == "__main__":
    main()
