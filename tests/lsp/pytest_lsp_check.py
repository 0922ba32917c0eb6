#!/usr/bin/env python3
"""dtype-lint --lsp with pytest-lsp as its client, which knows the protocol's types: hints, hovers and diagnostics.

usage: pytest_lsp_check.py DTYPE_LINT BUILD    skipped (77) where pytest_lsp_venv.sh could not set up BUILD/.pytest-lsp"""
import pathlib
import subprocess
import sys
import tempfile

TEST = '''
import pathlib, sys
import pytest_lsp
from lsprotocol import types
from pytest_lsp import ClientServerConfig, LanguageClient, client_capabilities

ROOT = pathlib.Path({root!r})
ADDRESS = (ROOT / "sample/attention.py").as_uri()
TEXT = (ROOT / "sample/attention.py").read_text()


CAPABILITIES = client_capabilities("visual-studio-code")
CAPABILITIES.workspace = CAPABILITIES.window = None  # this client registers nothing later


@pytest_lsp.fixture(config=ClientServerConfig(server_command=[{lint!r}, "--lsp", "--no-cache"]))
async def client(lsp_client: LanguageClient):
    await lsp_client.initialize_session(types.InitializeParams(
        capabilities=CAPABILITIES,
        workspace_folders=[types.WorkspaceFolder(uri=ROOT.as_uri(), name="sample")]))
    lsp_client.text_document_did_open(types.DidOpenTextDocumentParams(
        text_document=types.TextDocumentItem(uri=ADDRESS, language_id="python", version=1, text=TEXT)))
    yield
    await lsp_client.shutdown_session()


DOCUMENT = types.TextDocumentIdentifier(uri=ADDRESS)


async def test_answers(client: LanguageClient):
    hover = await client.text_document_hover_async(types.HoverParams(DOCUMENT, types.Position(10, 28)))
    assert "from bfloat16 by 'normalize' under autocast" in hover.contents.value
    hints = await client.text_document_inlay_hint_async(types.InlayHintParams(
        DOCUMENT, types.Range(types.Position(0, 0), types.Position(99, 0))))
    assert [each.label for each in hints][:3] == [": float32 | half", ": float32", ": half"]
    found = client.diagnostics[ADDRESS]
    assert {{each.code for each in found}} == {{"autocast-fp32-operator", "attention-implicit-promotion"}}
    actions = await client.text_document_code_action_async(types.CodeActionParams(
        DOCUMENT, found[1].range, types.CodeActionContext(diagnostics=found)))
    assert any("cast back" in each.title for each in actions)
'''


def main():
    lint, build = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
    python, why = build / ".pytest-lsp/bin/python", build / "no-pytest-lsp.txt"
    if not python.exists():
        reason = why.read_text().strip() if why.exists() else "make test sets it up, or tests/lsp/pytest_lsp_venv.sh BUILD"
        print(f"skipped: no {python}: {reason}")
        return 77
    sys.path.insert(0, str(pathlib.Path(__file__).parent))
    import project
    with tempfile.TemporaryDirectory() as folder:
        root = project.write(pathlib.Path(folder) / "one")
        test = pathlib.Path(folder) / "test_lsp.py"
        test.write_text(TEST.format(root=str(root), lint=lint))
        return subprocess.run([python, "-m", "pytest", "-q", "-o", "asyncio_mode=auto", "-o", "asyncio_default_fixture_loop_scope=function", "-p", "no:cacheprovider", test], cwd=folder).returncode


if __name__ == "__main__":
    sys.exit(main())
