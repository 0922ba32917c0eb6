#!/bin/sh
# Sets up BUILD/.pytest-lsp, a virtual environment with pytest-lsp, where a package index can be reached; apart from that of
# torch_venv.sh, which needs 3 GB of disk while it is set up and is made anew for another PyTorch alone.
# Usage: pytest_lsp_venv.sh BUILD
#   A few MB, once. Where it cannot be had a line says why, which the test that asks for it repeats when it skips; the next
#   run tries again. Ends with 0 either way.
set -eu
build=${1:?usage: pytest_lsp_venv.sh BUILD}
here=$(cd "$(dirname "$0")" && pwd)
list=$here/pytest_lsp_requirements.txt
venv=$build/.pytest-lsp
why=$build/no-pytest-lsp.txt
part=$build/.pytest-lsp.part

cmp -s "$list" "$venv/ready" && exit 0

skip() {
  echo "no pytest-lsp in $venv: $1; the test of the language server that asks for it will skip" >&2
  echo "$1" >"$why"
  exit 0
}
# What is half made goes, however this ends.
trap 'rm -rf "$part"' EXIT
trap 'exit 130' INT TERM HUP

mkdir -p "$build"
rm -rf "$part" "$why"
python3 -m venv "$part" >/dev/null 2>&1 || skip "python3 -m venv failed (Debian has it in python3-venv)"
"$part/bin/python" -m pip --disable-pip-version-check --quiet --retries 1 --timeout 20 install --no-deps --require-hashes \
  --only-binary :all: -r "$list" >"$part/log" 2>&1 || skip "pip: $(grep -m 1 '^ERROR' "$part/log" || tail -n 1 "$part/log")"
"$part/bin/python" -c 'import pytest_lsp' >"$part/log" 2>&1 || skip "it does not load: $(tail -n 1 "$part/log")"
cp "$list" "$part/ready"
rm -rf "$venv"
mv "$part" "$venv"
