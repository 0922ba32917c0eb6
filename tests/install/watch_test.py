#!/usr/bin/env python3
"""`with dtype_guard.watch()` in a PyTorch job that was started as it is, and in one that is watched already.

    watch_test.py BUILD
"""
import json
import os
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

    def test_a_table_in_a_notebook(self):
        line, *text = self.lines("""
with dtype_guard.watch() as found: wrong()
print(found._repr_html_())
print(found)
""")
        self.assertRegex(line, r"^<p>1 finding in 1 attention or rotary call</p><table><tr><th>rule</th>.*<td>attention-mixed-dtypes</td>"
                               r"<td>error</td><td>job\.py:11</td><td>&#x27;q&#x27; is .*<td>1</td></tr></table>$")
        self.assertRegex("\n".join(text), r"^1 finding in 1 attention or rotary call\njob\.py:11: error: 'q' is 'float32' while .*"
                                          r" \[attention-mixed-dtypes\]$")

    def test_a_cell_is_named_as_ipython_names_it(self):
        # A stand-in for IPython, of which one method is asked: compile.format_code_name, in each version since 8.0.
        text, html = self.lines("""
import types
def format_code_name(file):
    return ("Cell", "In[2]") if file.endswith("job.py") else None
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

    def test_nothing_is_left_and_a_child_has_its_own(self):
        before = set(os.listdir(self.scratch))
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
""", )
        self.assertEqual(lines, [f"[{FOUND.format(1)}] 1", "[] 1"])
        self.assertLessEqual(set(os.listdir(self.scratch)) - before, {"job.py"})

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
                              ("with dtype_guard.watch('journal=/tmp/x'): pass", "the journal of a block lies in a folder of its own"),
                              ("with dtype_guard.watch(5): pass", "TypeError: options: 5 is no str, expected 'key=value:key=value'"),
                              ("import tempfile\ntempfile.tempdir = '/proc/none'\nwith dtype_guard.watch(): pass",
                               "WatchError: no folder for what is recorded")):
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
