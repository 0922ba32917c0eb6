#!/usr/bin/env python3
"""A block of `dtype_guard.watch()` that is typed into a shell: findings lie in the line that was typed, not in the shell's own code.

    shells_test.py BUILD
"""
import subprocess
import sys

import wheel_support
from wheel_support import TOOLS, run

TYPED = """import torch, dtype_guard
import torch.nn.functional as F
half = torch.randn(1, 2, 8, 16, dtype=torch.bfloat16)
def wrong():
    q = half * torch.ones(16)
    try:
        F.scaled_dot_product_attention(q, half, half)
    except RuntimeError:
        pass

with dtype_guard.watch() as found: wrong()

print("widened:", repr(found).splitlines()[1].partition(": error")[0])
print("called:", *[(each["file"], each["line"]) for each in found.findings[0].details["sinks"]])
"""


class Shells(wheel_support.Case):
    def typed(self, *words, text=TYPED, environment=None):
        """The places that a shell prints, which reads `text` as if it were typed."""
        done = subprocess.run([str(each) for each in words], input=text, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
                              env=environment or self.with_torch(), cwd=self.scratch)
        # In front of what is printed stands what the shell asks with.
        return [line.partition(word)[2].strip() for word in ("widened:", "called:") for line in done.stdout.splitlines()
                if word in line and "print(" not in line] or done.stdout

    def test_pythons_own_prompt(self):
        self.assertEqual(self.typed(self.bin / "python", "-i", "-q"), ["<stdin>:2", "('<stdin>', 4)"])

    def test_a_program_that_is_piped_in(self):
        self.assertEqual(self.typed(self.bin / "python", "-"), ["<stdin>:5", "('<stdin>', 7)"])

    def test_a_program_in_an_argument(self):
        self.assertEqual(self.typed(self.bin / "python", "-c", TYPED), ["<string>:5", "('<string>', 7)"])

    def test_the_prompt_of_a_program(self):
        self.assertEqual(self.typed(self.bin / "python", "-c", "import code; code.interact(banner='')"), ["<console>:2", "('<console>', 4)"])

    def test_a_file_that_runs_a_text(self):
        # Generated code has the same name as a text: the file that runs it is what can be opened.
        (self.scratch / "runs.py").write_text(f"text = {TYPED!r}\nexec(text)\n")
        self.assertEqual(self.typed(self.bin / "python", "runs.py"), ["runs.py:2", "('runs.py', 2)"])

    def test_the_prompt_of_ipython(self):
        with_torch = self.with_torch()
        tools, = (TOOLS.parent / "lib").glob("python*/site-packages")
        environment = {**with_torch, "PYTHONPATH": f"{with_torch['PYTHONPATH']}:{tools}", "IPYTHONDIR": str(self.scratch / "ipython"), "TERM": "dumb"}
        if run(self.bin / "python", "-c", "import IPython", env=environment).returncode != 0:
            self.skipTest("no IPython in BUILD/.wheel-tools")
        shell = [self.bin / "python", "-m", "IPython", "--simple-prompt", "--no-banner", "--colors=NoColor"]
        widened, called = self.typed(*shell, environment=environment)
        self.assertEqual(widened, "Cell In[4], line 2")
        self.assertRegex(called, r"^\('<ipython-input-4-\w+>', 4\)$")
        # A cell that runs a text.
        (self.scratch / "text.txt").write_text(TYPED)
        widened, called = self.typed(*shell, text="\nexec(open('text.txt').read())\n", environment=environment)
        self.assertEqual(widened, "Cell In[1], line 1")
        self.assertRegex(called, r"^\('<ipython-input-1-\w+>', 1\)$")


if __name__ == "__main__":
    sys.exit(wheel_support.main())
