#!/bin/sh
# The CUPTI source on a GPU: flash_ref. See ../cupti/cases.py; $1 is the build folder, 77 means skipped.
exec "${PYTHON:-python3}" "$(dirname "$0")/../cupti/cases.py" flash_ref "${1:?the build folder}"
