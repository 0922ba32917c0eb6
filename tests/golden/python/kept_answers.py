"""With the cache dtype-lint says what it says without: a project in which files, settings and installed packages change at random.

    kept_answers.py DTYPE_LINT [STEPS [SEED]]

Each step changes something, or nothing, and runs dtype-lint over what it kept from the steps before and over nothing: the reports, the
messages and the exit status must be the same bytes.
"""
import collections
import concurrent.futures
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "lsp"))
from project import FILES as SHARED  # noqa: E402

# The project of the language server's tests, with a base class between its files.
FILES = {
    **SHARED,
    "sample/base.py": """import torch
from torch import nn
from attnlib.parts import widened

from sample.tables import make_scale


class Base(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.to_q = nn.Linear(dim, dim)
        self.scale = None

    def prepare(self, x):
        return x * make_scale()

    def keep(self, x):
        return widened(x)
""",
    "sample/attention.py": SHARED["sample/attention.py"].replace("import make_scale", "import make_scale, rotate"),
    "sample/layers.py": """import torch
from flash_attn import flash_attn_func

from sample.attention import attend, fine
from sample.base import Base


class Layer(Base):
    def forward(self, x):
        q = self.prepare(self.to_q(x))
        return flash_attn_func(q, x, x)


class Kept(Base):
    def forward(self, x):
        return fine(self.keep(x), x, x)
""",
    "sample/use.py": "from sample.layers import Kept, Layer\n\n\ndef build(x):\n    layer = Layer(8)\n    return layer(x) + Kept(8)(x)\n",
}
PACKAGE = {
    "attnlib/__init__.py": "",
    "attnlib/parts.py": "import torch\n\n\ndef widened(x):\n    return x * torch.ones(1)\n",
}
LINES = [
    "    q = q.float()", "    k = k.to(torch.float32)", "    q = F.normalize(q, dim=-1)", "    k = k * make_scale()", "    v = v.half()",
    "    q = rotate(q, torch.ones(1))", "    q = q.to(v.dtype)", "    return flash_attn_func(q, k, v)", "    return attend(q, k, v)",
    "def attend(q, k, v):", "def later(q, k, v):", "        self.scale = torch.ones(1)", "        x = x * self.scale", "        x = x.to(self.to_q.weight.dtype)",
    "    return flash_attn_func(q, k, v)  # dtype-lint: ignore[attention-mixed-dtypes] tried", "    )(", '"""', "", "# one more",
    "class Layer(Base):", "class Base(Base):", "    def prepare(self, x):", "        return x", "from sample.base import Base", "SCALE = torch.ones(1)",
]
# Whole meanings that move: of a base class, a name, a caller.
REPLACED = [
    ("sample/base.py", "return x * make_scale()", "return x"), ("sample/base.py", "return x\n", "return x * make_scale()\n"),
    ("sample/base.py", "def prepare", "def prepared"), ("sample/base.py", "def prepared", "def prepare"),
    ("sample/tables.py", "torch.ones(1)", "torch.ones(1).half()"), ("sample/tables.py", "torch.ones(1).half()", "torch.ones(1)"),
    ("sample/tables.py", "def make_scale", "def made_scale"), ("sample/tables.py", "def made_scale", "def make_scale"),
    ("sample/attention.py", "def fine", "def fine_too"), ("sample/attention.py", "def fine_too", "def fine"),
    ("sample/layers.py", "class Layer(Base)", "class Layer(Kept)"), ("sample/layers.py", "fine(self.keep(x), x, x)", "attend(x, x, self.keep(x))"),
    ("sample/use.py", "layer = Layer(8)", "layer = Layer(8).half()"), ("sample/use.py", "Layer(8).half()", "Layer(8)"),
    ("sample/use.py", "def build(x):", "def build(x):\n    x = x.float()"), ("pyproject.toml", "'sample'\n", "'sample'\ndependencies = ['flash-attn==2.5']\n"),
]
CALLER = """from sample.attention import attend, fine
from sample.layers import Layer


def called(x, y):
    attend(x.float(), y, y)
    return fine(x, y, y)


class Own(Layer):
    def prepare(self, x):
        return x.float()
"""
ARGUMENTS = [[]] * 6 + [["--strict"], ["--precision", "bf16-fp32-buffers"], ["--precision", "autocast-bf16"], ["--torch", "1.13..2.7"], ["--device", "cpu"],
                        ["--rules", "-attention-implicit-promotion"], ["--library", "flash_attn=2.5"], ["sample/layers.py", "sample/base.py"], ["sample/attention.py"]]


