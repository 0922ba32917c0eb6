"""No finding and no sight are different answers in Python too: calls that are spelt like attention and were not followed are
counted with the cause.

    sight.py DTYPE_LINT
"""
import json
import pathlib
import unittest

import jsonschema

from command_line import Case

ROOT = pathlib.Path(__file__).resolve().parents[3]
KNOWN = """import torch
import torch.nn.functional as F


def attend(x: torch.Tensor):
    return F.scaled_dot_product_attention(x, x, x)
"""
LIBRARY = """import torch
from torch import nn
from otherlib.models import LlamaAttention
from otherlib import my_sdpa


class Block(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.attn = LlamaAttention(dim)

    def forward(self, x: torch.Tensor):
        return my_sdpa(x, x, x)
"""
NO_ATTENTION = """import torch
from otherlib import get_attention_mask, attention_dropout, is_flash_attn_available, AttentionConfig


def prepare(x: torch.Tensor):
    '''attention(x)'''
    # attention(x)
    if is_flash_attn_available():
        return "attention(x)"
    return attention_dropout(get_attention_mask(x)), AttentionConfig(x)
"""
OWN = """import torch
import torch.nn.functional as F


def my_attention(x):
    return F.scaled_dot_product_attention(x, x, x)


def by_hand_attention(x):
    return x + x


class Attention(torch.nn.Module):
    def forward(self, x: torch.Tensor):
        return my_attention(x)


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.attn = Attention()
        self.more = torch.nn.ModuleList([Attention() for _ in range(2)])

    def forward(self, x: torch.Tensor):
        return by_hand_attention(self.attn(x))
"""


ROTARY = """import torch
from torch import nn


class Rotary(nn.Module):
    def __init__(self, dim, positions=64):
        super().__init__()
        angles = torch.outer(torch.arange(positions).float(), torch.arange(dim).float())
        self.register_buffer("cos", angles.cos())
        self.register_buffer("sin", angles.sin())

    def forward(self, t):
        first, second = t.chunk(2, dim=-1)
        return t * self.cos + torch.cat((-second, first), dim=-1) * self.sin
"""
HOLDERS = """import torch
from torch import nn
from rotary import Rotary


class Attention(nn.Module):
    def __init__(self, dim, rope=None):
        super().__init__()
        self.qkv = nn.Linear(dim, 3 * dim)
        self.rope = rope

    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        if self.rope:
            q, k = self.rope(q).type_as(v), self.rope(k).type_as(v)
        return nn.functional.scaled_dot_product_attention(q, k, v)


class Model(nn.Module):
    def __init__(self, dim, rope=False):
        super().__init__()
        self.rope = Rotary(dim) if rope else None
        self.layers = nn.ModuleList([Attention(dim, rope=self.rope)])

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x
"""
MASKED = """import torch
from torch import nn
from transformers.masking_utils import create_causal_mask


class Attention(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.qkv = nn.Linear(dim, dim * 3)

    def forward(self, x, mask, scale: float | None = None):
        q, k, v = self.qkv(x).unsqueeze(1).chunk(3, dim=-1)
        if scale is None:
            scale = q.shape[-1] ** -0.5
        scores = q @ k.transpose(-1, -2) * scale + mask
        return scores.softmax(dim=-1) @ v
"""
MASKING = """

class Model(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config, self.embed, self.attention = config, nn.Embedding(16, 64), Attention(64)

    def forward(self, ids):
        x = self.embed(ids)
        mask = create_causal_mask(config=self.config, inputs_embeds=x, attention_mask=None)
        return self.attention(x, mask, self.config.scale)
"""
# Of few classes each is taken to be what any call runs.
MANY = "from torch import nn\n" + "".join(f"""

class Part{i}(nn.Module):
    def forward(self, x):
        return x
""" for i in range(40))


