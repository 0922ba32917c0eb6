#!/usr/bin/env python3
"""What dtype-lint --lsp answers: diagnostics, actions, hovers, hints, definitions, folders, settings, files on disk, C++."""
import json
import pathlib
import re
import sys
import tempfile
import unittest

import project
from client import FULL, Client, uri

LINT = TORCH = ""
ALL = {"start": {"line": 0, "character": 0}, "end": {"line": 1000, "character": 0}}
CPP = """#include "mini_torch.h"
std::vector<at::Tensor> mha_fwd(at::Tensor& q, const at::Tensor& k, const at::Tensor& v);
void attend(at::Tensor q, at::Tensor k, at::Tensor v) {
  auto scale = torch::ones({1});
  q = q * scale;
  mha_fwd(q, k, v);
}
"""


def applied(text, edits):
    """The text with TextEdits in UTF-8 units."""
    starts = [0]
    for line in text.encode().split(b"\n"):
        starts.append(starts[-1] + len(line) + 1)
    data = text.encode()
    offset = lambda place: starts[place["line"]] + place["character"]
    for each in sorted(edits, key=lambda edit: -offset(edit["range"]["start"])):
        data = data[: offset(each["range"]["start"])] + each["newText"].encode() + data[offset(each["range"]["end"]):]
    return data.decode()


