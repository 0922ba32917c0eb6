#!/usr/bin/env python3
"""`with dtype_guard.watch()` in a PyTorch job that was started as it is, and in one that is watched already.

    watch_test.py BUILD
"""
import json
import os
import shutil
import sys

import wheel_support
from wheel_support import run

WRONG = """
import sys
import torch
import torch.nn.functional as F
import dtype_guard
half = torch.randn(1, 2, 8, 16, dtype=torch.bfloat16)
scale = torch.ones(16)
def right():
    F.scaled_dot_product_attention(half, half, half)
def wrong():
    q = half * scale
    try:
        F.scaled_dot_product_attention(q, half, half)
    except RuntimeError:
        pass
def told(found):
    print([(each.rule, each.line, each.count) for each in found], found.calls)
"""
FOUND = "('attention-mixed-dtypes', 11, {})"


class Watch(wheel_support.Case):
    def lines(self, text, *before, **settings):
        result = self.script(WRONG + text, *before, **settings)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.result = result
        return result.stdout.splitlines()

    def test_a_block_has_what_came_in_it(self):
        text = """
wrong()
with dtype_guard.watch() as found: right()
told(found)
with dtype_guard.watch() as found:
    for _ in range(5): wrong()
    right()
told(found)
wrong()
with dtype_guard.watch() as found: right()
told(found)
with dtype_guard.watch() as found: wrong()
told(found)
with dtype_guard.watch() as found: pass
told(found)
print(found)
"""
        expected = ["[] 1", f"[{FOUND.format(5)}] 6", "[] 1", f"[{FOUND.format(1)}] 1", "[] 0",
                    "no attention or rotary call was seen in this block"]
        self.assertEqual(self.lines(text), expected)
        self.assertEqual(self.result.stderr, "")  # the library says nothing at the end of a process that joined itself
        # Under `dtype-san run` the blocks are the same, and the report of the run has what lies between them too.
        report = self.scratch / "run.json"
        self.assertEqual(self.lines(text, self.bin / "dtype-san", "run", "--quiet", f"--format=json={report}", "--"), expected)
        document = json.loads(report.read_text())
        self.assertEqual(sum(each["count"] for each in document["findings"]), 8)

    def test_blocks_in_one_another_and_of_threads(self):
        self.assertEqual(self.lines("""
with dtype_guard.watch() as outer:
    with dtype_guard.watch() as inner: wrong()
    wrong()
told(inner)
print(sum(each.count for each in outer), outer.calls)
import threading
both = threading.Barrier(2)
def block(number):
    global sum_of
    with dtype_guard.watch() as found:
        both.wait()
        wrong()
        both.wait()
    both.wait()
    print(f"{sum(each.count for each in found)}\\n", end="")  # one write: the other thread writes too
threads = [threading.Thread(target=block, args=[n]) for n in range(2)]
for each in threads: each.start()
for each in threads: each.join()
with dtype_guard.watch() as found: right()
told(found)
"""), [f"[{FOUND.format(1)}] 1", "2 2", "2", "2", "[] 1"])

    def test_the_errors_of_a_block_stay(self):
        self.assertEqual(self.lines("""
try:
    with dtype_guard.watch() as found:
        wrong()
        raise KeyError("own")
except KeyError as error:
    print(error)
told(found)
"""), ["'own'", f"[{FOUND.format(1)}] 1"])

    def test_a_finding_is_an_object(self):
        self.assertEqual(self.lines("""
with dtype_guard.watch() as found:
    if found or len(found): print("early")
    for _ in range(3): wrong()
each, = found.findings
print(len(found), bool(found), [each] == list(found), isinstance(found, dtype_guard.Watch), isinstance(each, dtype_guard.Finding))
print(each.rule, each.level, each.file, each.line, each.count, each.details["api"])
print(each.message[:45], each == each.details)
try: each.count = 5
except AttributeError: print("is what was seen")
"""), ["1 True True True True", "attention-mixed-dtypes error job.py 11 3 scaled_dot_product_attention",
       "'q' is 'float32' while 'k' and 'v' are 'bfloa False", "is what was seen"])

    def test_options_are_those_of_dtype_san(self):
        # Without Python's frames no line of it is known.
        self.assertEqual(self.lines("""
for options in ("python=off", "python=off", ""):
    with dtype_guard.watch(options) as found: wrong()
    print([(each.rule, each.file == "job.py", each.count) for each in found])
"""), ["[('attention-mixed-dtypes', False, 1)]"] * 3)

    def test_a_table_in_a_notebook(self):
        line, *text = self.lines("""
with dtype_guard.watch() as found: wrong(); wrong()
print(found._repr_html_())
print(found)
with dtype_guard.watch() as found: right(); right()
print(found._repr_html_())
print(found)
""")
        self.assertRegex(line, r"^<p>1 finding in 2 attention or rotary calls</p><table><tr><th>rule</th><th>level</th><th>place</th>"
                               r"<th>message</th><th>times</th></tr><tr><td>attention-mixed-dtypes</td>"
                               r"<td>error</td><td>job\.py:11</td><td>&#x27;q&#x27; is .*<td>2</td></tr></table>$")
        self.assertEqual(text[0], "1 finding in 2 attention or rotary calls")
        self.assertRegex(text[1], r"^job\.py:11: error: 'q' is 'float32' while .* \[attention-mixed-dtypes\] \(2 times\)$")
        self.assertEqual(text[2:], ["<p>no findings in 2 attention or rotary calls</p>", "no findings in 2 attention or rotary calls"])

    def test_a_cell_is_named_as_ipython_names_it(self):
        # A stand-in for IPython, of which one method is asked: compile.format_code_name, in each version since 8.0.
        text, html = self.lines("""
import types
def format_code_name(file):
    return ("Cell", "In[2]") if file == __file__ else None  # a cell's file has a whole path
shell = types.SimpleNamespace(compile=types.SimpleNamespace(format_code_name=format_code_name))
with dtype_guard.watch() as found: wrong()
sys.modules["IPython"] = types.SimpleNamespace(get_ipython=lambda: shell)
print(repr(found).splitlines()[1])
print(found._repr_html_())
sys.modules["IPython"] = types.SimpleNamespace(get_ipython=lambda: None)
assert "job.py:11: error" in repr(found)
""")
        self.assertTrue(text.startswith("Cell In[2], line 11: error: 'q' is 'float32'"), text)
        self.assertIn("<td>Cell In[2], line 11</td>", html)

    def test_a_block_is_off_again(self):
        # Between blocks the library looks at no call, and a block without one asks for no report.
        self.assertEqual(self.lines("""
from dtype_guard import _library, _watch
reports = 0
def counted(journals, report=_watch._report):
    global reports
    reports += 1
    return report(journals)
_watch._report = counted
is_on = lambda: _library._control().on
with dtype_guard.watch() as found:
    print(is_on())
    with dtype_guard.watch(): print(is_on())
    print(is_on())
print(is_on())
with dtype_guard.watch() as found: wrong()
print(is_on())
before = reports
for _ in range(3):
    with dtype_guard.watch() as found: pass
print(before > 1, reports - before, found.problems)
"""), ["1", "1", "1", "0", "0", "True 0 []"])

    def test_a_child_has_its_own(self):
        lines = self.lines("""
import os
with dtype_guard.watch() as found: right()
child = os.fork()
if child == 0:
    with dtype_guard.watch() as found: wrong()
    told(found)
    sys.stdout.flush()
    os._exit(0)
os.waitpid(child, 0)
with dtype_guard.watch() as found: right()
told(found)
with dtype_guard.watch() as found:
    wrong()
    if (child := os.fork()) == 0:
        wrong(); wrong(); os._exit(0)
    os.waitpid(child, 0)
print({(each.rule, each.line) for each in found}, sum(each.count for each in found), found.problems)
""")
        self.assertEqual(lines, [f"[{FOUND.format(1)}] 1", "[] 1", "{('attention-mixed-dtypes', 11)} 3 []"])

    def test_children_that_are_not_seen_are_told_of(self):
        text = """
import subprocess
with dtype_guard.watch() as found:
    subprocess.run(["true"]); subprocess.run(["true"]); right()
told(found)
print(*found.problems, sep="|")
with dtype_guard.watch() as again:
    subprocess.run(["true"]); subprocess.run(["true"])
print(*again.problems, sep="|")
print("<p>not seen: 2 children" in found._repr_html_(), "not seen: 2 children" in repr(found))
"""
        said = "{} became another program by exec without libdtype_san.so in LD_PRELOAD: what that called was not watched. " \
               "`dtype-san run` watches a job and its children"
        self.assertEqual(self.lines(text), ["[] 1", said.format("2 children"), said.format("2 children"), "True True"])
        # They have it where the job was started under it.
        self.assertEqual(self.lines(text, self.bin / "dtype-san", "run", "--quiet", "--")[1:], ["", "", "False False"])

    def temporary(self):
        folder = self.scratch / "temporary files"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        return folder

    def test_no_file_is_left_however_the_process_ends(self):
        for end, status in (("", 0), ("os._exit(4)", 4), ("os.kill(os.getpid(), 9)", -9), ("os.execv('/bin/true', ['true'])", 0)):
            inside = f"with dtype_guard.watch() as found:\n    wrong()\n    {end or 'pass'}\n"
            for text in [inside] + ([f"with dtype_guard.watch() as found: wrong()\n{end}\n"] if "_exit" in end else []):
                folder = self.temporary()
                self.assertEqual(self.script(f"import os{WRONG}{text}", more={"TMPDIR": str(folder)}).returncode, status)
                self.assertEqual(os.listdir(folder), [], (end, text))

    def test_what_forked_children_left_goes(self):
        folder = self.temporary()
        child = "    if os.fork() == 0:\n        wrong()\n        os._exit(0)\n    os.wait()\n"
        self.assertEqual(self.script(f"import os{WRONG}with dtype_guard.watch() as found:\n{child}told(found)", more={"TMPDIR": str(folder)}).stdout,
                         f"[{FOUND.format(1)}] 1\n")
        self.assertEqual(os.listdir(folder), [])
        # Of a process that was killed it goes with the first block of another one, a day later.
        self.script(f"import os{WRONG}with dtype_guard.watch() as found:\n{child}os._exit(0)", more={"TMPDIR": str(folder)})
        left, = folder.iterdir()
        (folder / "dtype-guard-notes").mkdir()
        alive = folder / f"dtype-guard-{os.getpid()}-1"
        alive.mkdir()
        for day, expected in ((0, 3), (90000, 2)):
            for each in folder.iterdir():
                os.utime(each, (each.stat().st_atime, each.stat().st_mtime - day))
            self.script("import dtype_guard\nwith dtype_guard.watch(): pass", more={"TMPDIR": str(folder)})
            self.assertEqual(len(os.listdir(folder)), expected)
        self.assertFalse(left.exists())

    def test_folders_for_temporary_files_may_go_or_never_be(self):
        folder = self.temporary()
        self.assertEqual(self.script(f"import os, shutil{WRONG}with dtype_guard.watch() as found: wrong()\nshutil.rmtree(os.environ['TMPDIR'])\n"
                                     "with dtype_guard.watch() as found: wrong()\ntold(found)", more={"TMPDIR": str(folder)}).stdout,
                         f"[{FOUND.format(1)}] 1\n")
        self.assertEqual(self.lines("import tempfile\ntempfile.tempdir = '/proc/none'\nwith dtype_guard.watch() as found: wrong()\ntold(found)"),
                         [f"[{FOUND.format(1)}] 1"])

    def test_a_process_without_standard_streams(self):
        text = f"import os{WRONG}os.close(0); os.close(2)\nwith dtype_guard.watch() as found: wrong()\ntold(found)"
        self.assertEqual(self.script(text).stdout, f"[{FOUND.format(1)}] 1\n")

    def test_a_process_that_closes_all_its_descriptors(self):
        close = "os.closerange(3, 5000)"
        text = f"import os{WRONG}with dtype_guard.watch() as found:\n    wrong()\n    {close}\n    wrong()\n    "
        told = self.script(f"{text}right()")
        self.assertEqual(told.returncode, 1)
        self.assertRegex(told.stderr, r"WatchError: (this process has closed the descriptor of its journal, and what was recorded is gone)")
        # The block's own error goes first.
        told = self.script(f"{text}raise KeyError('own')", more={"PYTHONWARNINGS": "default"})
        self.assertEqual(told.returncode, 1)
        self.assertRegex(told.stderr, r"RuntimeWarning: dtype_guard: this process has closed[^\0]*KeyError: 'own'\n$")

    def test_an_installation_that_goes_away(self):
        # As by `pip install --upgrade` beside a running job.
        gone = "program = dtype_guard.program('dtype-san')\nwith dtype_guard.watch() as found:\n    wrong()\n    os.rename(program, program + '-')\n"
        for end, told in (("", r"WatchError: what the block recorded cannot be read: .*dtype-san is missing; install dtype-guard again\n$"),
                          ("    raise KeyError('own')\n", r"RuntimeWarning: dtype_guard: .*dtype-san is missing[^\0]*KeyError: 'own'\n$")):
            result = self.script(f"import os{WRONG}{gone}{end}", more={"PYTHONWARNINGS": "default"})
            for each in self.scratch.glob("first/lib/python*/site-packages/dtype_guard/installed/bin/dtype-san-"):
                each.rename(each.with_name("dtype-san"))
            self.assertEqual(result.returncode, 1, result.stdout)
            self.assertRegex(result.stderr, told)

    def test_no_right_to_trace_is_needed(self):
        # As in a container: neither ptrace nor process_vm_readv for any process of it.
        self.assertEqual(self.lines("""
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
libc.prctl(4, 0, 0, 0, 0)  # PR_SET_DUMPABLE: a process that cannot be traced by its own user
with dtype_guard.watch() as found: wrong()
told(found)
"""), [f"[{FOUND.format(1)}] 1"])

    def test_what_cannot_be_is_said(self):
        for text, message in (("with dtype_guard.watch('depth=x'): pass", "WatchError: dtype-san: unknown option 'depth'"),
                              ("with dtype_guard.watch(): pass\nwith dtype_guard.watch('python=off'): pass", "'python=off' come too late"),
                              ("with dtype_guard.watch('enabled=0'): pass", "WatchError: the library does not watch this process: enabled=0"),
                              ("with dtype_guard.watch('journal=/tmp/x'): pass", "the journal of a block is in memory, and gone with the process"),
                              ("import resource\nresource.setrlimit(resource.RLIMIT_NOFILE, (3, 3))\nwith dtype_guard.watch(): pass",
                               "WatchError: this process cannot be watched: [Errno 24] Too many open files"),
                              ("with dtype_guard.watch(5): pass", "TypeError: options: 5 is no str, expected 'key=value:key=value'")):
            result = self.script(WRONG + text)
            self.assertEqual(result.returncode, 1, result.stdout)
            self.assertIn(message, result.stderr)

    def test_a_process_in_which_watching_is_forbidden(self):
        file = self.scratch / "job.py"
        file.write_text(WRONG + "with dtype_guard.watch(): pass")
        library = next((self.scratch / "first").glob("lib/python*/site-packages/dtype_guard/installed/lib/libdtype_san.so"))
        environment = {**self.with_torch(), "LD_PRELOAD": str(library).replace(" ", "\\ "), "DTYPE_SAN_OPTIONS": "enabled=0"}
        if " " in str(library):  # LD_PRELOAD takes no blanks
            link = self.scratch.parent / f"{os.getpid()}-libdtype_san.so"
            link.symlink_to(library)
            self.addCleanup(link.unlink)
            environment["LD_PRELOAD"] = str(link)
        result = run(self.bin / "python", file, env=environment)
        self.assertEqual(result.returncode, 1, result.stdout)
        self.assertIn("WatchError: watching is forbidden in this process", result.stderr)


if __name__ == "__main__":
    sys.exit(wheel_support.main())
