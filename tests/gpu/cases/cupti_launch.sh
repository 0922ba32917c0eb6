#!/bin/sh
# The CUPTI source on a GPU: launch. See ../cupti/cases.py; $1 is the build folder, 77 means skipped.
exec "${PYTHON:-python3}" "$(dirname "$0")/../cupti/cases.py" launch "${1:?the build folder}"
