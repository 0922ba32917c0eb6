#!/bin/sh
# Everything that needs a GPU, in under nine minutes: build what is missing, the accuracy suite on the device,
# compute-sanitizer on small shapes, the sanitizer's cases, and the benchmarks, whose table comes last. It needs CUDA,
# CMake, Ninja and PyTorch; what else it takes is carried along in a pack (tests/gpu/pack.sh), with programs compiled
# beforehand or without.
# Usage: tests/gpu/run.sh [--dry-run] [--seconds N] [--only "STEP..."] [PACK]    PACK: build-gpu-pack by default
#   --dry-run    goes on without a GPU: what needs one is skipped with the reason, the rest is done, the benchmarks on CPU
#   --seconds N  for all of it; 530 by default
#   --only       these steps alone: accuracy memcheck racecheck cupti torch cupti_switch cupti_launch cupti_cost torch_cost bench
# PYTHON names an interpreter with PyTorch (default: python3).
# Status: 0 all right, 77 no GPU (and says so), else what failed is said.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
dry="" whole=530 only=""  # a step has its limit, or what is left of the whole
while :; do
  case ${1:-} in
    --dry-run) dry=--dry-run ;;
    --seconds) whole=${2:?--seconds N}; shift ;;
    --only) only=" ${2:?--only STEPS} "; shift ;;
    -*) echo "run.sh: '$1' is no option; expected --dry-run, --seconds, --only or a folder that pack.sh made" >&2; exit 2 ;;
    *) break ;;
  esac
  shift
done
pack=${1:-$root/build-gpu-pack}
[ -d "$pack" ] || { echo "run.sh: '$pack' is not there: make it with tests/gpu/pack.sh BUILD '$pack'" >&2; exit 2; }
pack=$(cd "$pack" && pwd)
build=$root/build-gpu
failed="" skipped=""
started=$(date +%s)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
here=$root/tests/gpu

wanted() {
  [ -z "$only" ] && return 0
  case $only in *" $1 "*) return 0 ;; esac
  return 1
}
# Runs a command for at most so many seconds, or what is left of all, and keeps what it says.
attempt() {
  name=$1 limit=$2
  shift 2
  began=$(date +%s)
  left=$((whole - began + started))
  [ "$left" -gt "$limit" ] || limit=$left
  if [ "$limit" -gt 5 ]; then
    timeout -k 5 "$limit" "$@" > "$scratch/said.$name" 2>&1 < /dev/null
    echo "$? $limit $(($(date +%s) - began))" > "$scratch/status.$name"
  else
    echo "no time left" > "$scratch/said.$name"
    echo "124 0 0" > "$scratch/status.$name"
  fi
}
tell() {
  name=$1
  read -r status limit seconds < "$scratch/status.$name"
  printf '\n== %s\n' "$name"
  cat "$scratch/said.$name"
  printf '== %s: status %s after %s s\n' "$name" "$status" "$seconds"
  case $status in
    0) ;;
    77) skipped="$skipped $name" ;;
    124) failed="$failed $name(over-$limit-s)" ;;
    *) failed="$failed $name($status)" ;;
  esac
  return "$status"
}
step() {
  wanted "$1" || return 0
  attempt "$@"
  tell "$1"
}
# A step beside others, which tell_beside waits for.
beside=""
step_beside() {
  wanted "$1" || return 0
  beside="$beside $1"
  attempt "$@" &
}
tell_beside() {
  wait
  for one in $beside; do tell "$one"; done
  beside=""
}
skip() {
  printf '\n== %s: skipped: %s\n' "$1" "$2"
  skipped="$skipped $1"
}

reason=""
if ! command -v nvidia-smi > /dev/null || ! nvidia-smi -L; then
  reason="no CUDA device: nvidia-smi finds none"
  [ -n "$dry" ] || { echo "skipped: $reason"; exit 77; }
