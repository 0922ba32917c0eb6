#!/usr/bin/env python3
"""dtype-lint --lsp and a client that does everything wrong: each message has its answer, and the server goes on."""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

import project
from client import Client, framed, uri

LINT = ""
PARSE, INVALID, NO_METHOD, PARAMS, NOT_YET = -32700, -32600, -32601, -32602, -32002


class Protocol(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = project.write(self.folder.name)
        self.path = self.root / "sample/attention.py"

    def tearDown(self):
        self.folder.cleanup()

    def started(self, **options):
        client = Client(LINT, "--no-cache")
        client.start(self.root, **options)
        return client

    # Of the one complaint about it; the message behind it is understood.
    def code(self, client, data):
        client.raw(data)
        code = client.answer(None)["error"]["code"]
        self.assertEqual(client.answer(client.ask("no/such"))["error"]["code"], NO_METHOD)
        return code

    def still_answers(self, client):
        client.open(self.path, self.path.read_text())
        client.settle(self.path)
        self.assertEqual({each["code"] for each in client.shown(self.path)},
                         {"autocast-fp32-operator", "attention-implicit-promotion"})

    def test_lifecycle(self):
        with Client(LINT) as client:
            early = client.answer(client.ask("textDocument/hover"))
            self.assertEqual(early["error"]["code"], NOT_YET)
            result = client.start(self.root)
            self.assertEqual(result["serverInfo"]["name"], "dtype-lint")
            self.assertEqual(result["capabilities"]["positionEncoding"], "utf-8")
            self.assertTrue(result["capabilities"]["inlayHintProvider"])
            again = client.answer(client.ask("initialize", {"capabilities": {}}))
            self.assertEqual(again["error"]["code"], INVALID)
            client.call("shutdown")
            late = client.answer(client.ask("textDocument/hover"))
            self.assertEqual(late["error"]["code"], INVALID)
            client.notify("exit")
            self.assertEqual(client.process.wait(20), 0)

    def test_capabilities_are_honoured(self):
        with Client(LINT, "--no-cache") as client:
            result = client.start(self.root, capabilities={})
            self.assertEqual(result["capabilities"]["positionEncoding"], "utf-16")
            self.assertNotIn("inlayHintProvider", result["capabilities"])
            self.assertNotIn("codeActionProvider", result["capabilities"])
            client.open(self.path, self.path.read_text())
            client.settle(self.path)
            shown = client.shown(self.path)
            self.assertEqual(len(shown), 2)
            for each in shown:
                self.assertEqual(set(each), {"range", "severity", "code", "source", "message"})
            self.assertEqual(client.requests, [])

    def test_exit_status(self):
        with self.started() as client:
            client.notify("exit")
            self.assertEqual(client.process.wait(20), 1)
        with self.started() as client:
            client.process.stdin.close()
            self.assertEqual(client.process.wait(20), 1)
        with self.started() as client:
            client.call("shutdown")
            client.process.stdin.close()
            self.assertEqual(client.process.wait(20), 0)
        with self.started() as client:
            client.raw(b"Content-Length: 100\r\n\r\n{\"jsonrpc\"")
            client.process.stdin.close()
            self.assertEqual(client.process.wait(20), 1)
            client.wait(lambda: b"within a message" in client.errors, 5)

    def test_bad_frames(self):
        with self.started() as client:
            self.assertEqual(self.code(client, b"Content-Type: text\r\n\r\n"), PARSE)
            self.assertEqual(self.code(client, b"\x00\xff garbage without end" + b"x" * 9000 + b"\n"), PARSE)
            self.assertEqual(self.code(client, b"Content-Length: many\r\n\r\n"), PARSE)
            self.assertEqual(self.code(client, b"Content-Length: -5\r\n\r\n"), PARSE)
            self.assertEqual(self.code(client, b"Content-Length: 99999999999999999999999\r\n\r\n"), PARSE)
            self.assertEqual(self.code(client, b"Content-Length: 3\r\n\r\n{\"a"), PARSE)
            self.assertEqual(self.code(client, framed(b"[" * 200_000)), PARSE)
            self.assertEqual(self.code(client, framed(b"[[]," * 100_000 + b"[]" + b"]" * 100_000)), INVALID)
            self.assertEqual(self.code(client, framed(b'{"a": "\xff\xfe"}')), PARSE)
            self.assertEqual(self.code(client, framed(b"[1]")), INVALID)
            self.assertEqual(self.code(client, framed(b"17")), INVALID)
            self.assertEqual(self.code(client, framed(b'{"jsonrpc": "2.0"}')), INVALID)
            self.assertEqual(self.code(client, framed(b'{"id": {}, "method": "shutdown"}')), INVALID)
            self.assertEqual(self.code(client, framed(b'{"id": null, "method": "shutdown"}')), INVALID)
            self.still_answers(client)

    def test_a_length_that_is_too_short(self):
        with self.started() as client:
            whole = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "x"}).encode()
            client.raw(b"Content-Length: 10\r\n\r\n" + whole + b"\r\n")
            self.assertEqual(client.answer(None)["error"]["code"], PARSE)
            self.still_answers(client)

    def test_pieces(self):
        with self.started() as client:
            for byte in framed({"jsonrpc": "2.0", "id": "piece", "method": "what/ever"}):
                client.raw(bytes([byte]))
            self.assertEqual(client.answer("piece")["error"]["code"], NO_METHOD)
            both = framed({"jsonrpc": "2.0", "id": "a", "method": "x"}) + framed({"jsonrpc": "2.0", "id": "b", "method": "y"})
            client.raw(both)
            self.assertEqual(client.answer("a")["error"]["code"], NO_METHOD)
            self.assertEqual(client.answer("b")["error"]["code"], NO_METHOD)

    def test_too_large(self):
        with self.started() as client:
            client.raw(b"Content-Length: 100000000\r\n\r\n")
            for _ in range(100):
                client.raw(b"x" * 1_000_000)
            self.assertEqual(client.answer(None)["error"]["code"], PARSE)
            self.still_answers(client)

    def test_wrong_messages(self):
        with self.started() as client:
            self.assertEqual(client.answer(client.ask("no/such"))["error"]["code"], NO_METHOD)
            self.assertEqual(client.answer(client.ask("textDocument/hover"))["error"]["code"], PARAMS)
            self.assertEqual(client.answer(client.ask("textDocument/hover", [1, 2]))["error"]["code"], PARAMS)
            wrong = {"textDocument": {"uri": uri(self.path)}, "position": {"line": -1, "character": 1.5}}
            self.assertEqual(client.answer(client.ask("textDocument/hover", wrong))["error"]["code"], PARAMS)
            client.notify("$/unknown")
            client.notify("no/such")
            client.notify("$/cancelRequest", {"id": 12345})
            client.notify("textDocument/didChange", {"textDocument": {"uri": uri(self.path)}, "contentChanges": [{"text": "x"}]})
            client.notify("textDocument/didChange", 7)
            client.notify("textDocument/didOpen", {"textDocument": {"uri": "untitled:1", "text": "x = 1"}})
            client.notify("textDocument/didOpen", {"textDocument": {"uri": uri(self.path), "text": 5}})
            client.notify("textDocument/didOpen")
            client.close(self.root / "never.py")
            client.saved(self.root / "never.py")
            client.notify("workspace/didChangeConfiguration", {"settings": {"dtypeLint": {"arguments": "--strict"}}})
            client.notify("workspace/didChangeConfiguration", {"settings": {"dtypeLint": {"arguments": ["--no-such"]}}})
            client.notify("workspace/didChangeConfiguration", {"settings": {"dtypeLint": {"arguments": ["--help"]}}})
            client.notify("workspace/didChangeConfiguration", {"settings": {"dtypeLint": {}}})
            client.notify("workspace/didChangeWatchedFiles", {"changes": [{"uri": 3}, 4, {"uri": "http://x"}]})
            client.notify("workspace/didChangeWorkspaceFolders", {"event": {"added": [{}], "removed": "x"}})
            self.still_answers(client)

    def test_changes_out_of_range(self):
        with self.started() as client:
            text = self.path.read_text()
            client.open(self.path, text)
            change = lambda a, b, c, d, new: {"range": {"start": {"line": a, "character": b},
                                                        "end": {"line": c, "character": d}}, "text": new}
            client.change(self.path, 2, change(5, 0, 4, 0, "no"))
            client.change(self.path, 3, change(10**9, 10**9, 10**9, 10**9, "\n# the end"))
            client.change(self.path, 4, change(1, 10**6, 1, 10**6, "  # end of line"))
            client.change(self.path, 5, {"range": {"start": {}}, "text": "no"}, {"range": 5, "text": "no"}, {}, 4)
            client.settle(self.path)
            before = [each["message"] for each in client.shown(self.path)]
            self.assertEqual(len(before), 2)
            client.change(self.path, 6, {"text": text})
            client.settle(self.path)
            self.assertEqual([each["message"] for each in client.shown(self.path)], before)

    def test_odd_texts(self):
        with self.started() as client:
            odd = {"long": "x = '" + "a" * 10_000_000 + "'\n", "nul": "x = 1\0\0\n", "lone": "# \ud83d\n",
                   "deep": "x = " + "(" * 5000 + ")" * 5000 + "\n", "cr": "import torch\rx = 1\r\n\r", "empty": "",
                   "bom": "\ufeffx = 1\n", "many": "def f(q):\n    return q\n" * 20_000}
            for number, (name, text) in enumerate(odd.items()):
                path = self.root / f"sample/{name}.py"
                client.open(path, text, version=number)
                client.settle(path)
            for name in odd:
                client.close(self.root / f"sample/{name}.py")
            self.still_answers(client)

    def test_positions(self):
        text = "# \U0001f600 two units\nfrom flash_attn import flash_attn_func\n\n\ndef f(q, k, v):\n" \
               "    '\U0001f600'; q = q.float(); return flash_attn_func(q, k, v)\n"
        path = self.root / "sample/faces.py"
        starts = {}
        for encoding in ("utf-8", "utf-16"):
            with self.started(capabilities={"general": {"positionEncodings": [encoding]}}) as client:
                client.open(path, text)
                # An edit behind a character of two units.
                line = text.splitlines()[5]
                units = lambda part: len(part.encode("utf-8")) if encoding == "utf-8" else len(part.encode("utf-16-le")) // 2
                at = units(line[:line.index("return")])
                client.change(path, 2, {"range": {"start": {"line": 5, "character": at}, "end": {"line": 5, "character": at + 6}},
                                        "text": "w = 1; return"})
                client.settle(path)
                found = [each for each in client.shown(path) if each["severity"] == 1]
                self.assertTrue(found, client.shown(path))
                place = line.index("q.float()")
                self.assertEqual(found[0]["range"]["start"], {"line": 5, "character": units(line[:place])})
                starts[encoding] = found[0]["range"]["start"]["character"]
        self.assertEqual(starts["utf-8"] - starts["utf-16"], 2)

    def test_odd_documents(self):
        with tempfile.TemporaryDirectory() as elsewhere, self.started() as client:
            outside = pathlib.Path(elsewhere) / "outside.py"
            outside.write_text("x = 1\n")
            text = self.path.read_text().replace("make_scale()", "torch.ones(1)")
            client.open(outside, text)
            client.settle(outside)
            self.assertEqual(len(client.shown(outside)), 2)  # looked at by itself
            client.close(outside)
            client.settle(outside)
            self.assertEqual(client.shown(outside), [])
            item = lambda address: {"uri": address, "languageId": "python", "version": 1, "text": text}
            odd = ["untitled:Untitled-1", "git:/a/b.py?ref", "http://host/a.py", "file:", "file://", "file:///", "file:///%zz%.py",
                   "file:///a%00b.py", "vscode-notebook-cell:/x.ipynb#1", "a.py", "file:///" + "d/" * 3000 + "long.py",
                   "file:///proc/self/mem", "file:///dev/zero", uri(self.root), uri(self.root) + "/", "\U0001f600:\ud83d"]
            for address in odd:
                client.notify("textDocument/didOpen", {"textDocument": item(address)})
                client.notify("textDocument/didChange", {"textDocument": {"uri": address, "version": 2}, "contentChanges": [
                    {"range": {"start": {"line": 3, "character": 0}, "end": {"line": 10**12, "character": 0}}, "text": "x"}]})
                client.notify("textDocument/didSave", {"textDocument": {"uri": address}})
                place = {"textDocument": {"uri": address}, "position": {"line": 10**15, "character": 2**53}}
                for method in ("hover", "definition"):
                    answer = client.answer(client.ask(f"textDocument/{method}", place))
                    self.assertTrue(answer.get("result", 0) is None or "error" in answer, (address, answer))
                client.notify("textDocument/didClose", {"textDocument": {"uri": address}})
                client.notify("textDocument/didClose", {"textDocument": {"uri": address}})
            self.still_answers(client)
            self.assertNotIn(b"the analysis ended", client.errors)

    def test_twice_open_and_closed(self):
        with self.started() as client:
            text = self.path.read_text()
            client.open(self.path, "x = 1\n")
            client.open(self.path, text, version=7)  # counts as the text that it is
            client.settle(self.path)
            self.assertEqual(len(client.shown(self.path)), 2)
            client.close(self.path)
            client.close(self.path)
            client.change(self.path, 8, {"text": "x = 1\n"})  # is not open
            client.settle(self.path)
            self.assertEqual(len(client.shown(self.path)), 2)
            self.still_answers(client)

    def test_after_shutdown(self):
        with self.started() as client:
            waits = client.ask("textDocument/inlayHint", {"textDocument": {"uri": uri(self.path)},
                                                          "range": {"start": {"line": 0, "character": 0}, "end": {"line": 99, "character": 0}}})
            client.call("shutdown")
            answer = client.answer(waits)
            self.assertTrue("result" in answer or answer["error"]["code"] == -32800, answer)
            for method in ("shutdown", "initialize", "textDocument/hover", "no/such"):
                self.assertEqual(client.answer(client.ask(method, {}))["error"]["code"], INVALID)
            client.open(self.path, "import torch\n")
            client.notify("workspace/didChangeConfiguration", {"settings": {"dtypeLint": {}}})
            client.raw(b"nonsense\r\n\r\n")
            self.assertEqual(client.answer(None)["error"]["code"], PARSE)
            client.notify("exit")
            self.assertEqual(client.process.wait(20), 0)

    def test_many_messages_at_once(self):
        with self.started() as client:
            client.open(self.path, self.path.read_text())
            parts = [framed({"jsonrpc": "2.0", "id": f"n{number}", "method": "textDocument/hover", "params": {
                "textDocument": {"uri": uri(self.path)}, "position": {"line": number % 12, "character": 4}}}) for number in range(500)]
            parts += [framed({"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": f"n{number}"}}) for number in range(0, 500, 2)]
            client.raw(b"".join(parts))
            for number in range(500):
                answer = client.answer(f"n{number}")
                self.assertTrue("result" in answer or answer["error"]["code"] == -32800, answer)
            self.still_answers(client)

    def test_words_of_other_runs(self):
        for words in (["a.py"], ["--format", "json"], ["--fix"], ["--link", "x"], ["--", "-O2"]):
            run = subprocess.run([LINT, "--lsp", *words], stdin=subprocess.DEVNULL, capture_output=True, text=True)
            self.assertEqual((run.returncode, run.stdout), (2, ""), words)
            self.assertIn("--lsp", run.stderr)

    def test_a_crash_ends_one_answer(self):
        with self.started() as client:
            client.open(self.path, self.path.read_text())
            client.settle(self.path)
            children = pathlib.Path(f"/proc/{client.process.pid}/task/{client.process.pid}/children").read_text().split()
            self.assertEqual(len(children), 1)
            subprocess.run(["kill", "-SEGV", children[0]], check=True)
            client.wait(lambda: b"the analysis ended: signal 11" in client.errors)
            client.change(self.path, 2, {"text": self.path.read_text() + "\n"})
            self.still_answers(client)


if __name__ == "__main__":
    LINT = sys.argv.pop(1)
    unittest.main(verbosity=2)
