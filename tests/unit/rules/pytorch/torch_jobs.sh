#!/bin/sh
# Sets up BUILD/.torch-jobs: published packages whose models dtype-san's tests run, and that run jobs, each release in a folder of its own
# for PYTHONPATH, since two releases of one package exclude each other in one environment. They run with the PyTorch of
# torch_venv.sh.
# Usage: torch_jobs.sh BUILD
#   Some 50 MB to download, once. What cannot be had is named on stderr, and the tests of it skip; the next run tries again.
#   Ends with 0 either way.
set -eu
build=${1:?usage: torch_jobs.sh BUILD}
here=$(cd "$(dirname "$0")" && pwd)
jobs=$build/.torch-jobs
python=$build/.venv/bin/python
[ -x "$python" ] || { echo "no packages in $jobs: there is no $python; the tests of them will skip" >&2; exit 0; }

mkdir -p "$jobs"
for list in "$here"/torch_jobs/*.txt; do
  job=$(basename "$list" .txt)
  cmp -s "$list" "$jobs/$job/ready" && continue
  rm -rf "${jobs:?}/$job" "$jobs/$job.part"
  if "$python" -m pip --disable-pip-version-check --quiet --retries 1 --timeout 20 install --no-deps --require-hashes \
    --only-binary :all: --target "$jobs/$job.part" -r "$list" >"$jobs/$job.log" 2>&1; then
    cp "$list" "$jobs/$job.part/ready"
    mv "$jobs/$job.part" "$jobs/$job"
  else
    rm -rf "$jobs/$job.part"
    echo "no $job in $jobs: pip: $(grep -m 1 '^ERROR' "$jobs/$job.log" || tail -n 1 "$jobs/$job.log"); its tests will skip" >&2
  fi
done