fi
date
bin=$pack/bin lib=$pack/kernels/libflash_ref.so
if [ ! -f "$lib" ] || ! LD_LIBRARY_PATH=$pack/kernels "$bin/test_gpu" --help > /dev/null 2>&1; then
  capability=80
  [ -n "$reason" ] || capability=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -n 1 | tr -d .)
  [ "$capability" = 90 ] && capability=90a
  step build 330 sh -c "cmake -S '$root' -B '$build' -G Ninja -DCMAKE_BUILD_TYPE=Release \
    -DDTYPE_GUARD_GPU_PACK='$pack' -DDTYPE_GUARD_CUDA_ARCHITECTURES=$capability-real && \
    cmake --build '$build' --target flash_ref test_gpu gpu_probe" || { echo "failed:$failed"; exit 1; }
  bin=$build lib=$build/kernels/libflash_ref.so
fi
export LD_LIBRARY_PATH="$(dirname "$lib")${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
"$bin/gpu_probe" > "$scratch/probe" 2>&1
status=$?
cat "$scratch/probe"
if [ "$status" -ne 0 ]; then
  [ -n "$dry" ] && [ "$status" -eq 77 ] || exit "$status"
  reason=$(sed 's/^skipped: //' "$scratch/probe")
fi

# The suite in eight processes: most of its time is the oracle's, on CPU.
"$bin/test_gpu" --list-test-names-only '~[cpu]' > "$scratch/listed"
sh "$here/catch_names.sh" "$scratch/listed" > "$scratch/names"
sh "$here/catch_names.sh" "$here/small_tests.txt" > "$scratch/small"
for part in 0 1 2 3 4 5 6 7; do
  awk -v part="$part" 'NF && NR % 8 == part' "$scratch/names" > "$scratch/names.$part"
  [ ! -s "$scratch/names.$part" ] || echo "'$bin/test_gpu' --input-file '$scratch/names.$part'" >> "$scratch/accuracy"
done
if [ -n "$reason" ]; then
  echo "$(grep -c . "$scratch/names") tests of accuracy"
  for name in accuracy memcheck racecheck; do skip "$name" "$reason"; done
else
  step_beside accuracy 150 sh "$here/side_by_side.sh" 145 "$scratch/accuracy"
  for tool in memcheck racecheck; do
    if command -v compute-sanitizer > /dev/null; then
      step_beside "$tool" 150 compute-sanitizer --tool "$tool" --error-exitcode 9 "$bin/test_gpu" --input-file "$scratch/small"
    else
      skip "$tool" "compute-sanitizer is not installed"
    fi
  done
fi

# The sanitizer's cases: those that measure time each alone and last, the others beside all of this.
cases_of() {
  source=$1
  shift
  for case in "$@"; do echo "sh '$here/cases/${source}_$case.sh' '$pack'"; done > "$scratch/cases.$source"
  step_beside "$source" 180 sh "$here/side_by_side.sh" 175 "$scratch/cases.$source"
}
if [ -x "$pack/bin/dtype-san" ]; then
  cases_of cupti sdpa casts graphs profiler flash_ref
  cases_of torch origins by_hand right_models ways x_transformers var fallback graph streams trained \
    backends allocators flash_attn xformers joined compiled
fi
tell_beside
step bench 150 "${PYTHON:-python3}" "$here/bench.py" "$lib" $dry --table "$scratch/table"
if [ -x "$pack/bin/dtype-san" ]; then
  for case in cupti_switch cupti_launch cupti_cost torch_cost; do step "$case" 200 sh "$here/cases/$case.sh" "$pack"; done
else
  for source in cupti torch; do skip "$source" "the pack has no dtype-san"; done
fi
printf '\n'
[ -z "$skipped" ] || echo "skipped:$skipped"
[ -z "$failed" ] || echo "failed:$failed"
[ ! -f "$scratch/table" ] || cat "$scratch/table"
[ -z "$failed" ] || exit 1
[ -z "$reason" ] || exit 77