class Sight(Case):
    def closing(self, *arguments, status=0):
        run = self.lint(*arguments)
        self.assertEqual(run.returncode, status, run.stdout + run.stderr)
        return run.stdout.splitlines()

    def causes(self, *arguments, status=0):
        report = self.report(*arguments, status=status)
        return sorted((call["cause"], call["name"], call["location"]["line"]) for call in report["unseen_calls"])

    def test_a_module_that_a_constructor_is_handed_is_called(self):
        self.write(rotary__py=ROTARY, model__py=HOLDERS, parts__py=MANY)
        self.assertEqual(self.report("rotary.py", "model.py", "parts.py", status=0)["findings"], [])
        self.write(model__py=HOLDERS.replace("self.rope(q).type_as(v), self.rope(k).type_as(v)", "q, k"))
        alone = self.report("rotary.py", "model.py", "parts.py", status=1)["findings"]
        self.assertEqual([(each["rule"], each["certainty"], each["location"]["line"]) for each in alone],
                         [("rotary-dtype-mismatch", "definite", 14)])

    def test_what_was_seen_is_counted_by_file(self):
        self.write(a__py=KNOWN, b__py="x = 1\n")
        report = self.report("a.py", "b.py", status=0)
        summary = report["summary"]
        self.assertEqual([summary[name] for name in ("calls", "undecided", "operands", "known", "unseen", "files")],
                         [1, 0, 3, 3, 0, 2])
        self.assertEqual(report["files"], [{"file": "a.py", "calls": 1, "undecided": 0, "unseen": 0},
                                           {"file": "b.py", "calls": 0, "undecided": 0, "unseen": 0}])
        schema = (ROOT / "rules" / "report" / "report.schema.json").read_text(encoding="utf-8")
        jsonschema.validate(report, json.loads(schema))
        self.assertEqual(self.closing("a.py"), ["no findings; 1 attention call checked; 1 file analysed"])

    def test_what_the_program_itself_hands_over_decides(self):
        self.write(a__py=MASKED)
        alone = self.report("a.py", status=0)
        self.assertEqual([call["unknown"] for call in alone["calls"]], [[], ["left"]])
        self.write(a__py=MASKED + MASKING)
        called = self.report("a.py", status=0)
        self.assertEqual([call["unknown"] for call in called["calls"]], [[], []])

    def test_a_part_of_what_a_call_gives_is_no_call(self):
        self.write(a__py=PART)
        self.assertEqual(self.closing("a.py"), ["no findings; 1 attention call checked; 1 file analysed"])

    def test_calls_into_libraries_are_named_once(self):
        self.write(a__py=LIBRARY)
        self.assertEqual(self.causes("a.py"), [("library", "LlamaAttention", 10), ("library", "my_sdpa", 13)])
        self.assertEqual(self.closing("a.py"), [
            "2 calls spelt like attention left no record: 2 into libraries whose source is not read "
            "('LlamaAttention' of otherlib at a.py:10, 'my_sdpa' of otherlib at a.py:13)",
            "no findings; no attention call was seen; 1 file analysed"])
        self.assertEqual(self.lint("--quiet", "a.py").stdout, "")

    def test_what_is_called_may_be_unknown(self):
        self.write(a__py=KNOWN + "\n\ndef more(x: torch.Tensor, attn):\n    return attn(x), flash_attention(attend(x))\n")
        self.assertEqual(self.causes("a.py"), [("unknown", "attn", 10), ("unknown", "flash_attention", 10)])

    def test_own_code_and_other_names_are_no_blindness(self):
        self.write(a__py=NO_ATTENTION, b__py=OWN, c__py="def sdpa(x):\n    return x\n\n\nclass Attention:\n    pass\n")
        self.assertEqual(self.causes(), [])

    def test_code_outside_functions(self):
        self.write(a__py=KNOWN + "\n\nout = attend(torch.ones(2, 2))\nF.scaled_dot_product_attention(out, out, out)\n")
        self.assertEqual(self.causes("a.py"), [])
        self.assertEqual(self.closing("a.py"), ["no findings; 2 attention calls checked; 1 file analysed"])

    def test_a_file_with_errors_says_what_they_took(self):
        self.write(a__py=KNOWN + "\n\ndef broken(x:\n    y = (x\n    return F.scaled_dot_product_attention(x, x, x)\n")
        run = self.lint("a.py")
        self.assertEqual(run.returncode, 3)
        self.assertRegex(run.stdout, r"1 call spelt like attention left no record: 1 in files that could not be read wholly "
                                     r"\('scaled_dot_product_attention' at a\.py:11\)\n")

    def test_other_formats_say_it_too(self):
        self.write(a__py=LIBRARY)
        words = "2 calls spelt like attention left no record"
        self.assertIn("no attention call was seen; " + words, self.lint("--format", "github", "a.py").stdout)
        self.assertIn("no attention call was seen; " + words, self.lint("--format", "sarif", "a.py").stdout)
        self.assertIn(words, self.lint("--format", "html", "a.py").stdout)


PART = """import torch.nn as nn
from flash_attn import flash_attn_func


class SelfAttention(nn.Module):
    def forward(self, q):
        return flash_attn_func(q.half(), q.half(), q.half()), q


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.attn = SelfAttention()

    def forward(self, x):
        return x + self.attn(x)[0] + self.attn(x)[1].flatten(2)
"""


PROMOTED = """import torch
import torch.nn.functional as F


def attend(x: torch.Tensor, k: torch.Tensor, v: torch.Tensor):
    q = x * torch.ones(8, dtype=torch.float32)
    return F.scaled_dot_product_attention(q, k, v)
"""


