#!/usr/bin/env bash
# What the calls in the life of one allocation cost through peermap, against the same calls from a C program, in turns on one GPU.
set -euo pipefail

usage() {
  cat <<'TEXT'
usage: c-compare.sh [--pairs N] [--samples N] [--size MIB] [OUT]    measure into the folder OUT (c-compare-results)

Lies in a bundle as `c-compare`. Builds benches/c/control.c with nvcc, or with cc and the toolkit's cuda.h, and runs it and
`peermap bench` in turns: 8 pairs (6 at least) of 300 samples each, with allocations of 2 MiB. OUT gets every sample and
comparison.txt; it must not be there yet. Both run in the environment of the caller: set CUDA_DEVICE_MAX_CONNECTIONS or
CUDA_VISIBLE_DEVICES for both or for neither.

Exit status: 0 each call costs at most 3 % more than from C; 10 one costs more; 15 of one it cannot be said; 2 usage; else what
failed.
TEXT
}

pairs=8
samples=300
size=2
out=c-compare-results
while [[ $# -gt 0 ]]; do
  case $1 in
    --help | -h) usage; exit 0 ;;
    --pairs | --samples | --size)
      [[ $# -ge 2 && $2 =~ ^[1-9][0-9]*$ ]] || { usage >&2; exit 2; }
      printf -v "${1#--}" %d "$2"
      shift
      ;;
    -*) usage >&2; exit 2 ;;
    *) out=$1 ;;
  esac
  shift
done
[[ $pairs -ge 6 && $pairs -le 99 ]] || { echo "c-compare: 6 to 99 pairs, and not $pairs" >&2; exit 2; }
[[ ! -e $out ]] || { echo "c-compare: $out is there already" >&2; exit 2; }

# As many rounds as `peermap bench` takes before its samples count.
warm_up=5

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
if [[ -x $here/bin/peermap ]]; then
  peermap=("$here/bin/peermap")
  source=$here/benches/control.c
else
  cargo build --release --quiet --package peermap-cli
  peermap=(cargo run --release --quiet --package peermap-cli --)
  source=$here/../benches/c/control.c
fi

# compile TARGET: builds the C program with the compiler that there is.
compile() {
  local home=${CUDA_HOME:-/usr/local/cuda} nvcc
  if nvcc=$(command -v nvcc || command -v "$home/bin/nvcc"); then
    "$nvcc" -O2 -o "$1" "$source" -ldl
  elif command -v cc >/dev/null; then
    cc -O2 -I"$home/include" -o "$1" "$source" -ldl
  else
    echo "c-compare: there is neither nvcc, in PATH or $home/bin, nor cc" >&2
    return 1
  fi
}

from_c() {
  "$out/control" "$size" "$warm_up" "$samples" >"$out/c-$1.json"
}

from_peermap() {
  "${peermap[@]}" bench --backend cuda --suite control --filter "memory=own/size=$in_words" --samples "$samples" \
    --out "$out/peermap-$1.json" >/dev/null
}

in_words="$size MiB"
((size % 1024)) || in_words="$((size / 1024)) GiB"
mkdir -p "$out"
compile "$out/control"
base=()
new=()
for pair in $(seq -w 1 "$pairs"); do
  echo "pair $pair of $pairs" >&2
  # Who is first alternates, so that what the first does for the second favours neither.
  if ((10#$pair % 2)); then from_c "$pair"; from_peermap "$pair"; else from_peermap "$pair"; from_c "$pair"; fi
  "${peermap[@]}" import samples "$out/c-$pair.json" --like "$out/peermap-$pair.json" --out "$out/c-result-$pair.json" 2>/dev/null
  base+=("$out/c-result-$pair.json")
  new+=("$out/peermap-$pair.json")
done

sides=("${base[0]}" "${new[0]}")
for file in "${base[@]:1}"; do sides+=(--base "$file"); done
for file in "${new[@]:1}"; do sides+=(--new "$file"); done
status=0
"${peermap[@]}" compare --paired --threshold 3% "${sides[@]}" >"$out/comparison.txt" || status=$?
echo "base is C, new is peermap:"
cat "$out/comparison.txt"
[[ $status -eq 0 || $status -eq 10 || $status -eq 15 ]] || exit "$status"
# The last word of a row is the upper end of its interval. One that is not above 3 % is enough here, however low the other end is.
awk '
  /^ *(SLOWER|AMBIGUOUS|FASTER|SAME) / { all++; if ($NF + 0 > 0 && $NF <= 1.03) within++ }
  $1 == "SLOWER" { slower++ }
  END {
    printf "%d of %d calls cost at most 3 %% more than from C\n", within, all
    exit slower ? 10 : all && within == all ? 0 : 15
  }' "$out/comparison.txt"
