#!/usr/bin/env bash
# Measures this host, compares with a baseline where there is one of the same machine, and makes a page of it.
set -euo pipefail
shopt -s nullglob

usage() {
  cat <<'TEXT'
usage: bench.sh [--full] [--runs N] [--backend auto|sim|cuda] [OUT]    measure into the folder OUT (bench-results)

Lies in a bundle as `bench`. OUT gets a result for each run (5), comparison.txt and report.html; it must not be there yet. Runs are
quick ones unless --full is given. The baseline are the results in the folder that PEERMAP_BASELINE names, or in
reports/baseline/h200-x1. One run says little: what its samples share, the next run does not have.

Exit status: 0 measured; 10 something became slower or missed its floor; 15 the comparison says nothing; 2 usage.
TEXT
}

options=(--quick)
runs=5
out=bench-results
while [[ $# -gt 0 ]]; do
  case $1 in
    --help | -h) usage; exit 0 ;;
    --full) options=("${options[@]/--quick/}") ;;
    --runs) [[ $# -ge 2 && $2 =~ ^[1-9][0-9]*$ ]] || { usage >&2; exit 2; }; runs=$2; shift ;;
    --backend) [[ $# -ge 2 ]] || { usage >&2; exit 2; }; options+=(--backend "$2"); shift ;;
    -*) usage >&2; exit 2 ;;
    *) out=$1 ;;
  esac
  shift
done
[[ ! -e $out ]] || { echo "bench.sh: $out is there already" >&2; exit 2; }

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
if [[ -x $here/bin/peermap ]]; then
  peermap=("$here/bin/peermap")
  baseline=$here/reports/baseline/h200-x1
else
  peermap=(cargo run --release --quiet --package peermap-cli --)
  baseline=$here/../reports/baseline/h200-x1
fi
baseline=${PEERMAP_BASELINE:-$baseline}

mkdir -p "$out"
status=0
for run in $(seq "$runs"); do
  # shellcheck disable=SC2068 # an option that was taken out is empty
  "${peermap[@]}" bench ${options[@]} --out "$out/result-$run.json" >"$out/result-$run.txt" || status=$?
  [[ -s $out/result-$run.json ]] || exit "$status"
done
new=("$out"/result-*.json)
base=()
[[ ! -d $baseline ]] || base=("$baseline"/*.json)
if [[ ${#base[@]} -gt 0 ]]; then
  sides=("${base[0]}" "${new[0]}")
  for file in "${base[@]:1}"; do sides+=(--base "$file"); done
  for file in "${new[@]:1}"; do sides+=(--new "$file"); done
  compared=0
  "${peermap[@]}" compare "${sides[@]}" >"$out/comparison.txt" 2>&1 || compared=$?
  tail -n 1 "$out/comparison.txt"
  # 2: the baseline is of another machine, which is no fault of this one.
  [[ $compared -eq 2 || $status -ne 0 ]] || status=$compared
fi
sides=("${new[@]}")
for file in "${base[@]}"; do sides+=(--base "$file"); done
"${peermap[@]}" report "${sides[@]}" --out "$out/report.html"
echo "$out/report.html"
exit "$status"
