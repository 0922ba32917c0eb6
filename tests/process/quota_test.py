"""A quota that is used up: the job runs on, and the report says what is missing. A real one of btrfs where it can be
mounted; and everywhere a system call filter that answers the journal's writes as a quota does (EDQUOT)."""
import ctypes
import os
import shutil
import struct
import subprocess

from support import BUILT, LONG, Case, environment, main, preloadable

NUMBERS = 1000
EDQUOT = 122
JOURNAL_DESCRIPTORS = 100  # the library keeps below them
WRITE = {"x86_64": 1, "aarch64": 64}[os.uname().machine]


def refuse_long_writes(longest):
    """Writes of more bytes to the library's descriptors fail with EDQUOT, in this process and what it executes."""
    load, jump_equal, jump_at_least, jump_above, leave = 0x20, 0x15, 0x35, 0x25, 0x06
    program = [(load, 0, 0, 0), (jump_equal, 0, 5, WRITE),
               (load, 0, 0, 16), (jump_at_least, 0, 3, JOURNAL_DESCRIPTORS),
               (load, 0, 0, 32), (jump_above, 0, 1, longest),
               (leave, 0, 0, 0x00050000 | EDQUOT), (leave, 0, 0, 0x7fff0000)]
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *one) for one in program))
    filter_program = ctypes.create_string_buffer(struct.pack("H6xP", len(program), ctypes.addressof(code)))
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    if prctl(38, 1, 0, 0, 0) != 0 or prctl(22, 2, filter_program, 0, 0) != 0:
        os._exit(99)


class Quota(Case):
    def job(self, journal, options="", **rest):
        settings = {"LD_PRELOAD": preloadable(BUILT["library"]),
                    "DTYPE_SAN_OPTIONS": f"journal={journal}:max_findings=3000{options}"}
        return subprocess.run([BUILT["kernel_calls"], "numbers", str(NUMBERS)], env=environment(**settings), cwd=self.scratch,
                              capture_output=True, text=True, timeout=LONG, check=False, **rest)

    def ran_on(self, done, journal):
        """The job runs to its end; it is said once that the journal is not whole, and the report says so too. Gives the
        report's exit status and the findings that were kept."""
        self.assertEqual((done.returncode, len(done.stdout.split())), (0, NUMBERS))
        self.assertEqual(done.stderr.count("dtype-san: the journal cannot be written: disk quota exceeded; what process"), 1)
        done, report = self.report("--options=symbolize=0", journal)
        self.assertRegex(done.stdout, "ended without its closing record: counts may be low|records are missing|empty")
        return done.returncode, len(report["findings"])

    def limited_folder(self, limit):
        tools = [name for name in ("mkfs.btrfs", "btrfs", "mount") if shutil.which(name) is None]
        if tools or os.geteuid() != 0:
            self.skipTest(f"a file system with a quota wants root and btrfs-progs; missing: {', '.join(tools) or 'root'}")
        image, folder = self.scratch / "image", self.scratch / "limited"
        folder.mkdir()
        image.touch()
        os.truncate(image, 128 << 20)
        steps = (("mkfs.btrfs", "-q", "-M", image), ("mount", "-o", "loop", image, folder),
                 ("btrfs", "subvolume", "create", folder / "jobs"), ("btrfs", "quota", "enable", folder),
                 ("btrfs", "qgroup", "limit", limit, folder / "jobs"))
        for step in steps:
            done = subprocess.run(step, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                self.skipTest(f"no file system with a quota can be made here: '{step[0]}' says {done.stderr.strip()}")
            if step[0] == "mount":
                self.addCleanup(subprocess.run, ["umount", folder], check=True)
        return folder / "jobs"

    def test_a_real_quota(self):
        folder = self.limited_folder("100k")
        done = self.job(folder)
        filler = folder / "filler"
        with self.assertRaises(OSError) as caught:  # so it was the quota that ended the journal
            filler.write_bytes(bytes(1 << 20))
        self.assertEqual(caught.exception.errno, EDQUOT)
        status, kept = self.ran_on(done, folder)
        self.assertIn(status, (1, 3))  # 3: the last record was cut
        self.assertGreater(kept, 20)
        self.assertLess(kept, NUMBERS)

    def test_a_quota_that_is_used_up_before_the_start(self):
        folder = self.limited_folder("100k")
        with self.assertRaises(OSError):
            (folder / "filler").write_bytes(bytes(1 << 20))
        done = self.job(folder)
        self.assertEqual((done.returncode, len(done.stdout.split())), (0, NUMBERS))
        self.assertIn(f"cannot create a journal at '{folder}", done.stderr)
        self.assertIn("disk quota exceeded", done.stderr)

    def test_writes_that_are_refused(self):
        for longest, kept in ((0, 0), (350, 0), (1 << 20, NUMBERS)):
            with self.subTest(longest=longest):
                journal = self.scratch / f"journal{longest}"
                done = self.job(journal, preexec_fn=lambda bytes_at_most=longest: refuse_long_writes(bytes_at_most))
                if done.returncode == 99:
                    self.skipTest("system calls cannot be filtered here (no seccomp)")
                if kept == 0:
                    self.assertEqual(self.ran_on(done, journal), (3, 0))
                    continue
                shown, report = self.report("--options=symbolize=0", journal)
                self.assertEqual((shown.returncode, report["not_analysed"], len(report["findings"])), (1, [], kept))

    def test_no_word_without_a_summary(self):
        done = self.job(self.scratch / "journal", preexec_fn=lambda: refuse_long_writes(0), options=":print_summary=0")
        if done.returncode == 99:
            self.skipTest("system calls cannot be filtered here (no seccomp)")
        self.assertEqual((done.returncode, done.stderr, len(done.stdout.split())), (0, "", NUMBERS))


if __name__ == "__main__":
    main()
