"""A client of `dtype-lint --lsp` that keeps what the server says: no library, so that a test sees every byte."""
import fcntl
import json
import os
import pathlib
import queue
import subprocess
import sys
import termios
import threading
import time

FULL = {
    "general": {"positionEncodings": ["utf-8", "utf-16"]},
    "experimental": {"dtypeLintState": True},
    "window": {"workDoneProgress": True},
    "workspace": {"workspaceEdit": {"documentChanges": True}, "workspaceFolders": True},
    "textDocument": {
        "publishDiagnostics": {"relatedInformation": True, "codeDescriptionSupport": True, "dataSupport": True,
                               "tagSupport": {"valueSet": [1, 2]}, "versionSupport": True},
        "codeAction": {"codeActionLiteralSupport": {"codeActionKind": {"valueSet": ["quickfix", "source"]}},
                       "isPreferredSupport": True},
        "hover": {"contentFormat": ["markdown"]},
        "inlayHint": {},
    },
}


def framed(message):
    body = message if isinstance(message, bytes) else json.dumps(message).encode()
    return b"Content-Length: %d\r\n\r\n%s" % (len(body), body)


def uri(path):
    return pathlib.Path(path).as_uri()


class Client:
    def __init__(self, lint, *words, env=None, cwd=None):
        self.process = subprocess.Popen([lint, "--lsp", *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, cwd=cwd, env={**os.environ, **(env or {})})
        self.answers, self.notices, self.requests = {}, queue.Queue(), []
        self.diagnostics = {}  # by uri, the last that were published
        self.published = 0
        self.exact = False  # whether the last answer was the last word
        self.settings = None  # what it is told when it asks for them
        self.errors = b""
        self.next_id = 0
        self.changed = threading.Condition()
        self.ended = False
        threading.Thread(target=self.read, daemon=True).start()
        threading.Thread(target=self.read_errors, daemon=True).start()

    def read_errors(self):
        for line in self.process.stderr:
            self.errors += line

    def read(self):
        out = self.process.stdout
        while True:
            length = None
            while True:
                line = out.readline()
                if not line:
                    with self.changed:
                        self.ended = True
                        self.changed.notify_all()
                    return
                if line == b"\r\n":
                    break
                name, _, value = line.decode("ascii").partition(":")
                if name.lower() == "content-length":
                    length = int(value)
            self.take(json.loads(out.read(length)))

    def take(self, message):
        with self.changed:
            if "method" in message and "id" in message:
                self.requests.append(message)
                answer = [self.settings] if message["method"] == "workspace/configuration" else None
                self.send({"jsonrpc": "2.0", "id": message["id"], "result": answer})
            elif "method" in message:
                if message["method"] == "textDocument/publishDiagnostics":
                    self.diagnostics[message["params"]["uri"]] = message["params"]["diagnostics"]
                    self.published += 1
                if message["method"] == "dtypeLint/state":
                    self.exact = message["params"]["exact"]
                self.notices.put(message)
            else:
                self.answers[message.get("id")] = message
            self.changed.notify_all()

    def raw(self, data):
        try:
            self.process.stdin.write(data)
            self.process.stdin.flush()
        except BrokenPipeError:
            pass

    def send(self, message):
        self.raw(framed(message))

    def notify(self, method, params=None):
        self.send({"jsonrpc": "2.0", "method": method, "params": params if params is not None else {}})

    def ask(self, method, params=None):
        self.next_id += 1
        message = {"jsonrpc": "2.0", "id": self.next_id, "method": method}
        if params is not None:
            message["params"] = params
        self.send(message)
        return self.next_id

    def wait(self, done, seconds=60):
        end = time.monotonic() + seconds
        with self.changed:
            while not done():
                left = end - time.monotonic()
                if left <= 0 or (self.ended and not done()):
                    raise AssertionError(f"no answer; ended: {self.ended}, status {self.process.poll()}, "
                                         f"stderr: {self.errors.decode(errors='replace')[-2000:]}")
                self.changed.wait(left)

    def answer(self, number, seconds=60):
        self.wait(lambda: number in self.answers, seconds)
        return self.answers.pop(number)

    def call(self, method, params=None, seconds=60):
        answer = self.answer(self.ask(method, params), seconds)
        if "error" in answer:
            raise AssertionError(f"{method}: {answer['error']}")
        return answer["result"]

    def start(self, *folders, capabilities=None, options=None):
        result = self.call("initialize", {
            "processId": os.getpid(), "capabilities": FULL if capabilities is None else capabilities,
            "workspaceFolders": [{"uri": uri(each), "name": pathlib.Path(each).name} for each in folders] or None,
            "rootUri": None, "initializationOptions": options or {}})
        self.notify("initialized")
        return result

    # Requests are answered when all that came before was analysed, so that a hover is a barrier.
    def settle(self, path):
        return self.answer(self.ask("textDocument/hover", {"textDocument": {"uri": uri(path)},
                                                           "position": {"line": 0, "character": 0}}))

    # Until the last word on all that was sent.
    def settle_exactly(self, path):
        self.settle(path)
        self.wait(lambda: self.exact)

    def open(self, path, text, version=1, language="python"):
        self.notify("textDocument/didOpen", {"textDocument": {"uri": uri(path), "languageId": language,
                                                              "version": version, "text": text}})

    def change(self, path, version, *changes):
        self.notify("textDocument/didChange", {"textDocument": {"uri": uri(path), "version": version},
                                               "contentChanges": list(changes)})

    def close(self, path):
        self.notify("textDocument/didClose", {"textDocument": {"uri": uri(path)}})

    def saved(self, path):
        self.notify("textDocument/didSave", {"textDocument": {"uri": uri(path)}})

    def shown(self, path):
        return self.diagnostics.get(uri(path), [])

    # The pipe that the analysis answers through, opened once more: what the server has not read of it can be counted.
    def from_analysis(self):
        server = self.process.pid
        analysis, = pathlib.Path(f"/proc/{server}/task/{server}/children").read_text().split()
        pipes = lambda process, mode: {os.readlink(each): each for each in pathlib.Path(f"/proc/{process}/fd").iterdir()
                                       if os.readlink(each).startswith("pipe:") and os.stat(each, follow_symlinks=False).st_mode & mode}
        read, written = pipes(server, 0o400), pipes(analysis, 0o200)
        shared, = read.keys() & written.keys()
        return read[shared]

    def waits_in(self, pipe):
        descriptor = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
        try:
            return int.from_bytes(fcntl.ioctl(descriptor, termios.FIONREAD, b"\0" * 4), sys.byteorder)
        finally:
            os.close(descriptor)

    def stop(self, seconds=20):
        self.call("shutdown", seconds=seconds)
        self.notify("exit")
        return self.process.wait(seconds)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for each in (self.process.stdin, self.process.stdout, self.process.stderr):
            try:
                each.close()
            except BrokenPipeError:
                pass
