#!/bin/sh
# Sets up BUILD/.wheel-tools with what make_wheel.py packs and checks with, and what the wheel's tests run beside it, where a
# package index can be reached (130 MB to download, once).
# Usage: tools.sh BUILD
#   Where it cannot be had a line says why and the wheel's tests skip; the next run tries again. Ends with 0 either way.
set -eu
build=${1:?usage: tools.sh BUILD}
here=$(cd "$(dirname "$0")" && pwd)
venv=$build/.wheel-tools
part=$build/.wheel-tools.part

stamp=$(cat "$here/requirements.txt" "$here/test_requirements.txt" | cksum)
[ "$(cat "$venv/ready" 2>/dev/null)" = "$stamp" ] && exit 0
trap 'rm -rf "$part"' EXIT
skip() {
  echo "no tools for a wheel in $venv: $1" >&2
  exit 0
}
pip() {
  "$part/bin/python" -m pip --disable-pip-version-check --quiet --retries 1 --timeout 20 install --no-deps --require-hashes -r "$1" \
    >"$part/log" 2>&1
}
said() { grep -m 1 '^ERROR' "$part/log" || tail -n 1 "$part/log"; }
mkdir -p "$build"
rm -rf "$part"
python3 -m venv "$part" >/dev/null 2>&1 || skip "python3 -m venv failed (Debian has it in python3-venv)"
pip "$here/requirements.txt" || skip "pip: $(said)"
if pip "$here/test_requirements.txt"; then
  echo "$stamp" >"$part/ready"
else
  echo "no pre-commit in $venv, and its tests skip: pip: $(said)" >&2
fi
rm -rf "$venv"
mv "$part" "$venv"
