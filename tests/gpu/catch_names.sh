#!/bin/sh
# Prints a file of test names as Catch2's --input-file wants them: some characters are its own.
# Usage: catch_names.sh FILE
exec sed 's/[],\[]/\\&/g' "$1"
