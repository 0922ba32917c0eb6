"""What editors do: they type while they wait for an answer, take settings back, end without a word, and start the server
with words of their own.

    clients_test.py DTYPE_LINT
"""
import copy
import pathlib
import subprocess
import sys
import tempfile
import unittest

import client as lsp
import project

LINT = ""
CONTENT_MODIFIED = -32801  # editors do not show it; any other error they do
ATTENTION = "sample/attention.py"


class Clients(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name).resolve()
        for name, text in project.FILES.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        self.path = self.root / ATTENTION
        self.text = self.path.read_text()

    def test_what_a_key_interrupts_is_no_failure(self):
        many = "".join(f"\n\ndef attend_{i}(q, k, v):\n    return flash_attn_func(F.normalize(q, dim=-1), k, v)\n"
                       for i in range(300))
        with lsp.Client(LINT, "--no-cache") as client:
            client.start(self.root)
            client.open(self.path, self.text + many)
            codes = []
            for version in range(2, 40):
                client.change(self.path, version, {"text": self.text + many + f"# {version}\n"})
                asked = client.ask("textDocument/inlayHint", {
                    "textDocument": {"uri": lsp.uri(self.path)},
                    "range": {"start": {"line": 0, "character": 0}, "end": {"line": 9, "character": 0}}})
                client.change(self.path, version, {"text": self.text + many + f"# {version} again\n"})
                codes.append(client.answer(asked).get("error", {}).get("code"))
            self.assertIn(CONTENT_MODIFIED, codes)
            self.assertLessEqual(set(codes), {CONTENT_MODIFIED, None})

    def codes_with(self, client, settings):
        client.settle_exactly(self.path)
        client.settings, client.exact = settings, False
        asked = len(client.requests)
        client.notify("workspace/didChangeConfiguration", {"settings": None})
        client.wait(lambda: any(each["method"] == "workspace/configuration" for each in client.requests[asked:]))
        client.settle_exactly(self.path)
        return sorted(each["code"] for each in client.shown(self.path))

    def test_settings_that_are_taken_back(self):
        capabilities = copy.deepcopy(lsp.FULL)
        capabilities["workspace"]["configuration"] = True
        half = {"arguments": ["--precision", "fp16-fp32-buffers"]}
        with lsp.Client(LINT, "--no-cache") as client:
            client.start(self.root, capabilities=capabilities)
            client.open(self.path, self.text)
            usual = self.codes_with(client, None)
            fewer = self.codes_with(client, half)
            self.assertNotEqual(usual, fewer)
            self.assertEqual(self.codes_with(client, None), usual)
        with lsp.Client(LINT, "--no-cache") as client:  # what it began with holds where it has nothing to say
            client.start(self.root, capabilities=capabilities, options=half)
            client.open(self.path, self.text)
            self.assertEqual(self.codes_with(client, None), fewer)

    def test_a_client_that_ends_while_its_pipes_stay_open(self):
        editor = subprocess.Popen(["sleep", "600"])
        with lsp.Client(LINT, "--no-cache") as client:
            client.call("initialize", {"processId": editor.pid, "capabilities": {}, "rootUri": None})
            client.notify("initialized")
            self.assertIsNone(client.process.poll())
            editor.kill()
            editor.wait()
            self.assertEqual(client.process.wait(60), 1)

    def test_a_client_that_is_in_another_namespace(self):
        gone = subprocess.Popen(["true"])
        gone.wait()
        with lsp.Client(LINT, "--no-cache") as client:
            client.call("initialize", {"processId": gone.pid, "capabilities": {}, "rootUri": None})
            with self.assertRaises(subprocess.TimeoutExpired):
                client.process.wait(5)

    def test_words_that_editors_add(self):
        with lsp.Client(LINT, "--stdio") as client:
            client.start(self.root)
            self.assertEqual(client.stop(), 0)


if __name__ == "__main__":
    LINT = sys.argv.pop(1)
    unittest.main(verbosity=2)
