#!/bin/sh
# Gathers what tests/gpu/run.sh needs on a machine without this project's packages: headers, what is generated from
# the rules, and the library and tests, compiled here so that the other machine's minutes go to tests and figures.
# Usage: tests/gpu/pack.sh BUILD [PACK]    BUILD: a build folder with CUDA; PACK: build-gpu-pack by default
set -eu
build=${1:?usage: tests/gpu/pack.sh BUILD [PACK]}
root=$(cd "$(dirname "$0")/../.." && pwd)
pack=${2:-$root/build-gpu-pack}
header_of() {
  path=$(printf '#include <%s>\n' "$1" | ${CXX:-c++} -E -x c++ - 2> /dev/null |
         sed -n "s|^# [0-9]* \"\(.*/$1\)\".*|\1|p" | head -n 1)
  [ -n "$path" ] || { echo "pack.sh: <$1> was not found" >&2; exit 1; }
  echo "$path"
}
cmake --build "$build" --target flash_ref gpu_tests
rm -rf "$pack"
mkdir -p "$pack/include/dlpack" "$pack/kernels" "$pack/bin"
cp -r "$(dirname "$(header_of catch2/catch.hpp)")" "$pack/include/"
cp "$(header_of dlpack/dlpack.h)" "$pack/include/dlpack/"
cp "$build/generated/kernels/launch/flash_ref_contract.h" "$pack/"
cp "$build/kernels/libflash_ref.so" "$pack/kernels/"
cp "$build/tests/gpu/test_gpu" "$build/tests/gpu/gpu_probe" "$pack/bin/"
strip "$pack/kernels/libflash_ref.so" "$pack/bin/test_gpu"
# The sanitizer's cases (tests/gpu/cases) take the pack for a build folder, where it was built.
if [ -x "$build/bin/dtype-san" ] && [ -x "$build/bin/gpu_kernel_names" ]; then
  cp "$build/bin/dtype-san" "$build/bin/gpu_kernel_names" "$pack/bin/"
  mkdir -p "$pack/lib"
  for library in "$build"/lib/libdtype_san.so* "$build"/lib/libempty_callback.so; do
    [ ! -e "$library" ] || cp -P "$library" "$pack/lib/"
  done
  records=$build/tests/bench/san/libbench_san_empty_callback.so  # the floor of torch_cost
  [ ! -e "$records" ] || cp "$records" "$pack/lib/libempty_records.so"
  jobs=$build/.torch-jobs
  if [ -d "$jobs" ]; then cp -r "$jobs" "$pack/.torch-jobs"; fi
fi
size=$(du -sm "$pack" | cut -f 1)
echo "$pack: $size MiB"
[ "$size" -le 64 ] || { echo "pack.sh: more than 64 MiB" >&2; exit 1; }
