#!/bin/sh
# Runs commands at the same time and prints what each said, one after the other.
# Usage: side_by_side.sh SECONDS FILE    FILE has a command on each line; each may take SECONDS.
# Status: 77 if every command ended with that (skipped), 1 if one ended with another than 0 and 77, else 0.
seconds=$1 file=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
count=0
while IFS= read -r line; do
  count=$((count + 1))
  (timeout -k 5 "$seconds" sh -c "$line" > "$scratch/$count" 2>&1 < /dev/null
   echo $? > "$scratch/$count.status") &
done < "$file"
wait
number=0 skipped=0 result=0
while IFS= read -r line; do
  number=$((number + 1))
  status=$(cat "$scratch/$number.status")
  printf -- '-- %s\n' "$line"
  cat "$scratch/$number"
  case $status in
    0) ;;
    77) skipped=$((skipped + 1)) ;;
    124) result=1; echo "-- took more than $seconds s and was ended" ;;
    *) result=1; echo "-- status $status" ;;
  esac
done < "$file"
[ "$count" -gt 0 ] || { echo "side_by_side.sh: '$file' has no command" >&2; exit 1; }
[ "$result" -ne 0 ] || [ "$skipped" -lt "$count" ] || exit 77
exit "$result"
