#!/bin/sh
# Everything that needs a GPU, in under nine minutes: build what is missing, the accuracy suite on the device,
# compute-sanitizer on small shapes, and the benchmarks, whose table comes last. It needs CUDA, CMake, Ninja and
# PyTorch; what else it takes is carried along in a pack (tests/gpu/pack.sh), with programs compiled beforehand or
# without.
# Usage: tests/gpu/run.sh [PACK]    PACK: build-gpu-pack by default
# Status: 0 all right, 77 no GPU (and says so), else what failed is said.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
pack=${1:-$root/build-gpu-pack}
build=$root/build-gpu
failed=""
started=$(date +%s)
whole=530  # seconds for all of it: a step has its limit or what is left
step() {
  name=$1 limit=$2
  shift 2
  began=$(date +%s)
  left=$((whole - began + started))
  [ "$left" -gt "$limit" ] || limit=$left
  [ "$limit" -gt 5 ] || { echo "== $name: no time left"; failed="$failed $name(no-time)"; return 1; }
  printf '\n== %s\n' "$name"
  timeout -k 5 "$limit" "$@"
  status=$?
  printf '== %s: status %s after %s s\n' "$name" "$status" "$(($(date +%s) - began))"
  [ "$status" -eq 0 ] || [ "$status" -eq 77 ] || failed="$failed $name($status)"
  return "$status"
}

if ! command -v nvidia-smi > /dev/null || ! nvidia-smi -L; then
  echo "skipped: no CUDA device: nvidia-smi finds none"
  exit 77
fi
date
bin=$pack/bin lib=$pack/kernels/libflash_ref.so
if [ ! -x "$bin/test_gpu" ] || [ ! -f "$lib" ] || ! LD_LIBRARY_PATH=$pack/kernels "$bin/test_gpu" --list-test-names-only > /dev/null 2>&1; then
  capability=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -n 1 | tr -d .)
  [ "$capability" = 90 ] && capability=90a
  step build 330 sh -c "cmake -S '$root' -B '$build' -G Ninja -DCMAKE_BUILD_TYPE=Release \
    -DDTYPE_GUARD_GPU_PACK='$pack' -DDTYPE_GUARD_CUDA_ARCHITECTURES=$capability-real && \
    cmake --build '$build' --target flash_ref test_gpu gpu_probe" || { echo "failed:$failed"; exit 1; }
  bin=$build lib=$build/kernels/libflash_ref.so
fi
export LD_LIBRARY_PATH="$(dirname "$lib")${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
"$bin/gpu_probe" || exit $?
step accuracy 120 "$bin/test_gpu" "~[cpu]"
small="one key*,a query that sees*,attention keeps the error rule for grouped*,rows that see no key*,rotary copies*,\
rwkv7 in two halves*,decoding keeps*,without a state before it*"
if command -v compute-sanitizer > /dev/null; then
  step memcheck 60 compute-sanitizer --tool memcheck --error-exitcode 9 "$bin/test_gpu" "$small"
  step racecheck 60 compute-sanitizer --tool racecheck --error-exitcode 9 "$bin/test_gpu" "$small"
else
  echo "compute-sanitizer is not installed: memcheck and racecheck were not run"
  failed="$failed no-compute-sanitizer"
fi
if [ -x "$pack/bin/dtype-san" ]; then
  for case in "$root"/tests/gpu/cases/*.sh; do
    step "$(basename "$case" .sh)" 25 sh "$case" "$pack"
  done
else
  echo "the pack has no dtype-san: tests/gpu/cases were not run"
fi
step bench 180 "${PYTHON:-python3}" "$root/tests/gpu/bench.py" "$lib"
[ -z "$failed" ] || { echo "failed:$failed"; exit 1; }
