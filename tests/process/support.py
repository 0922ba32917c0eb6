"""What the process tests share: the built files, running a command, and looking into a report.

Each script is `SCRIPT SETTINGS.json [unittest arguments]`; SETTINGS names the built files (CMakeLists.txt writes it).
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

BUILT = json.loads(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"))


def environment(**changes):
    """This environment without what would change the outcome. ASan wants to come before a preloaded library."""
    kept = {key: value for key, value in os.environ.items()
            if key not in ("DTYPE_SAN_OPTIONS", "DTYPE_SAN_LIBRARY", "DTYPE_SAN_COMMAND_PID", "DTYPE_SAN_TALLY", "LD_PRELOAD", "RANK",
                         "DEBUGINFOD_URLS")}
    if "address" in BUILT["sanitized"]:
        kept["ASAN_OPTIONS"] = "verify_asan_link_order=0:detect_leaks=0:handle_segv=0"
    return {**kept, **changes}


LONG = 600  # seconds: what takes longer hangs
LINKS = tempfile.TemporaryDirectory(prefix="dtype-san-links-")


def preloadable(library):
    """The library's path, or that of a link to it: LD_PRELOAD is split at spaces and colons."""
    if not re.search(r"[ :]", library):
        return library
    link = pathlib.Path(LINKS.name) / pathlib.Path(library).name
    if not link.exists():
        link.symlink_to(library)
    return str(link)


class Case(unittest.TestCase):
    """A test with a scratch folder, in which its commands run."""

    maxDiff = None
    last_report = None

    def _formatMessage(self, msg, standardMsg):
        """What fails once in some hundred runs is looked for in what that report says of its processes."""
        message = super()._formatMessage(msg, standardMsg)
        if self.last_report is None:
            return message
        said = {key: self.last_report["watched"][key] for key in ("calls", "processes", "sources")}
        said["not_analysed"] = self.last_report["not_analysed"]
        return f"{message}\nthe last report of a run: {json.dumps(said)}"

    def setUp(self):
        self.scratch = pathlib.Path(tempfile.mkdtemp(prefix="dtype-san-test-"))
        self.addCleanup(shutil.rmtree, self.scratch)

    def execute(self, *words, **changes):
        return subprocess.run([str(word) for word in words], env=environment(**changes), cwd=self.scratch,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LONG, check=False)

    def until(self, condition, seconds=LONG):
        """What `condition` gives once it is true. A sleep of some length is right on some machines only."""
        end = time.monotonic() + seconds
        while not (found := condition()):
            self.assertLess(time.monotonic(), end, "what was waited for has not come")
            time.sleep(0.02)
        return found

    def run_command(self, *words, options=(), **changes):
        """`dtype-san run OPTIONS -- WORDS`; gives the finished process and the JSON report."""
        report = self.scratch / "report.json"
        done = self.execute(BUILT["command"], "run", f"--format=json={report}", *options, "--", *words, **changes)
        self.assertTrue(report.exists(), done.stderr)
        self.last_report = json.loads(report.read_text(encoding="utf-8"))
        return done, self.last_report

    def calls(self, *words, **rest):
        return self.run_command(BUILT["kernel_calls"], *words, **rest)

    def preloaded(self, *words, options="", **changes):
        """The command with the library preloaded by hand; journals go to scratch/journal."""
        settings = f"journal={self.scratch / 'journal'}:{options}"
        return self.execute(*words, LD_PRELOAD=preloadable(BUILT["library"]), DTYPE_SAN_OPTIONS=settings, **changes)

    def journals(self):
        return sorted((self.scratch / "journal").glob("*.dtype-san"))

    def report(self, *words):
        """`dtype-san report` with the JSON it wrote, or None."""
        report = self.scratch / "report.json"
        report.unlink(missing_ok=True)
        done = self.execute(BUILT["command"], "report", f"--format=json={report}", *words)
        return done, json.loads(report.read_text(encoding="utf-8")) if report.exists() else None


    def recorded(self):
        """The findings that are in the journals by now."""
        report = self.report("--options=symbolize=0", self.scratch / "journal")[1] if self.journals() else None
        return report["findings"] if report else []

    def echo(self, *words, program="cat", **changes):
        """A job that has come to its own code and waits for input: it has given back a line."""
        job = subprocess.Popen([*map(str, words), str(program)], env=environment(**changes), text=True, stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE)
        self.addCleanup(job.communicate)
        self.addCleanup(job.kill)
        job.stdin.write("ready\n")
        job.stdin.flush()
        self.assertEqual(job.stdout.readline(), "ready\n")
        return job

    def ended(self, *words):
        """A process that has ended and waits for its parent."""
        job = subprocess.Popen(words or ["true"])
        self.addCleanup(job.wait)
        os.waitid(os.P_PID, job.pid, os.WEXITED | os.WNOWAIT)
        return job


def ask(job, line=""):
    """Writes a line to a job and gives its answer."""
    job.stdin.write(f"{line}\n")
    job.stdin.flush()
    return job.stdout.readline()


def marked_line(program, name):
    """The line of `program` that ends with the comment "call: NAME"."""
    text = (pathlib.Path(BUILT["source"]) / "programs" / program).read_text(encoding="utf-8")
    for number, line in enumerate(text.splitlines(), 1):
        if re.search(rf"(//|#) call: {name}$", line):
            return number
    raise AssertionError(f"{program} has no line marked {name}")


def operands(finding):
    return {operand["role"]: operand["dtypes"][0] for operand in finding["operands"]}


def main():
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
