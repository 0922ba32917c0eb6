#!/bin/sh
# Sets up BUILD/.wheel-tools with what make_wheel.py packs and checks with, where a package index can be reached.
# Usage: tools.sh BUILD
#   Where it cannot be had a line says why and the wheel's test skips; the next run tries again. Ends with 0 either way.
set -eu
build=${1:?usage: tools.sh BUILD}
requirements=$(cd "$(dirname "$0")" && pwd)/requirements.txt
venv=$build/.wheel-tools
part=$build/.wheel-tools.part

stamp=$(cksum <"$requirements")
[ "$(cat "$venv/ready" 2>/dev/null)" = "$stamp" ] && exit 0
trap 'rm -rf "$part"' EXIT
skip() {
  echo "no tools for a wheel in $venv: $1" >&2
  exit 0
}
mkdir -p "$build"
rm -rf "$part"
python3 -m venv "$part" >/dev/null 2>&1 || skip "python3 -m venv failed (Debian has it in python3-venv)"
"$part/bin/python" -m pip --disable-pip-version-check --quiet --retries 1 --timeout 20 install --no-deps --require-hashes \
  -r "$requirements" >"$part/log" 2>&1 || skip "pip: $(grep -m 1 '^ERROR' "$part/log" || tail -n 1 "$part/log")"
echo "$stamp" >"$part/ready"
rm -rf "$venv"
mv "$part" "$venv"
