#!/bin/sh
# The CUPTI source on a GPU: profiler. See ../cupti/cases.py; $1 is the build folder, 77 means skipped.
exec "${PYTHON:-python3}" "$(dirname "$0")/../cupti/cases.py" profiler "${1:?the build folder}"
