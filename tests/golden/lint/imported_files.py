"""What a Python file imports of its project is read with it, where the run does not look at that file itself."""
from project import Case, main

NORM = '''import torch
import torch.nn as nn
from flash_attn import flash_attn_func


class Norm(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(dim))

    def forward(self, x):
        return (x.float() * self.weight.float()){cast}


def attend(q, k, v):
    return flash_attn_func(q, k, v)
'''
MODEL = '''import torch.nn as nn
from .parts import Norm, attend


class Attention(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.qkv = nn.Linear(dim, 3 * dim)
        self.norm = Norm(dim)

    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        return attend(self.norm(q), k, v)
'''


class ImportedFiles(Case):
    def setUp(self):
        super().setUp()
        self.write(pyproject__toml="", model_in_layers__py=MODEL)
        (self.folder / "model" / "__init__.py").write_text("")
        self.parts(cast="")

    def parts(self, cast):
        (self.folder / "model" / "parts.py").write_text(NORM.replace("{cast}", cast))

    def definite(self, *arguments, status):
        report = self.report(*arguments, status=status)
        return report, {(each["location"]["file"], each["location"]["line"], each["sinks"][0]["file"])
                        for each in report["findings"] if each["certainty"] == "definite"}

    def test_finding_between_two_files_that_are_not_named(self):
        report, found = self.definite("model/layers.py", status=1)
        self.assertEqual(found, {("model/parts.py", 12, "model/parts.py")})
        self.assertEqual([(each["file"], each["calls"]) for each in report["files"]],
                         [("model/layers.py", 0), ("model/parts.py", 1)])
        self.assertEqual(self.definite("model", status=1)[1], found)

    def test_edited_import_is_read_again(self):
        self.definite("model/layers.py", status=1)
        self.parts(cast=".to(x.dtype)")
        self.assertEqual(self.definite("model/layers.py", status=0)[1], set())

    def test_only_what_was_named_is_edited(self):
        before = (self.folder / "model" / "parts.py").read_text()
        run = self.lint("--fix", "model/layers.py")
        self.assertIn("fixed 1 finding in 1 file", run.stderr + run.stdout)
        self.assertEqual((self.folder / "model" / "parts.py").read_text(), before)
        self.assertNotEqual((self.folder / "model" / "layers.py").read_text(), MODEL)

    def test_comment_in_an_import_accepts(self):
        self.parts(cast="  # dtype-lint: ignore it is meant")
        report = self.report("model/layers.py", status=0)
        self.assertEqual(report["summary"]["suppressed"], 1)

    def test_what_nothing_calls_is_no_root(self):
        (self.folder / "model" / "parts.py").write_text(
            NORM.replace("{cast}", ".to(x.dtype)") + "\n\ndef unused(q, k, v):\n    return attend(q.float(), k, v)\n")
        self.assertEqual(self.definite("model/layers.py", status=0)[1], set())
        self.assertEqual(self.definite("model", status=1)[1], {("model/parts.py", 20, "model/parts.py")})


main()
