#!/usr/bin/env bash
# Installs what cmake/packages/packages.tsv lists and this system lacks; prints each missing package and why it is
# needed. Nothing missing: no network, no root. Exit 0: every required package is there.
#   DTYPE_GUARD_PACKAGES=required  leaves the optional ones out
#   DTYPE_GUARD_PACKAGES=none      skips the check (the packages come from elsewhere)
#   DTYPE_GUARD_OS_RELEASE=FILE    stands in for /etc/os-release
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
table=$here/packages.tsv
wanted=${DTYPE_GUARD_PACKAGES:-all}
os_release=${DTYPE_GUARD_OS_RELEASE:-/etc/os-release}

case $wanted in
  all | required) ;;
  none) exit 0 ;;
  *)
    echo "packages: DTYPE_GUARD_PACKAGES is '$wanted'; expected all, required or none" >&2
    exit 2
    ;;
esac

say() { printf 'packages: %s\n' "$*"; }

# The table's rows without comments; fields are never empty, so that tabs can be read as separators.
rows() { grep -v '^#' "$table" | sed 1d | sed 1d; }
header() { grep -v '^#' "$table" | sed -n 2p; }
llvm_releases() { grep '^llvm-releases' "$table" | cut -f2; }

system_name() {
  [ -r "$os_release" ] || { echo unknown; return; }
  (. "$os_release" && echo "${ID:-unknown}-${VERSION_ID:-rolling}")
}

# The number of the system's column in the table, 0 when it has none.
system_column() { header | tr '\t' '\n' | grep -nxF "$1" | cut -d: -f1 || echo 0; }

installed() { [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }
offered() { [[ $(LC_ALL=C apt-cache policy "$1" 2>/dev/null) =~ Candidate:\ [^\(] ]]; }

# A release that is installed already wins over a newer one, so that a second run changes nothing.
llvm_release() {
  local release
  for release in $(llvm_releases); do
    installed "llvm-$release-dev" && installed "libclang-$release-dev" && { echo "$release"; return; }
  done
  for release in $(llvm_releases); do
    offered "llvm-$release-dev" && offered "libclang-$release-dev" && { echo "$release"; return; }
  done
  llvm_releases | cut -d' ' -f1
}

# --- a system without a column: say what is needed, and go on only when all of it answers -------------------------

found_command() { command -v "$1" >/dev/null; }
found_python() {  # the tests prefer the system's Python to one that comes first in PATH
  local python=/usr/bin/python3
  [ -x "$python" ] || python=python3
  "$python" -c "import $1" 2>/dev/null
}
found_header() {
  local place include=()
  for place in /usr/lib/llvm-*/include /usr/lib64/llvm*/include /usr/lib/llvm/*/include /usr/local/include; do
    [ -d "$place" ] && include+=("-I$place")
  done
  echo "#if !__has_include(<$1>)
#error
#endif" | c++ -x c++ -E "${include[@]}" - >/dev/null 2>&1
}

found() {
  local kind=${1%%:*} name
  local -a names
  IFS='|' read -ra names <<<"${1#*:}"
  for name in "${names[@]}"; do
    "found_$kind" "$name" && return 0
  done
  return 1
}

by_hand() {
  local lacking=0 need kind probe rest
  local -a lines=()
  while IFS=$'\t' read -r need kind probe rest; do
    [ "$kind" = optional ] && [ "$wanted" = required ] && continue
    found "$probe" && continue
    [ "$kind" = required ] && lacking=1
    lines+=("  $need ($kind): ${rest##*$'\t'}")
  done < <(rows)
  [ ${#lines[@]} -eq 0 ] && return 0
  say "no package list for this system ($1); known: $(header | cut -f4- | sed 's/\twhy$//; s/\t/, /g')"
  say "not found here:"
  printf '%s\n' "${lines[@]}"
  if [ $lacking = 1 ]; then
    say "install the required ones by hand and run this again; or set DTYPE_GUARD_PACKAGES=none to skip this check"
    return 1
  fi
}

# --- a known system -----------------------------------------------------------------------------------------------

# Prints "kind<TAB>package<TAB>why" for each package of column $1 that is not installed; @ becomes the release.
missing() {
  local need kind package why release=""
  while IFS=$'\t' read -r need kind package why; do
    [ "$package" = - ] && continue
    [ "$kind" = optional ] && [ "$wanted" = required ] && continue
    if [[ $package == *@* ]]; then
      [ -n "$release" ] || release=$(llvm_release)
      package=${package//@/$release}
    fi
    installed "$package" || printf '%s\t%s\t%s\n' "$kind" "$package" "$why"
  done < <(rows | cut -f"1,2,$1,7")
}

list() { while IFS=$'\t' read -r kind package why; do printf '  %-22s %s: %s\n' "$package" "$kind" "$why"; done; }
packages_of() { awk -F'\t' -v kind="$1" '$1 == kind { print $2 }'; }

as_root=()
become_root() {
  [ "$(id -u)" = 0 ] && return 0
  command -v sudo >/dev/null || return 1
  as_root=(sudo)
}

apt() { "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -o Dpkg::Use-Pty=0 "$@" </dev/null; }
install() { apt install -y --no-install-recommends "$@"; }

on_known_system() {
  local column=$1 lacking package
  lacking=$(missing "$column")
  [ -n "$lacking" ] || return 0
  local may_install=0
  if become_root; then
    may_install=1
    # Before the list is printed: newer lists may offer a newer LLVM than the old ones did.
    say "reading the lists of packages"
    apt update || say "apt-get update failed; trying with the lists that are here"
    lacking=$(missing "$column")
  fi
  say "missing here ($system):"
  list <<<"$lacking"

  if [ $may_install = 0 ]; then
    say "neither root nor sudo is at hand; run this as root, then try again:"
    say "  apt-get update && apt-get install --no-install-recommends $(cut -f2 <<<"$lacking" | tr '\n' ' ')"
    [ -z "$(packages_of required <<<"$lacking")" ]
    return
  fi

  local -a required optional
  mapfile -t required < <(packages_of required <<<"$lacking")
  mapfile -t optional < <(packages_of optional <<<"$lacking")
  if [ ${#required[@]} -gt 0 ] && ! install "${required[@]}"; then
    say "apt-get could not install: ${required[*]}"
    say "its own message is above; without network, install them from another source and run this again"
    return 1
  fi
  for package in "${optional[@]}"; do
    if ! offered "$package"; then
      say "optional $package is not offered here; what needs it is left out"
    elif ! install "$package"; then
      say "optional $package could not be installed; what needs it is left out"
    fi
  done
}

system=$(system_name)
column=$(system_column "$system")
if [ "$column" = 0 ] || ! command -v apt-get >/dev/null; then
  by_hand "$system"
else
  on_known_system "$column"
fi
