#!/bin/sh
# Sets up BUILD/.torch-wheels: a virtual environment for each release of PyTorch in torch_wheels.txt, the ordinary wheel over
# empty CUDA libraries (torch_stand_ins.py).
# Usage: torch_wheels.sh BUILD
#   A download of 500 to 900 MB and up to 2 GB of disk for each, once. What cannot be had is named on stderr, and the tests
#   leave it out; the next run tries again. Ends with 0 either way.
set -eu
build=${1:?usage: torch_wheels.sh BUILD}
here=$(cd "$(dirname "$0")" && pwd)
wheels=$build/.torch-wheels
mkdir -p "$wheels"

grep -v '^#' "$here/torch_wheels.txt" | while read -r version cpython; do
  venv=$wheels/$version
  [ -e "$venv/ready" ] && continue
  rm -rf "$venv"
  skip() { echo "no PyTorch $version in $venv: $1" >&2; rm -rf "$venv"; }
  free=$(df -Pk "$wheels" | awk 'NR == 2 { print int($4 / 1024) }')
  [ "$free" -ge 6000 ] || { skip "it needs 6000 MB of free disk while it is set up, and there are $free MB"; continue; }
  python=python$cpython
  "$python" -c '' 2>/dev/null || { skip "there is no $python"; continue; }
  "$python" -m venv "$venv" >/dev/null 2>&1 || { skip "$python -m venv failed"; continue; }
  pip() { "$venv/bin/python" -m pip --disable-pip-version-check --quiet --retries 1 --timeout 60 "$@" >"$venv/log" 2>&1 </dev/null; }
  echo "setting up PyTorch $version in $venv (TORCH_WHEELS=off leaves it out)"
  { pip install --no-deps --require-hashes -r "$here/torch_requirements.txt" &&
    pip install --no-deps --no-cache-dir --only-binary :all: "torch==$version"; } ||
    { skip "pip: $(grep -m 1 '^ERROR' "$venv/log" || tail -n 1 "$venv/log")"; continue; }
  "$venv/bin/python" "$here/torch_stand_ins.py" >"$venv/log" 2>&1 </dev/null &&
    "$venv/bin/python" -W ignore -c "import torch; assert torch.__version__.split('+')[0] == '$version'" >"$venv/log" 2>&1 </dev/null ||
    { skip "it does not load: $(tail -n 1 "$venv/log")"; continue; }
  : >"$venv/ready"
done
