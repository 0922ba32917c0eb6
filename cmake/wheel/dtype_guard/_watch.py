"""A part of this process under dtype-san: the preload library is loaded into it once, and switched on for a block.

A process that was started under `dtype-san run`, or that another tool has joined, has the library already: it goes on as it was
after the block, and what is found stands in the report of the whole run as well.
"""
from __future__ import annotations

import collections
import dataclasses
import fcntl
import html
import json
import os
import subprocess
import sys
import threading
import warnings

from . import _library
from ._library import WatchError
from ._programs import program


@dataclasses.dataclass(frozen=True)
class Finding:
    """One finding: its rule, its level (error, warning or note), the message, where the value became wide (`file`, `line`, None where
    unknown), and how often it came in the block."""

    rule: str
    level: str
    message: str
    file: str | None
    line: int | None
    count: int
    details: dict = dataclasses.field(repr=False, compare=False)

    @classmethod
    def of_report(cls, finding, count):
        """From an element of `findings` of a JSON report (rules/report/report.schema.json)."""
        location = finding.get("location") or {}
        return cls(finding["rule"], finding["level"], finding["message"], location.get("file"), location.get("line"), count, finding)


def _open(journal):
    """A descriptor that another program can be given: 0, 1 and 2 may be free here, and are its own there."""
    opened = os.open(journal, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return fcntl.fcntl(opened, fcntl.F_DUPFD_CLOEXEC, 3)
    finally:
        os.close(opened)


def _report(journals):
    """The JSON report of the journals as they are now."""
    opened = [_open(each) for each in journals]  # one in memory has no name for other processes
    try:
        done = subprocess.run([program("dtype-san"), "report", "--format=json", "--quiet", *(f"/proc/self/fd/{each}" for each in opened)],
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, pass_fds=opened,
                              env=_library.unwatched(), check=False)
    finally:
        for each in opened:
            os.close(each)
    if done.returncode not in (0, 1, 3) or not done.stdout:
        raise WatchError(done.stderr.decode(errors="replace").strip() or f"dtype-san report ended with {done.returncode}")
    return json.loads(done.stdout)


def _counts(finding):
    """How often it was seen so far, by what stays the same of an occurrence."""
    location = finding.get("location") or {}
    what = (finding["rule"], finding.get("api"), location.get("file"), location.get("line"))
    return {(*what, each.get("host"), each.get("pid"), each.get("thread"), each.get("first_seen")): each["count"]
            for each in finding["occurrences"]}


def _place(finding):
    """Where to look: file and line, in a notebook the cell as IPython names it in its tracebacks; empty where unknown."""
    if not finding.file:
        return ""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    name = getattr(getattr(shell, "compile", None), "format_code_name", lambda file: None)
    named = name(finding.file) or name(os.path.abspath(finding.file))  # files below the working folder are told by their way from there
    return f"{' '.join(named)}, line {finding.line}" if named else f"{finding.file}:{finding.line}"


class _Seen:
    """What the journals of this process hold at one moment."""

    _newest = None  # of the process: between blocks mostly nothing is written

    def __init__(self, state, document):
        self.state = state
        self.findings = document["findings"]
        self.calls = document["summary"].get("calls", 0)
        self.problems = [each.get("detail") or each["reason"] for each in document["not_analysed"]]
        self.counts = {key: count for each in self.findings for key, count in _counts(each).items()}

    @classmethod
    def now(cls):
        journals = _library.journals()
        state = [(str(each), each.stat().st_size) for each in journals]
        if cls._newest is None or cls._newest.state != state:
            empty = {"findings": [], "summary": {}, "not_analysed": []}
            cls._newest = cls(state, _report(journals) if journals else empty)
        return cls._newest

    def since(self, before):
        """What came since then."""
        found = []
        for each in self.findings:
            count = sum(now - before.counts.get(key, 0) for key, now in _counts(each).items())
            if count > 0:
                found.append(Finding.of_report(each, count))
        return found


class Watch:
    """A block that is watched. `findings` is filled at its end, a table in a notebook; `calls` is how many attention and rotary calls
    were looked at, and `problems` what could not be read of them."""

    _lock = threading.Lock()
    _open = 0  # blocks that are not left yet, of all threads
    _was_on = False  # before the first of them

    def __init__(self, options=""):
        self.findings = []
        self.calls = 0
        self.problems = []
        self._options = options
        self._before = None

    def __enter__(self):
        try:
            with Watch._lock:
                was_on = _library.join(self._options)
                if Watch._open == 0:
                    Watch._was_on = was_on
                _library.switch(was_on)  # what was counted so far is no part of the block
                self._before = _Seen.now()
                _library.switch(True)
                Watch._open += 1
        except OSError as problem:  # no descriptor left, no /proc
            raise WatchError(f"this process cannot be watched: {problem}") from problem
        return self

    def __exit__(self, kind, value, trace):
        try:
            with Watch._lock:
                Watch._open -= 1
                _library.switch(Watch._open > 0 or Watch._was_on)
                now = _Seen.now()
            self.findings = now.since(self._before)
            self.calls = now.calls - self._before.calls
            self.problems = list((collections.Counter(now.problems) - collections.Counter(self._before.problems)).elements())
        except (WatchError, OSError, ValueError) as problem:
            if kind is None:
                raise problem if isinstance(problem, WatchError) else WatchError(f"what the block recorded cannot be read: {problem}") from problem
            warnings.warn(f"dtype_guard: {problem}", RuntimeWarning, stacklevel=2)  # the block's own error goes first

    def __len__(self):
        return len(self.findings)

    def __iter__(self):
        return iter(self.findings)

    def __bool__(self):
        return bool(self.findings)

    def _summary(self):
        if self.calls == 0 and not self.findings:
            return "no attention or rotary call was seen in this block"
        findings = "1 finding" if len(self) == 1 else f"{len(self) or 'no'} findings"
        return f"{findings} in {self.calls} attention or rotary call{'' if self.calls == 1 else 's'}"

    def __repr__(self):
        lines = [self._summary()]
        for each in self:
            place = _place(each)
            lines.append(f"{place}{': ' if place else ''}{each.level}: {each.message} [{each.rule}]" + (f" ({each.count} times)" if each.count > 1 else ""))
        return "\n".join([*lines, *(f"not seen: {each}" for each in self.problems)])

    def _repr_html_(self):
        def row(cell, values):
            return "<tr>" + "".join(f"<{cell}>{html.escape(str(each))}</{cell}>" for each in values) + "</tr>"

        text = f"<p>{html.escape(self._summary())}</p>"
        if self.findings:
            text += "<table>" + row("th", ("rule", "level", "place", "message", "times"))
            text += "".join(row("td", (each.rule, each.level, _place(each), each.message, each.count)) for each in self)
            text += "</table>"
        return text + "".join(f"<p>not seen: {html.escape(each)}</p>" for each in self.problems)


def watch(options=""):
    """Watches the block of a `with` statement: `with dtype_guard.watch() as found: model(x)`, then `found.findings`.

    options: more of DTYPE_SAN_OPTIONS, "key=value:key=value". The library keeps those of the first block of a process; other ones later
    raise WatchError, as a process does in which the library cannot be.
    """
    if not isinstance(options, str):
        raise TypeError(f"options: {options!r} is no str, expected 'key=value:key=value' as in DTYPE_SAN_OPTIONS")
    return Watch(options)
