#!/bin/sh
# Runs a command where there is a GPU for it; else says why not and ends with 77.
# Usage: on_gpu.sh FOLDER COMMAND [ARGUMENT...]    FOLDER has gpu_probe, and the command if it is there.
folder=$1
shift
if [ ! -x "$folder/gpu_probe" ]; then
  if ! command -v nvidia-smi > /dev/null || ! nvidia-smi -L > /dev/null 2>&1; then
    echo "skipped: no CUDA device: nvidia-smi finds none"
    exit 77
  fi
  echo "gpu_probe is missing in $folder: build the target gpu_tests first" >&2
  exit 1
fi
"$folder/gpu_probe" || exit $?
[ -x "$folder/$1" ] && PATH="$folder:$PATH"
exec "$@"
