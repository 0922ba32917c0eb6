"""Functions and lines when the files are elsewhere: below --sysroot, on a debuginfod server, or nowhere."""
import ctypes
import http.server
import json
import os
import re
import shutil
import subprocess
import threading

from support import BUILT, Case, environment, main, preloadable


class Server:
    """Answers /buildid/ID/debuginfo and /buildid/ID/executable on the loopback interface, and remembers what it was asked."""

    def __init__(self):
        self.files, self.asked = {}, []
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                outer.asked.append(self.path)
                content = outer.files.get(self.path)
                self.send_response(200 if content is not None else 404)
                self.send_header("Content-Length", str(len(content or b"")))
                self.end_headers()
                self.wfile.write(content or b"")

            def log_message(self, *_words):
                pass

        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}/"
        threading.Thread(target=self.http.serve_forever, daemon=True).start()

    def end(self):
        self.http.shutdown()
        self.http.server_close()


def build_id(file):
    text = subprocess.run(["readelf", "-nW", file], capture_output=True, text=True, check=True).stdout
    return re.search(r"Build ID: ([0-9a-f]+)", text).group(1)


class Symbols(Case):
    def setUp(self):
        super().setUp()
        self.program = self.scratch / "app" / "calls"
        self.program.parent.mkdir()
        shutil.copy2(BUILT["kernel_calls"], self.program)
        self.debug = self.scratch / "calls.debug"

    def run_program(self):
        done = self.preloaded(self.program, "wrong", options="print_summary=0:verbosity=0")
        self.assertIn(done.returncode, (0, 4), done.stderr)

    def strip(self):
        subprocess.run(["objcopy", "--only-keep-debug", self.program, self.debug], check=True)
        subprocess.run(["objcopy", "--strip-all", self.program], check=True)

    def move_below(self, sysroot):
        target = sysroot / str(self.program)[1:]
        target.parent.mkdir(parents=True)
        shutil.move(self.program, target)
        return target

    def frames(self, *words, **changes):
        """Functions of the finding's stack that lie in the program, their files, and why files were refused."""
        report = self.scratch / "report.json"
        done = self.execute(BUILT["command"], "report", f"--format=json={report}", self.scratch / "journal", *words, **changes)
        self.assertEqual(done.returncode, 1, done.stderr)
        found = json.loads(report.read_text(encoding="utf-8"))
        [finding] = found["findings"]
        frames = [frame for frame in finding["backtrace"] if frame.get("module", "").endswith("/calls")]
        refused = [entry["detail"] for entry in found["not_analysed"] if entry["reason"] == "changed-binary"]
        return [frame.get("function", "") for frame in frames], [frame.get("line", 0) for frame in frames], refused

    def assertNamed(self, found):
        functions, lines, _ = found
        self.assertTrue(any("attend" in name for name in functions), functions)
        self.assertGreater(lines[0], 0)

    def test_sysroot(self):
        self.run_program()
        sysroot = self.scratch / "image"
        self.move_below(sysroot)
        functions, _, refused = self.frames()
        self.assertFalse(any(functions), functions)
        self.assertRegex(refused[0], "No such file or directory; report --sysroot names a folder that has a copy of it")
        self.assertNamed(self.frames("--sysroot", sysroot))

    def test_separate_debug_information_below_sysroot(self):
        self.strip()
        self.run_program()
        sysroot = self.scratch / "image"
        identity = build_id(self.program)
        self.move_below(sysroot)
        folder = sysroot / "usr/lib/debug/.build-id" / identity[:2]
        folder.mkdir(parents=True)
        shutil.move(self.debug, folder / f"{identity[2:]}.debug")
        self.assertNamed(self.frames("--sysroot", sysroot))

    def test_another_build_below_sysroot_is_refused(self):
        self.run_program()
        target = self.move_below(self.scratch / "image")
        shutil.copy2(BUILT["linked_calls"], target)
        functions, lines, refused = self.frames("--sysroot", self.scratch / "image")
        self.assertFalse(any(functions) or any(lines), functions)
        self.assertIn("its build-id is another one than when the program ran", refused[0])

    def test_a_program_that_was_built_anew_while_it_ran(self):
        """Its file is gone when the first call is recorded; where the same one lies there again, or elsewhere, it has lines."""
        kept = self.scratch / "kept"
        shutil.copy2(self.program, kept)
        with subprocess.Popen([self.program, "numbers-in-two", "1", "0"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              env=environment(LD_PRELOAD=preloadable(BUILT["library"]),
                                              DTYPE_SAN_OPTIONS=f"journal={self.scratch / 'journal'}:print_summary=0")) as job:
            self.until(lambda: self.journals())  # it has started
            self.program.unlink()
            job.communicate(b"go on")
        self.assertFalse(any(self.frames()[0]))
        shutil.move(kept, self.program)
        self.assertNamed(self.frames())
        sysroot = self.scratch / "image"
        self.move_below(sysroot)
        self.assertNamed(self.frames("--sysroot", sysroot))

    def test_sysroot_that_is_none(self):
        done = self.execute(BUILT["command"], "report", "--sysroot", self.scratch / "nowhere", self.scratch)
        self.assertEqual(done.returncode, 2)
        self.assertIn("nowhere' is no directory", done.stderr)

    def served(self, *kinds):
        try:
            ctypes.CDLL("libdebuginfod.so.1")  # which libdw opens
        except OSError as problem:
            self.skipTest(f"libdw can ask no server here (Debian: libdebuginfod1): {problem}")
        server = Server()
        self.addCleanup(server.end)
        identity = build_id(self.program)
        files = {"debuginfo": self.debug, "executable": self.program}
        for kind in kinds:
            server.files[f"/buildid/{identity}/{kind}"] = files[kind].read_bytes()
        variables = {"DEBUGINFOD_URLS": server.url, "DEBUGINFOD_CACHE_PATH": str(self.scratch / "cache"), "HOME": str(self.scratch)}
        return server, variables

    def test_debuginfod_gives_what_was_stripped(self):
        self.strip()
        self.run_program()
        server, variables = self.served("debuginfo")
        self.assertFalse(any(self.frames()[1]))
        self.assertEqual(server.asked, [], "asked although DEBUGINFOD_URLS is not set")
        found = self.frames(**variables)
        self.assertNotEqual(server.asked, [])
        self.assertNamed(found)

    def test_debuginfod_gives_a_program_that_is_gone(self):
        self.run_program()
        shutil.copy2(self.program, self.debug)
        server, variables = self.served("debuginfo", "executable")
        os.unlink(self.program)
        found = self.frames(**variables)
        self.assertNotEqual(server.asked, [])
        self.assertNamed(found)
        self.assertEqual(found[2], [])

    def test_a_server_that_does_not_know_it(self):
        self.strip()
        self.run_program()
        server, variables = self.served()
        functions, lines, _ = self.frames(**variables)
        self.assertFalse(any(lines), functions)
        self.assertIn(f"/buildid/{build_id(self.program)}/debuginfo", server.asked)


if __name__ == "__main__":
    main()