class Project:
    def __init__(self, lint, seed):
        self.lint, self.random = lint, random.Random(seed)
        self.scratch = tempfile.TemporaryDirectory()
        top = pathlib.Path(self.scratch.name)
        self.root, self.packages, self.cache = top / "project", top / "project/.venv/lib/python3.11/site-packages", top / "cache"
        (self.root / ".venv").mkdir(parents=True)
        (self.root / ".venv/pyvenv.cfg").write_text("version = 3.11\n")
        for folder, files in ((self.root, FILES), (self.packages, PACKAGE)):
            for name, text in files.items():
                self.write(folder / name, text)
        self.log = collections.deque(maxlen=40)
        self.compared = self.findings = self.answered = 0

    def write(self, path, text):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        if self.random.random() < 0.6:  # so old that its time is trusted; not the time that it had
            time = 1.7e9 + self.random.randrange(10**7)
            os.utime(path, (time, time))

    def files(self):
        return sorted((self.root / "sample").rglob("*.py"))

    def edit(self):
        path = self.random.choice(self.files())
        lines = path.read_text().split("\n")
        first = self.random.randrange(len(lines))
        kind = self.random.random()
        if kind < 0.5:
            lines.insert(first, self.random.choice(LINES))
        elif kind < 0.75:
            del lines[first : first + self.random.choice([1, 1, 2, 4])]
        else:
            lines[first] = self.random.choice(LINES)
        self.write(path, "\n".join(lines))
        return f"edit {path.name} {first + 1}"

    def replace(self):
        name, before, after = self.random.choice(REPLACED)
        path = self.root / name
        text = path.read_text() if path.exists() else ""
        if before not in text:
            return self.restore()
        self.write(path, text.replace(before, after, 1))
        return f"{name}: {before!r} becomes {after!r}"

    def restore(self):
        name = self.random.choice(sorted(FILES))
        self.write(self.root / name, FILES[name])
        return f"restore {name}"

    def new_file(self):
        path = self.root / f"sample/new{self.random.randrange(3)}.py"
        self.write(path, self.random.choice([CALLER, FILES["sample/attention.py"], "x = (\n"]))
        return f"new {path.name}"

    def delete(self):
        path = self.random.choice(self.files())
        path.unlink()
        return f"delete {path.name}"

    def touch(self):
        path = self.random.choice(self.files())
        os.utime(path)
        return f"touch {path.name}"

    def install(self):
        package, parts = self.packages / "attnlib", self.packages / "attnlib/parts.py"
        kind = self.random.randrange(4)
        if kind == 0 and package.exists():
            shutil.rmtree(package)
            return "uninstall"
        if kind == 1 and parts.exists():
            self.write(parts, PACKAGE["attnlib/parts.py"].replace("torch.ones(1)", self.random.choice(["torch.ones(1).half()", "2", "torch.ones(1)"])))
            return "another version of the package"
        if kind == 2:
            version = self.random.choice(["2.3.0", "2.7.4"])
            for old in self.packages.glob("flash_attn-*"):
                shutil.rmtree(old)
            self.write(self.packages / f"flash_attn-{version}.dist-info/METADATA", f"Name: flash_attn\nVersion: {version}\n")
            return f"flash_attn {version}"
        for name, text in PACKAGE.items():
            self.write(self.packages / name, text)
        return "install"

    def nothing(self):
        return "nothing"

    def step(self):
        ways = [self.edit] * 6 + [self.replace] * 5 + [self.restore] * 2 + [self.new_file, self.delete, self.touch, self.install, self.nothing, self.nothing]
        self.log.append(self.random.choice(ways)())

    def run(self, *arguments):
        run = subprocess.run([self.lint, "--format", "json", *arguments], cwd=self.root, capture_output=True, text=True, check=False)
        return run.returncode, run.stdout, run.stderr

    def compare(self):
        arguments = self.random.choice(ARGUMENTS)
        if any(not (self.root / each).exists() for each in arguments if each.endswith(".py")):
            arguments = []
        arguments = [*arguments, f"--jobs={self.random.choice([1, 1, 2, 3])}"]
        before = set(self.cache.rglob("*.answer"))
        kept = ["--cache", str(self.cache), *arguments]
        if self.random.random() < 0.1:  # several processes at once
            with concurrent.futures.ThreadPoolExecutor(3) as pool:
                here = list(pool.map(lambda _: self.run(*kept), range(3)))
        else:
            here = [self.run(*kept)]
        if self.random.random() < 0.5:
            here.append(self.run(*kept))  # nothing changed since
            self.answered += 1
        there = self.run("--no-cache", *arguments)
        self.compared += 1
        self.findings += there[1].count('"rule"')
        for each in here:
            if each != there:
                raise AssertionError("\n".join([*self.log, f"{arguments}, {len(before)} answers", f"with the cache:\n{each}", f"without:\n{there}"]))


def main():
    lint, steps = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 150
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else random.randrange(10**6)
    project = Project(lint, seed)
    try:
        for _ in range(steps):
            project.step()
            project.compare()
    except AssertionError as error:
        print(f"seed {seed}: {error}")
        return 1
    finally:
        project.scratch.cleanup()
    print(f"{steps} steps, seed {seed}: {project.compared} comparisons, {project.answered} of them once more, {project.findings} findings in all")
    return 0 if project.findings else 1


if __name__ == "__main__":
    sys.exit(main())
