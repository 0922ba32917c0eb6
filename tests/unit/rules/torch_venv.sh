#!/bin/sh
# Sets up BUILD/.venv with the PyTorch release that the rules are compared with, where the configured package index
# serves it. Without one the tests that need it skip and say so. Usage: torch_venv.sh BUILD
set -eu
build=${1:?usage: torch_venv.sh BUILD}
version=2.13.0
python="$build/.venv/bin/python"
if "$python" -c "import torch; assert torch.__version__.startswith('$version')" 2>/dev/null; then
  exit 0
fi
python3 -m venv "$build/.venv"
# The CPU build where the index has it, else whatever build of that release there is.
"$python" -m pip install --quiet numpy "torch==$version+cpu" || "$python" -m pip install --quiet numpy "torch==$version" || {
  echo "torch_venv.sh: no PyTorch $version from the configured package index; the tests that ask it will skip" >&2
  rm -rf "$build/.venv"
}
