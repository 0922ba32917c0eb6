#!/bin/sh
# The PyTorch source on a GPU: flash_attn. See ../torch/cases.py; $1 is the build folder, 77 means skipped.
exec "${PYTHON:-python3}" "$(dirname "$0")/../torch/cases.py" flash_attn "${1:?the build folder}"
