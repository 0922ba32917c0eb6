"""The library on aarch64: cross-compiled as it is for this machine, and run by qemu-user: calls bound by the linker and by
dlsym are seen, an exec that fails goes on, and nothing newer than GLIBC_2.28 is asked for. qemu-user traces no process, so
attaching is not tried. Takes half a minute, hence the label `slow`."""
import concurrent.futures
import pathlib
import re
import shutil
import subprocess
import tempfile

from support import BUILT, Case, main

TOOLS = ("aarch64-linux-gnu-g++", "aarch64-linux-gnu-gcc", "aarch64-linux-gnu-readelf", "qemu-aarch64")
SYSTEM = "/usr/aarch64-linux-gnu"
FLAGS = ("-O2 -fPIC -fvisibility=hidden -Wall -Wextra -Wpedantic -Wshadow -Werror -Wno-unknown-pragmas -std=c++20 "
         "-fno-exceptions -fno-rtti -fno-threadsafe-statics -fasynchronous-unwind-tables -fno-semantic-interposition").split()
LINK = ("-shared -static-libgcc -Wl,--exclude-libs,ALL -Wl,--as-needed -Wl,-z,defs -Wl,-z,text -Wl,-z,now "
        "-Wl,-z,nodelete").split()
PROGRAMS = pathlib.Path(BUILT["source"]) / "programs"


def made(*words):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise AssertionError(done.stderr)


class Aarch64(Case):
    @classmethod
    def setUpClass(cls):
        missing = [tool for tool in TOOLS if shutil.which(tool) is None]
        if missing:
            raise cls.skipTest(cls, f"not installed: {', '.join(missing)}")
        cls.keeper = tempfile.TemporaryDirectory(prefix="dtype-san-aarch64-")
        cls.addClassCleanup(cls.keeper.cleanup)
        cls.folder = pathlib.Path(cls.keeper.name)
        # The system's headers of DLPack and xxHash, and not its libc's.
        for name in ("dlpack/dlpack.h", "xxhash.h", "xxh3.h"):
            for found in (pathlib.Path(folder) / name for folder in BUILT["system_headers"]):
                if found.exists() and not (cls.folder / name).exists():
                    (cls.folder / name).parent.mkdir(exist_ok=True)
                    shutil.copy2(found, cls.folder / name)
        cls.build()

    @classmethod
    def build(cls):
        include = [f"-I{folder}" for folder in (*BUILT["preload_include"], cls.folder)]
        objects = [cls.folder / f"{number}.o" for number in range(len(BUILT["preload_sources"]))]

        def compiled(pair):
            made("aarch64-linux-gnu-g++", *FLAGS, *include, "-c", pair[0], "-o", pair[1])

        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            list(pool.map(compiled, zip(BUILT["preload_sources"], objects)))
        cls.library = cls.folder / "libdtype_san.so"
        made("aarch64-linux-gnu-gcc", *LINK, f"-Wl,--version-script={BUILT['exports_map']}", *objects, "-o", cls.library)
        cls.kernel = cls.folder / "libplain.so"
        c = ("aarch64-linux-gnu-gcc", "-g", "-O1", "-fPIC", *include)
        made(*c, "-shared", PROGRAMS / "plain_kernel.c", "-o", cls.kernel)
        made(*c, PROGRAMS / "linked_calls.c", cls.kernel, f"-Wl,-rpath,{cls.folder}", "-o", cls.folder / "linked_calls")
        made(*c, PROGRAMS / "exec_ways.c", cls.kernel, f"-Wl,-rpath,{cls.folder}", "-o", cls.folder / "exec_ways")
        made(*c, PROGRAMS / "opened_calls.c", "-o", cls.folder / "opened_calls")

    def run_there(self, program, *words):
        """The program's output, the same with the library as without, and the report."""
        command = ["qemu-aarch64", "-L", SYSTEM]
        plain = self.execute(*command, self.folder / program, *words)
        watched = self.execute(*command, "-E", f"LD_PRELOAD={self.library}", "-E",
                               f"DTYPE_SAN_OPTIONS=journal={self.scratch / 'journal'}:print_summary=0", self.folder / program, *words)
        self.assertEqual((watched.returncode, watched.stdout, watched.stderr), (plain.returncode, plain.stdout, plain.stderr))
        _, report = self.report(self.scratch / "journal")
        return watched.stdout, report

    def test_asks_for_an_old_libc_only(self):
        shown = subprocess.run(["aarch64-linux-gnu-readelf", "-VdW", self.library], capture_output=True, text=True, check=True).stdout
        self.assertEqual(re.findall(r"NEEDED\)\s+Shared library: \[(.*?)\]", shown), ["libc.so.6"])
        for version in re.findall(r"GLIBC_2\.(\d+)", shown):
            self.assertLessEqual(int(version), 28)

    def test_linked_and_opened_calls(self):
        for words, outer in ((("linked_calls",), "main"), (("opened_calls", "local", self.kernel), "call_kernel")):
            with self.subTest(words=words):
                _, report = self.run_there(*words)
                self.assertEqual(report["watched"]["calls"]["flash_ref_rotary"], 4)
                [finding] = report["findings"]
                self.assertEqual((finding["count"], finding["rule"]), (2, "rotary-dtype-mismatch"))
                functions = [frame["function"] for frame in finding["backtrace"]]
                self.assertEqual(functions[:3], ["rotate_once", "rotate_four_times", outer])
                self.assertIn("_start", functions)
                for journal in self.journals():
                    journal.unlink()

    def test_exec_that_fails(self):
        for function in ("execl", "execle", "execlp", "execv", "execvp", "execve", "execvpe"):
            with self.subTest(function=function):
                printed, report = self.run_there("exec_ways", function, "/nowhere/at-all", *"abcdef")
                self.assertEqual(printed, "went on: No such file or directory\n")
                self.assertEqual(sum(finding["count"] for finding in report["findings"]), 4)
                for journal in self.journals():
                    journal.unlink()


if __name__ == "__main__":
    main()
