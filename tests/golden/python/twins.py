"""Each case is one file of model code and stands for two: lines that end in `#! bad` are only in the wrong twin, lines
that end in `#! ok` only in the right one; lines keep their numbers. `# expect: RULE` marks where the wrong twin's finding
has its place, `# run: EXPRESSION` says how truth.py runs it, `# breaks: SETTING, ...` under which precision settings the
wrong twin hands a call what it refuses (the right twin: under none), `# missed: REASON` that dtype-lint does not find it,
`# false alarm: REASON` that it finds something in the right twin as well, where `# falsely: RULE` says,
`# fixed: yes` or `no` what --fix makes of the wrong twin (fixes_truth.py),
`# packages: FOLDER` what is installed, `# ruled out: SETTING, ...` which settings the right
twin's own code rules out: it is not run under these, and checked under the default ones, `# models: yes` that dtype-lint's models of libraries stand in for packages,
`# products: half` that attention is written by hand, and a product of matrices in float32 counts like a refusal,
`# products: wide` that it is written by hand and computed in float32 on purpose, `# main: yes` that it is run as a program."""
import pathlib
import re

HERE = pathlib.Path(__file__).resolve().parent
SETTINGS = {  # parameters, buffers, inputs, autocast
    "autocast-fp16": ("float32", "float32", "float16", "float16"),
    "autocast-bf16": ("float32", "float32", "bfloat16", "bfloat16"),
    "fp16-fp32-buffers": ("float16", "float32", "float16", None),
    "bf16-fp32-buffers": ("bfloat16", "float32", "bfloat16", None),
    "bf16": ("bfloat16", "bfloat16", "bfloat16", None),
}
GROUPS = {"autocast": ["autocast-fp16", "autocast-bf16"], "fp32-buffers": ["fp16-fp32-buffers", "bf16-fp32-buffers"]}


class Case:
    def __init__(self, path):
        self.path, self.name = path, f"{path.parent.name}/{path.stem}"
        self.text = path.read_text(encoding="utf-8")
        self.run = self.said("run")
        broken = self.said("breaks")
        self.breaks = sorted(each for word in re.split(r",\s*", broken) for each in GROUPS.get(word, [word]))
        self.ruled_out = re.split(r",\s*", self.said("ruled out", False))
        self.missed = self.said("missed", False)
        unknown = set(self.breaks) - set(SETTINGS)
        assert self.run and not unknown, f"{path}: needs a '# run:' line and known settings, not {unknown}"

    def said(self, word, needed=True):
        found = re.search(rf"^# {word}: (.*)$", self.text, re.M)
        assert found or not needed, f"{self.path}: has no '# {word}:' line"
        return found.group(1).strip() if found else ""

    def twin(self, which):
        other = {"bad": "ok", "ok": "bad"}[which]
        return "\n".join("" if re.search(rf"#! {other}\b", line) else line for line in self.text.split("\n"))

    def expected(self, which):
        """What is found there: `# expect: RULE` in the wrong twin, and in both what is found `# falsely: RULE`."""
        marks = "expect|falsely" if which == "bad" else "falsely"
        return sorted((number, rule) for number, line in enumerate(self.twin(which).split("\n"), 1)
                      for rule in re.findall(rf"# (?:{marks}): ([a-z0-9-]+)", line))


class Example:
    """A folder of examples/ with before.py and after.py, as a case: how truth.py runs it, and where it breaks."""

    def __init__(self, name, run, breaks, libraries=""):
        self.folder = HERE.parents[2] / "examples" / name
        self.path, self.name, self.run, self.libraries, self.missed = self.folder / "before.py", f"examples/{name}", run, libraries, ""
        self.ruled_out = []
        self.breaks = sorted(each for word in breaks.split() for each in GROUPS.get(word, [word]))

    def said(self, word, _needed=True):
        return self.libraries if word == "library" else ""

    def twin(self, which):
        return (self.folder / {"bad": "before.py", "ok": "after.py"}[which]).read_text(encoding="utf-8")


EXAMPLES = [
    Example("var", "go(SelfAttention(), x(2, 8, 64))", "autocast"),
    Example("x_transformers", "go(Attention(), x(2, 8, 64))", "fp32-buffers"),
    Example("qwen2_5_omni", "go(VisionAttention(), x(8, 64), torch.zeros(2, dtype=torch.int32), 8)", "bf16", "flash_attn=2.7"),
    Example("rwkv7", "go(TimeMix(), x(2, 8, 64))", "autocast", "fla=0.1"),
    Example("deepscaler_qwen2", "main()", "fp32-buffers bf16"),
]


def cases(names=()):
    found = [Case(path) for folder in ("alarms", "bugs", "constructs") for path in sorted((HERE / folder).glob("*.py"))]
    assert found, "no cases"
    return [each for each in found if not names or any(name in each.name for name in names)]