class Pyproject(Case):
    def found(self, *arguments):
        run = self.lint("--format=json", *arguments)
        self.assertIn(run.returncode, (0, 1), run.stderr)
        return sorted({each["location"]["file"] for each in json.loads(run.stdout)["findings"]})

    def test_its_table_holds_and_a_file_of_ours_wins(self):
        self.write(a__py=PROMOTED, b__py=KNOWN, pyproject__toml="[project]\nname = 'x'\n")
        self.assertEqual(self.found(), ["a.py"])
        self.write(pyproject__toml="[project]\nname = 'x'\n[tool.dtype-lint]\nexclude = ['a.py']\n")
        self.assertEqual(self.found(), [])
        self.assertEqual(self.found("a.py"), ["a.py"])
        self.write(**{"__dtype-lint__json": "{}"})
        self.assertEqual(self.found(), ["a.py"])

    def test_rules_for_some_files(self):
        rule = "attention-implicit-promotion"
        self.write(a__py=PROMOTED, tests___b__py=PROMOTED,
                   pyproject__toml=f"[tool.dtype-lint.per-file-rules]\n'tests/*' = ['-{rule}']\n")
        self.assertEqual(self.found(), ["a.py"])
        self.write(pyproject__toml="[tool.other]\n", **{"__dtype-lint__json": f'{{"per-file-rules": {{"a.py": ["-{rule}"]}}}}'})
        self.assertEqual(self.found(), ["tests/b.py"])

    def test_what_is_wrong_is_named(self):
        for text, words in (("[tool.dtype-lint]\nstrikt = true\n", ("'strikt'", '"strict"')),
                            ("[tool.dtype-lint]\nstrict = 1\n", ("'strict' is 1", "true or false")),
                            ("[tool.dtype-lint]\nstrict = \n", ("pyproject.toml:2", "not TOML")),
                            ("[tool]\ndtype-lint = 3\n", ("'tool.dtype-lint' is no table",)),
                            ("[tool.dtype-lint]\nper-file-rules = {'a.py' = ['-none']}\n", ("'none'",)),
                            ("[tool.dtype-lint]\nper-file-rules = ['a']\n", ("per-file-rules", "globs"))):
            with self.subTest(text):
                self.write(a__py=PROMOTED, pyproject__toml=text)
                run = self.lint()
                self.assertEqual(run.returncode, 2, run.stdout + run.stderr)
                for word in words:
                    self.assertIn(word, run.stderr)

    def test_a_broken_file_that_is_none_of_ours_stops_nothing(self):
        self.write(a__py=PROMOTED, pyproject__toml="[project\nname = \n")
        self.assertEqual(self.found(), ["a.py"])


class Twins(Case):
    def test_a_generated_file_adds_nothing_to_its_source(self):
        def places():
            return [(each["location"]["file"], len(each["sinks"])) for each in self.report(status=1)["findings"]]

        self.write(m___modular_x__py=PROMOTED, m___modeling_x__py="# generated from modular_x.py\n" + PROMOTED)
        self.assertEqual(places(), [("m/modular_x.py", 2)])
        # What only the generated file has is reported there, and so is what stands in another folder.
        self.write(m___modular_x__py=KNOWN)
        self.assertEqual(places(), [("m/modeling_x.py", 1)])
        self.write(n___modular_x__py=PROMOTED)
        self.assertEqual([each[0] for each in places()], ["m/modeling_x.py", "n/modular_x.py"])

    def test_a_source_says_nothing_of_what_it_inherits(self):
        """What is generated from it has the inherited code copied into it, and calls what the source imports by that name."""
        base = ("import torch\nfrom flash_attn import flash_attn_func\n\n\ndef rotated(x, table):\n    return x * table\n\n\n"
                "class Base:\n    def forward(self, x: torch.Tensor, table: torch.Tensor):\n"
                "        return flash_attn_func(rotated(x, table), x, x)\n")
        own = ("import torch\nfrom base import Base\n\n\ndef rotated(x, table):\n    return (x * table).to(x.dtype)\n\n\n"
               "class Own(Base):\n    pass\n\n\n"
               "def run(x: torch.Tensor):\n    return Own().forward(x, torch.ones(64))\n")
        generated = ("# generated from modular_x.py\n" + base.replace("return x * table", "return (x * table).to(x.dtype)")
                     .replace("class Base", "class Own") + "\n\n" + own[own.index("def run"):])
        self.write(m___base__py=base, m___modular_x__py=own)
        self.assertEqual([each["location"]["file"] for each in self.report(status=1)["findings"]], ["m/base.py"])  # by itself it runs as it is written
        self.write(m___modeling_x__py=generated)
        self.assertEqual(self.report(status=0)["findings"], [])


if __name__ == "__main__":
    unittest.main()
