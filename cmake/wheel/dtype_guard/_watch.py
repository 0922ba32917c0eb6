"""A part of this process under dtype-san: the preload library joins the process, and is switched on for a block.

The library stays in the process and idle after the block. A process that was started under dtype-san is only switched on
and off; its findings then stand in the journal of the whole run, and `findings` holds those of the blocks together.
"""
import ctypes
import dataclasses
import html
import json
import os
import pathlib
import subprocess
import tempfile

from ._programs import program

_PR_SET_PTRACER = 0x59616D61  # Yama's: which process may trace this one (prctl(2))


class WatchError(RuntimeError):
    """dtype-san could not join this process, or could not read what it recorded; the message is dtype-san's."""


@dataclasses.dataclass(frozen=True)
class Finding:
    """One finding: its rule, its level (error, warning or note), the message, where the value became wide (`file`, `line`, None where
    unknown), and how often."""

    rule: str
    level: str
    message: str
    file: str | None
    line: int | None
    count: int
    details: dict = dataclasses.field(repr=False, compare=False)

    @classmethod
    def of_report(cls, finding):
        """From an element of `findings` of a JSON report (rules/report/report.schema.json)."""
        location = finding.get("location") or {}
        return cls(finding["rule"], finding["level"], finding["message"], location.get("file"), location.get("line"),
                   finding["count"], finding)


def _run(*arguments, accepted=(0,)):
    """Runs dtype-san beside this process, which it may trace for that time. Its standard output."""
    libc = ctypes.CDLL(None, use_errno=True)
    any_process = ctypes.c_ulong(-1)  # the child's own id is known only once it runs
    libc.prctl(_PR_SET_PTRACER, any_process, 0, 0, 0)  # fails where there is no Yama, and is not needed there
    try:
        done = subprocess.run([program("dtype-san"), *arguments], text=True, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    finally:
        libc.prctl(_PR_SET_PTRACER, ctypes.c_ulong(0), 0, 0, 0)
    if done.returncode not in accepted:
        raise WatchError(done.stderr.strip() or f"dtype-san {arguments[0]} ended with {done.returncode}")
    return done.stdout


class Watch:
    """A block that is watched. `findings` is filled at its end, a table in a notebook."""

    _folder = None  # of the journals, one for the process: the library keeps the options that it joined with

    def __init__(self, options=""):
        self.findings = []
        self.calls = 0
        self._options = options

    def __enter__(self):
        if Watch._folder is None:
            Watch._folder = tempfile.mkdtemp(prefix="dtype-guard-")
        options = f"journal={Watch._folder}" + (f":{self._options}" if self._options else "")
        _run("attach", str(os.getpid()), "--options", options)
        return self

    def __exit__(self, kind, value, trace):
        _run("off", str(os.getpid()))
        self._read()

    def _read(self):
        with tempfile.TemporaryDirectory(prefix="dtype-guard-") as scratch:
            report = pathlib.Path(scratch) / "report.json"
            _run("report", f"--format=json={report}", "--quiet", Watch._folder, accepted=(0, 1))
            document = json.loads(report.read_text(encoding="utf-8"))
        self.findings = [Finding.of_report(each) for each in document["findings"]]
        self.calls = document["summary"].get("calls", 0)

    def __len__(self):
        return len(self.findings)

    def __iter__(self):
        return iter(self.findings)

    def __repr__(self):
        return f"<{len(self.findings)} findings in {self.calls} attention and rotary calls>"

    def _repr_html_(self):
        rows = "".join(
            f"<tr><td>{html.escape(each.rule)}</td><td>{html.escape(f'{each.file}:{each.line}' if each.file else '')}</td>"
            f"<td>{html.escape(each.message)}</td><td>{each.count}</td></tr>" for each in self.findings)
        return (f"<p>{html.escape(repr(self)[1:-1])}</p><table><tr><th>rule</th><th>place</th><th>message</th>"
                f"<th>times</th></tr>{rows}</table>")


def watch(options=""):
    """Watches the block of a `with` statement: `with dtype_guard.watch() as found: model(x)`, then `found.findings`.

    options: more of DTYPE_SAN_OPTIONS, "key=value:key=value", taken by the first block of a process alone.
    Raises WatchError where this process cannot be joined.
    """
    return Watch(options)