class Answers(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = project.write(pathlib.Path(self.folder.name) / "one")
        self.path = self.root / "sample/attention.py"
        self.text = self.path.read_text()
        self.client = Client(LINT, "--cache", str(pathlib.Path(self.folder.name) / "cache"))

    def tearDown(self):
        self.client.__exit__()
        self.folder.cleanup()

    def begin(self, *folders, **options):
        self.client.start(*(folders or (self.root,)), **options)
        self.client.open(self.path, self.text)
        self.client.settle_exactly(self.path)

    def at(self, line, text, **more):
        lines = self.text.split("\n")
        place = {"line": line, "character": lines[line].index(text)}
        return {"textDocument": {"uri": uri(self.path)}, "position": place, **more}

    def actions(self, line, **context):
        return self.client.call("textDocument/codeAction", {
            "textDocument": {"uri": uri(self.path)}, "context": {"diagnostics": self.client.shown(self.path), **context},
            "range": {"start": {"line": line, "character": 0}, "end": {"line": line, "character": 0}}})

    def codes(self, path=None):
        return sorted(each["code"] for each in self.client.shown(path or self.path))

    def test_diagnostics(self):
        self.begin()
        promoted = next(each for each in self.client.shown(self.path) if each["code"] == "attention-implicit-promotion")
        self.assertEqual(promoted["range"], {"start": {"line": 9, "character": 8}, "end": {"line": 9, "character": 24}})
        self.assertEqual(promoted["severity"], 1)
        page = pathlib.Path(promoted["codeDescription"]["href"].removeprefix("file://"))
        self.assertIn("# attention-implicit-promotion", page.read_text())
        way = promoted["relatedInformation"]
        self.assertEqual([each["location"]["range"]["start"]["line"] for each in way], [9, 10])
        self.assertIn("mul", way[0]["message"])
        self.assertIn("reaches 'k'", way[-1]["message"])
        self.assertEqual(promoted["data"]["api"], "flash_attn_func")

    def test_fix_makes_clean(self):
        self.begin()
        fix = next(each for each in self.actions(9) if each["kind"] == "quickfix" and "cast back" in each["title"])
        self.assertTrue(fix["isPreferred"])
        self.assertEqual([each["code"] for each in fix["diagnostics"]], ["attention-implicit-promotion"])
        change, = fix["edit"]["documentChanges"]
        self.assertEqual(change["textDocument"], {"uri": uri(self.path), "version": 1})
        self.client.change(self.path, 2, {"text": applied(self.text, change["edits"])})
        self.client.settle(self.path)
        self.assertEqual(self.codes(), ["autocast-fp32-operator"])

    def test_fix_all(self):
        self.text = self.text.replace("    q = F.normalize(q, dim=-1)\n", "    v = v * make_scale()\n")
        self.begin()
        self.assertEqual(self.codes(), ["attention-implicit-promotion"] * 2)
        for only, kind in ((["source.fixAll"], "source.fixAll.dtypeLint"), (None, "quickfix")):
            found = self.actions(8, **({"only": only} if only else {}))
            every = next(each for each in found if each["title"].startswith("Fix all"))
            self.assertEqual(every["kind"], kind)
        change, = every["edit"]["documentChanges"]
        self.client.change(self.path, 2, {"text": applied(self.text, change["edits"])})
        self.client.settle(self.path)
        self.assertEqual(self.codes(), [])

    def test_comment_accepts(self):
        self.begin()
        accept = next(each for each in self.actions(9) if each["title"].startswith("Accept"))
        text = applied(self.text, accept["edit"]["documentChanges"][0]["edits"])
        self.assertIn("k = k * make_scale()  # dtype-lint: ignore[attention-implicit-promotion]\n", text)
        self.client.change(self.path, 2, {"text": text})
        self.client.settle(self.path)
        # The reason is the user's to add.
        self.assertEqual(self.codes(), ["autocast-fp32-operator", "suppression-without-reason"])
        self.client.change(self.path, 3, {"text": text.replace("promotion]", "promotion] measured")})
        self.client.settle(self.path)
        self.assertEqual(self.codes(), ["autocast-fp32-operator"])

    def test_no_comment_where_none_can_stand(self):
        self.text = self.text.replace("k = k * make_scale()", "k = k * \\\n        make_scale()")
        self.begin()
        self.assertEqual([each["title"] for each in self.actions(9) if each["title"].startswith("Accept")], [])

    def test_hover(self):
        self.begin()
        hover = self.client.call("textDocument/hover", self.at(10, "q,"))
        self.assertEqual(hover["range"]["start"], {"line": 10, "character": 27})
        text = hover["contents"]["value"]
        for setting in ("autocast-fp16", "autocast-bf16", "fp16-fp32-buffers", "bf16-fp32-buffers"):
            self.assertIn(setting, text)
        rows = {row.split("|")[1].strip(): row for row in text.splitlines() if row.startswith("| ")}
        self.assertIn("float32", rows["autocast-bf16"])
        self.assertIn("from bfloat16 by 'normalize' under autocast", rows["autocast-bf16"])
        self.assertIn("| bfloat16 |", rows["bf16-fp32-buffers"])
        explained = self.client.call("textDocument/hover", self.at(10, "flash"))["contents"]["value"]
        self.assertIn("flash_attn_func: attention of flash_attn", explained)
        operator = self.client.call("textDocument/hover", self.at(8, "F.norm"))["contents"]["value"]
        self.assertIn("normalize: an operator of PyTorch", operator)
        self.assertIn("autocast on cuda: not listed, but 'norm' is: computed in float32", operator)
        self.assertIn("# autocast-fp32-operator", operator)
        self.assertIsNone(self.client.call("textDocument/hover", self.at(0, "import")))

    def rows(self, line, text):
        """What the hover there shows: {setting: (dtype, how it was decided)}, where no setting has two rows."""
        hover = self.client.call("textDocument/hover", self.at(line, text))["contents"]["value"]
        out = {}
        for row in hover.splitlines():
            if row.startswith("| ") and not row.startswith("| setting"):
                settings, dtype, _, decided = [each.strip() for each in row.strip("|").split("|")]
                for setting in settings.split(", "):
                    self.assertNotIn(setting, out, hover)
                    out[setting] = (dtype, re.sub(r" at \[[^]]*\]\([^)]*\)", "", decided))
        return out

    def test_hover_of_a_call_is_of_what_it_gives(self):
        self.text = (self.path.parent / "layers.py").read_text().replace(
            "        q = self.to_q(x)\n", "        q = self.to_q(x)\n        q *= torch.ones(1, dtype=torch.float64)\n")
        self.path = self.path.parent / "layers.py"
        self.begin()
        halves = {"autocast-fp16": "float16", "autocast-bf16": "bfloat16", "fp16-fp32-buffers": "float16",
                  "bf16-fp32-buffers": "bfloat16"}
        dtypes = lambda line, text: {setting: row[0] for setting, row in self.rows(line, text).items()}
        self.assertEqual(dtypes(12, "self.to_q(x)"), halves)
        self.assertEqual(dtypes(13, "torch.ones"), dict.fromkeys(halves, "float64"))
        self.assertEqual(dtypes(13, "q *="), halves)
        explained = self.client.call("textDocument/hover", self.at(13, "torch.ones"))["contents"]["value"]
        self.assertIn("ones: an operator of PyTorch", explained)
        # A load that is all of an expression stays.
        self.assertEqual(set(dtypes(12, "x)")), set(halves))

    def test_hover_of_what_a_contract_gives(self):
        self.text = self.text.replace("return flash_attn_func(q, k, v, causal=True)",
                                      "out = flash_attn_func(k, q, v, causal=True)\n    return out.contiguous()")
        self.begin()
        for line, text in ((10, "out ="), (10, "flash"), (11, "out.")):
            rows = self.rows(line, text)
            self.assertEqual(rows["autocast-fp16"], ("float32", "from float16 by 'mul'"))
            self.assertEqual(rows["bf16-fp32-buffers"], ("float32", "from bfloat16 by 'mul'"))
            place, = self.client.call("textDocument/definition", self.at(line, text))
            self.assertEqual(place["range"]["start"]["line"], 9)
        # Of an input it is the setting that decides.
        self.text = self.text.replace("(k, q, v, causal", "(v, q, k, causal")
        self.client.change(self.path, 2, {"text": self.text})
        self.client.settle(self.path)
        self.assertEqual(self.rows(10, "out =")["autocast-fp16"], ("float16", "by the setting"))
        self.assertIsNone(self.client.call("textDocument/definition", self.at(10, "out =")))

    def test_hover_of_several_dtypes(self):
        self.text = self.text.replace("    q = F.normalize(q, dim=-1)\n", "    q = q.half() if causal else k.float()\n").replace(
            "def attend(q, k, v)", "def attend(q, k, v, causal)")
        self.begin()
        rows = self.rows(8, "q = ")
        self.assertEqual(rows["autocast-fp16"], ("float16 or float32", "float16 by 'half'; float32 from float16 by 'float'"))
        self.assertEqual({row[0] for row in rows.values()}, {"float16 or float32"})
        self.assertEqual(self.rows(8, "float()")["autocast-bf16"], ("float32", "from bfloat16 by 'float'"))
        hints = self.client.call("textDocument/inlayHint", {"textDocument": {"uri": uri(self.path)}, "range": ALL})
        self.assertEqual([each["label"] for each in hints if each["position"]["line"] == 10],
                         [": float16 | float32", ": float32", ": half"])

    def test_hints(self):
        self.begin()
        hints = self.client.call("textDocument/inlayHint", {"textDocument": {"uri": uri(self.path)}, "range": ALL})
        lines = self.text.split("\n")
        shown = [(lines[each["position"]["line"]][: each["position"]["character"]][-1], each["label"]) for each in hints]
        self.assertEqual(shown, [("q", ": float32 | half"), ("k", ": float32"), ("v", ": half"),
                                 ("q", ": half"), ("k", ": half"), ("v", ": half")])

    def test_definition(self):
        self.begin()
        places = self.client.call("textDocument/definition", self.at(10, "k,"))
        self.assertEqual([(each["uri"], each["range"]["start"]["line"]) for each in places], [(uri(self.path), 9)])

    def test_way_across_files(self):
        self.text = self.text.replace("k = k * make_scale()", "k = rotate(k, torch.ones(1))").replace(
            "import make_scale", "import rotate")
        self.begin()
        tables = self.root / "sample/tables.py"
        self.assertEqual(self.codes(tables), ["attention-implicit-promotion"])
        last = self.client.shown(tables)[0]["relatedInformation"][-1]
        self.assertEqual(last["location"]["uri"], uri(self.path))
        place, = self.client.call("textDocument/definition", self.at(10, "k,"))
        self.assertEqual(place["uri"], uri(tables))

    def test_folders(self):
        two = project.write(pathlib.Path(self.folder.name) / "two")
        self.begin()
        other = two / "sample/attention.py"
        self.assertEqual(self.codes(other), [])
        self.client.notify("workspace/didChangeWorkspaceFolders", {"event": {"added": [{"uri": uri(two), "name": "two"}], "removed": []}})
        self.client.settle(self.path)
        self.assertEqual(len(self.codes(other)), 2)
        self.client.notify("workspace/didChangeWorkspaceFolders", {"event": {"added": [], "removed": [{"uri": uri(two), "name": "two"}]}})
        self.client.settle(self.path)
        self.assertEqual((len(self.codes(other)), len(self.codes())), (0, 2))

    def test_settings(self):
        self.begin()
        change = lambda settings: self.client.notify("workspace/didChangeConfiguration", {"settings": {"dtypeLint": settings}})
        change({"arguments": ["--rules", "-autocast-fp32-operator"]})
        self.client.settle(self.path)
        self.assertEqual(self.codes(), ["attention-implicit-promotion"])
        change({"arguments": ["--wrong"]})
        self.client.settle(self.path)
        self.assertIn("--wrong", "".join(json.dumps(each) for each in list(self.client.notices.queue)
                                         if each["method"] == "window/showMessage"))
        change({"diagnostics": "openFiles"})
        self.client.close(self.path)
        self.client.settle(self.path)
        self.assertEqual(self.codes(), [])
        (self.root / ".dtype-lint.json").write_text('{"rules": ["-attention-implicit-promotion"]}')
        self.client.notify("workspace/didChangeWatchedFiles", {"changes": [{"uri": uri(self.root / ".dtype-lint.json"), "type": 1}]})
        change({})
        self.client.settle(self.path)
        self.assertEqual(self.codes(), ["autocast-fp32-operator"])

    def test_files_on_disk(self):
        self.begin()
        tables = self.root / "sample/tables.py"
        tables.write_text(tables.read_text().replace("torch.ones(1)", "torch.ones(1).bfloat16()[0]"))
        self.client.notify("workspace/didChangeWatchedFiles", {"changes": [{"uri": uri(tables), "type": 2}]})
        self.client.settle(self.path)
        self.assertEqual(self.codes(), ["autocast-fp32-operator"])

    def test_no_folder(self):
        self.client.start()
        lone = pathlib.Path(self.folder.name) / "lone.py"  # nowhere on disk
        self.client.open(lone, self.text.replace("make_scale()", "torch.ones(1)"))
        self.client.settle(lone)
        self.assertEqual(len(self.codes(lone)), 2)
        self.client.close(lone)
        self.client.settle(lone)
        self.assertEqual(self.codes(lone), [])

    def test_cancel_and_progress(self):
        self.begin()
        number = self.client.ask("textDocument/inlayHint", {"textDocument": {"uri": uri(self.path)}, "range": ALL})
        self.client.notify("$/cancelRequest", {"id": number})
        answer = self.client.answer(number)
        self.assertTrue("result" in answer or answer["error"]["code"] == -32800, answer)
        for index in range(30):
            (self.root / f"sample/more{index}.py").write_text("x = 1\n")
        self.client.notify("workspace/didChangeWatchedFiles", {"changes": [{"uri": uri(self.root / "sample/more0.py"), "type": 1}]})
        self.client.settle(self.path)
        kinds = [each["params"]["value"]["kind"] for each in list(self.client.notices.queue) if each["method"] == "$/progress"]
        self.assertEqual((kinds[0], kinds[1], kinds[-1]), ("begin", "report", "end"))

    def test_registrations(self):
        able = {**FULL, "workspace": {"configuration": True, "didChangeWatchedFiles": {"dynamicRegistration": True},
                                      "didChangeConfiguration": {"dynamicRegistration": True}}}
        self.begin(capabilities=able)
        asked = [each["method"] for each in self.client.requests]
        self.assertEqual(sorted(asked), ["client/registerCapability", "workspace/configuration"])
        kinds = {each["method"] for each in self.client.requests[asked.index("client/registerCapability")]["params"]["registrations"]}
        self.assertEqual(kinds, {"workspace/didChangeWatchedFiles", "workspace/didChangeConfiguration"})

    def test_syntax_error(self):
        self.begin()
        self.client.change(self.path, 2, {"text": self.text + "def broken(:\n"})
        self.client.settle(self.path)
        self.assertIn("parse-error", self.codes())
        self.assertIn("attention-implicit-promotion", self.codes())

    # A C++ file and a header of its folder, with the command that compiles it.
    def cxx(self, text, header=""):
        if not TORCH:
            self.skipTest("this dtype-lint was built without Clang")
        folder = pathlib.Path(self.folder.name) / "cxx"
        (folder / "build").mkdir(parents=True)
        (folder / ".git").mkdir()
        self.path, self.header = folder / "attend.cpp", folder / "own.h"
        self.path.write_text(text)
        self.header.write_text(header)
        command = {"directory": str(folder), "file": str(self.path),
                   "command": f"c++ -std=c++17 -I{pathlib.Path(TORCH).parent} -c {self.path}"}
        (folder / "build/compile_commands.json").write_text(json.dumps([command]))
        self.client.start(folder)
        self.client.open(self.path, text, language="cpp")
        self.client.settle_exactly(self.path)

    def header_actions(self):
        return self.client.call("textDocument/codeAction", {"textDocument": {"uri": uri(self.header)}, "range": ALL, "context": {"diagnostics": []}})

    def test_cxx(self):
        self.cxx(CPP)
        path = self.path
        self.assertEqual(self.codes(), ["attention-implicit-promotion"])
        hints = self.client.call("textDocument/inlayHint", {"textDocument": {"uri": uri(path)}, "range": ALL})
        self.assertIn(": float32", [each["label"] for each in hints])
        accept = next(each for each in self.actions(4) if each["title"].startswith("Accept"))
        text = applied(CPP, accept["edit"]["documentChanges"][0]["edits"])
        self.assertIn("q = q * scale;  // NOLINT(dtype-attention-implicit-promotion)\n", text)
        self.client.change(path, 2, {"text": text})
        self.client.settle_exactly(path)
        self.assertEqual(self.codes(), ["suppression-without-reason"])
        path.write_text(text)
        self.client.saved(path)
        self.client.settle_exactly(path)
        self.assertEqual(self.codes(), ["suppression-without-reason"])

    def test_cxx_while_typing(self):
        self.cxx(CPP)
        change = lambda version, text: (self.client.change(self.path, version, {"text": text}), self.client.settle(self.path))
        change(2, CPP.replace("  q = q * scale;\n", ""))
        self.assertEqual(self.codes(), [])
        change(3, CPP.replace("  q = q * scale;\n", "  q = q * sca"))
        self.assertIn("parse-error", self.codes())
        moved = CPP.replace("void attend(", "static int other = 3;\nvoid attend(")
        change(4, moved)
        self.assertEqual(self.codes(), ["attention-implicit-promotion"])
        self.assertEqual(self.client.shown(self.path)[0]["range"]["start"]["line"], 5)
        hover = self.client.call("textDocument/hover", {"textDocument": {"uri": uri(self.path)}, "position": {"line": 6, "character": 10}})
        self.assertIn("float32", hover["contents"]["value"])
        # Another start of the file.
        change(5, "#include <vector>\n" + moved)
        self.assertEqual(self.client.shown(self.path)[0]["range"]["start"]["line"], 6)
        for number, text in ((6, '#include "nowhere.h"\n'), (7, '#include "nowhere.h"\n' + moved)):
            change(number, text)
            self.assertIn("nowhere.h", "".join(each["message"] for each in self.client.shown(self.path) if each["code"] == "parse-error"))
        change(8, moved)
        self.assertEqual(self.codes(), ["attention-implicit-promotion"])
        self.client.close(self.path)  # without saving
        self.client.settle(self.path)
        self.assertEqual(self.client.shown(self.path)[0]["range"]["start"]["line"], 4)

    def test_cxx_header_on_save(self):
        half = "#pragma once\ninline at::Tensor given(at::Tensor x) { return x; }\n"
        wide = half.replace("return x;", "return x * torch::ones({1});")
        self.cxx(CPP.replace('"mini_torch.h"\n', '"mini_torch.h"\n#include "own.h"\n').replace("q * scale", "given(q)"), half)
        self.assertEqual(self.codes(), [])
        self.client.open(self.header, half, language="cpp")
        self.client.change(self.header, 2, {"text": wide})
        self.client.settle(self.path)
        self.assertEqual((self.codes(), self.codes(self.header)), ([], []))
        self.header.write_text(wide)
        self.client.saved(self.header)
        self.client.settle_exactly(self.path)
        self.assertEqual(self.codes(self.header), ["attention-implicit-promotion"])
        # Places are of the saved text: an edit there would not fit what is in the editor.
        accept = lambda: [each["edit"]["documentChanges"][0]["edits"] for each in self.header_actions() if each["title"].startswith("Accept")]
        edits, = accept()
        self.assertEqual(applied(wide, edits), wide.removesuffix("\n") + "  // NOLINT(dtype-attention-implicit-promotion)\n")
        self.client.change(self.header, 3, {"text": "// Another line.\n" + wide})
        self.client.settle(self.path)
        self.assertEqual((self.codes(self.header), accept()), (["attention-implicit-promotion"], []))
        self.client.change(self.header, 4, {"text": wide})
        self.client.settle(self.path)
        self.assertEqual(accept(), [edits])
        # With a kept start of the file, of the older header.
        self.client.change(self.path, 2, {"text": self.path.read_text() + "\n"})
        self.client.settle(self.path)
        self.assertEqual(self.codes(self.header), ["attention-implicit-promotion"])


if __name__ == "__main__":
    LINT = sys.argv.pop(1)
    if len(sys.argv) > 1 and not sys.argv[1].startswith("-"):
        TORCH = sys.argv.pop(1)
    unittest.main(verbosity=2)
