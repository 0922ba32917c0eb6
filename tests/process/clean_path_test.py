"""What a call whose dtypes are right executes inside dtype-san, instruction by instruction: no lock, no system call, no
clock, no thread-local variable, and no function of any other library. And as many system calls whatever the number of calls."""
import bisect
import ctypes
import os
import pathlib
import platform
import re
import shutil
import signal
import subprocess

from support import BUILT, Case, environment, main, preloadable

TRACEME, PEEKTEXT, PEEKUSER, CONT, STEP = 0, 1, 3, 7, 9
RIP = 16 * 8
LIMIT = 2_000_000
BANNED = re.compile(r"^(lock|syscall|sysenter|int|rdtsc|rdtscp|rdpmc|cpuid|mfence|pause)\b|^xchg .*\(|%fs:(?!0x0(,|$))")

LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.ptrace.restype = ctypes.c_long
LIBC.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]


class Traced:
    """A child that stops at its breakpoints and can be stepped."""

    def __init__(self, words, variables):
        self.pid = os.fork()
        if self.pid == 0:
            LIBC.ptrace(TRACEME, 0, None, None)
            os.execve(words[0], words, variables)
        os.waitpid(self.pid, 0)

    def go(self, request):
        if LIBC.ptrace(request, self.pid, None, None) != 0:
            raise OSError(ctypes.get_errno(), "ptrace")
        _, status = os.waitpid(self.pid, 0)
        if not os.WIFSTOPPED(status):
            raise AssertionError(f"the program ended with status {status}")
        if os.WSTOPSIG(status) != signal.SIGTRAP:
            raise AssertionError(f"signal {os.WSTOPSIG(status)}")

    def place(self):
        return LIBC.ptrace(PEEKUSER, self.pid, ctypes.c_void_p(RIP), None) & (1 << 64) - 1

    def at_breakpoint(self, place):
        return LIBC.ptrace(PEEKTEXT, self.pid, ctypes.c_void_p(place - 1), None) & 0xff == 0xcc

    def call(self):
        """Each instruction's address between two breakpoints."""
        places = []
        for _ in range(LIMIT):
            self.go(STEP)
            place = self.place()
            if places and places[-1] == place - 1 and self.at_breakpoint(place):
                return places
            places.append(place)
        raise AssertionError(f"no second breakpoint within {LIMIT} instructions")

    def maps(self):
        """(start, end, offset, file), sorted."""
        found = []
        for line in pathlib.Path(f"/proc/{self.pid}/maps").read_text(encoding="utf-8").splitlines():
            words = line.split(maxsplit=5)
            start, end = (int(word, 16) for word in words[0].split("-"))
            found.append((start, end, int(words[2], 16), words[5] if len(words) > 5 else ""))
        return found

    def end(self):
        if self.pid:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        self.pid = 0


def instructions(library):
    """Address in the file -> the instruction's text."""
    text = subprocess.run(["objdump", "-d", "--no-show-raw-insn", library], capture_output=True, text=True, check=True).stdout
    return {int(match[1], 16): match[2].strip() for match in re.finditer(r"^ *([0-9a-f]+):\t(.+)$", text, re.M)}


class CleanPath(Case):
    def setUp(self):
        super().setUp()
        if platform.machine() != "x86_64":
            self.skipTest(f"instructions are looked at on x86-64, this is {platform.machine()}")
        if BUILT["sanitized"]:
            self.skipTest("an instrumented program executes instructions of its own")

    def traced(self, program, options):
        settings = f"journal={self.scratch / 'journal'}:print_summary=0:{options}"
        try:
            child = Traced([BUILT[program]], environment(LD_PRELOAD=preloadable(BUILT["library"]), DTYPE_SAN_OPTIONS=settings))
            self.addCleanup(child.end)
            child.go(CONT)
        except OSError as error:
            self.skipTest(f"no process can be traced here: {error}")
        return child

    def look_at(self, program, options):
        """The instructions of dtype-san in one clean call, and the first address outside of it after each visit."""
        child = self.traced(program, options)
        child.call()  # the first call of this instruction in main
        places = child.call()
        maps = child.maps()
        starts = [one[0] for one in maps]
        listing = instructions(BUILT["library"])
        base = min(start for start, _, offset, file in maps if file.endswith("/libdtype_san.so") and offset == 0)
        inside, left_for, before = [], [], ""
        for place in places:
            entry = maps[bisect.bisect_right(starts, place) - 1]
            file = pathlib.Path(entry[3]).name
            if file == "libdtype_san.so":
                inside.append(listing[place - base])
            elif before == "libdtype_san.so":
                left_for.append((inside[-1], file))
            before = file
        return inside, left_for

    def check(self, program, options, least, most, kernel):
        inside, left_for = self.look_at(program, options)
        with self.subTest(program=program, options=options):
            self.assertEqual([text for text in inside if BANNED.search(text)], [])
            # It comes back, or goes on to the kernel; it calls nothing else.
            others = [(text, file) for text, file in left_for if not text.startswith("ret") and file != kernel]
            self.assertEqual(others, [])
            # A signal's handler may call too: the count is one instruction, and nothing of it gets lost.
            self.assertEqual(len([text for text in inside if re.match(r"addq +\$0x1,", text)]), 1)
            self.assertGreater(len(inside), least)
            self.assertLess(len(inside), most)
            print(f"{program}, {options or 'defaults'}: {len(inside)} instructions of dtype-san in a clean call")

    def test_instructions_of_a_clean_call(self):
        self.check("stepped", "origins=0", 20, 90, "libflash_ref.so")
        self.check("stepped", "", 150, 1500, "libflash_ref.so")

    def test_instructions_of_a_clean_call_without_a_slot(self):
        self.check("stepped_plain", "origins=0", 20, 180, "libprocess_plain_kernel.so")

    def test_the_check_can_fail(self):
        """The library does have such instructions elsewhere, and the rule knows them."""
        found = {BANNED.search(text).group() for text in instructions(BUILT["library"]).values() if BANNED.search(text)}
        self.assertLessEqual({"lock"}, found)

    def test_system_calls_do_not_grow_with_calls(self):
        if shutil.which("strace") is None:
            self.skipTest("strace is not installed")
        counts = []
        for calls in (10, 20000):
            log = self.scratch / f"{calls}.txt"
            done = self.execute("strace", "-f", "-qq", "-c", "-o", log, "-E", f"LD_PRELOAD={preloadable(BUILT['library'])}", "-E",
                                f"DTYPE_SAN_OPTIONS=journal={self.scratch / 'journal'}", BUILT["harmless"], "clean", calls)
            if "ptrace" in done.stderr:
                self.skipTest(f"no process can be traced here: {done.stderr}")
            self.assertEqual((done.returncode, done.stdout), (0, f"refused 0 of {calls}\n"), done.stderr)
            counts.append(int(re.search(r"(?m)^100\.00\s+\S+\s+\S+\s+(\d+)\s.*total$", log.read_text(encoding="utf-8")).group(1)))
        print(f"system calls with 10 and with 20,000 clean calls: {counts[0]}, {counts[1]}")
        self.assertEqual(counts[0], counts[1])


if __name__ == "__main__":
    main()
