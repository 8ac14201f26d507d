#!/usr/bin/env bash
# Measures this host, compares with a baseline of the same machine or with another build, and makes pages of it.
set -euo pipefail
shopt -s nullglob

usage() {
  cat <<'TEXT'
usage: bench.sh [OPTION]… [OUT]    measure into the folder OUT (bench-results), which must not be there yet

  --full             all sizes and samples; without it, runs are quick ones
  --runs N           how many runs (5), or with --against how many pairs of them (8, and 4 at least; below 6 they are not compared
                     pair by pair)
  --backend NAME     auto (default), sim or cuda
  --suite LIST       these suites, separated by commas; all without it
  --against BUILD    measure in turns with another executable or git revision, and compare with that
  --must-compare     that there is nothing to compare with is exit status 15

Lies in a bundle as `bench`. OUT gets every run's result and report.html; of the comparison a table (comparison.txt), a comment on a
change (comparison.md), a page (comparison.html) and test cases (junit.xml); and criterion.txt, if no option chooses a part. The
baseline are the results in the folder that
PEERMAP_BASELINE names, or in reports/baseline/h200-x1. One run says little: what its samples share, the next run does not have.

Exit status: 0 measured; 10 something became slower or missed its floor; 15 nothing can be said; 2 usage.
TEXT
}

wrong() { usage >&2; exit 2; }

options=()
effort=(--quick)
runs=
against=
must_compare=
out=bench-results
while [[ $# -gt 0 ]]; do
  case $1 in
    --help | -h) usage; exit 0 ;;
    --full) effort=() ;;
    --must-compare) must_compare=yes ;;
    --runs) [[ $# -ge 2 && $2 =~ ^[1-9][0-9]*$ ]] || wrong; runs=$2; shift ;;
    --backend | --suite) [[ $# -ge 2 ]] || wrong; options+=("$1" "$2"); shift ;;
    --against) [[ $# -ge 2 && -n $2 ]] || wrong; against=$2; shift ;;
    -*) wrong ;;
    *) out=$1 ;;
  esac
  shift
done
[[ -n $runs ]] || { [[ -n $against ]] && runs=8 || runs=5; }
[[ ! -e $out ]] || { echo "bench.sh: $out is there already" >&2; exit 2; }

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
if [[ -x $here/bin/peermap ]]; then
  peermap=("$here/bin/peermap")
  criterion() { for name in device transport; do "$here/benches/$name" --bench --quick; done; }
  baseline=$here/reports/baseline/h200-x1
else
  peermap=(cargo run --release --quiet --package peermap-cli --)
  criterion() { cargo bench --quiet --package peermap-benches --bench device --bench transport -- --quick; }
  baseline=$here/../reports/baseline/h200-x1
fi
baseline=${PEERMAP_BASELINE:-$baseline}

mkdir -p "$out"
status=0
compare=(compare)
if [[ -n $against ]]; then
  "${peermap[@]}" bench "${effort[@]}" "${options[@]}" --against "$against" --pairs "$runs" --out "$out/runs" \
    >"$out/measured.txt" || status=$?
  base=("$out"/runs/base-*.json)
  new=("$out"/runs/new-*.json)
  [[ ${#new[@]} -eq $runs ]] || exit "$status"
  # That something is slower is said again below.
  status=0
  compare+=(--paired)
else
  for run in $(seq "$runs"); do
    "${peermap[@]}" bench "${effort[@]}" "${options[@]}" --out "$out/result-$run.json" >"$out/result-$run.txt" || status=$?
    [[ -s $out/result-$run.json ]] || exit "$status"
  done
  new=("$out"/result-*.json)
  base=("$baseline"/*.json)
fi

# Another build, a suite or a backend is what the criterion benchmarks know nothing of.
if [[ -z $against && ${#options[@]} -eq 0 ]]; then
  CRITERION_HOME=$out/criterion criterion >"$out/criterion.txt" 2>"$out/criterion.log" ||
    { echo "bench.sh: the criterion benchmarks failed, see $out/criterion.log" >&2; [[ $status -ne 0 ]] || status=1; }
fi

compared=2
if [[ ${#base[@]} -gt 0 ]]; then
  sides=("${base[0]}" "${new[0]}")
  for file in "${base[@]:1}"; do sides+=(--base "$file"); done
  for file in "${new[@]:1}"; do sides+=(--new "$file"); done
  compared=0
  "${peermap[@]}" "${compare[@]}" "${sides[@]}" --html "$out/comparison.html" --junit "$out/junit.xml" \
    >"$out/comparison.txt" 2>&1 || compared=$?
  tail -n 1 "$out/comparison.txt"
fi
case $compared in
  # The baseline is of another machine, or there is none, which is no fault of this one.
  2)
    [[ $status -ne 0 ]] || echo "bench.sh: nothing was compared: there is no baseline of this machine" >&2
    [[ -z $must_compare || $status -ne 0 ]] || status=15
    ;;
  0 | 10 | 15)
    "${peermap[@]}" "${compare[@]}" "${sides[@]}" --markdown >"$out/comparison.md" || true
    [[ $status -ne 0 ]] || status=$compared
    ;;
  *) [[ $status -ne 0 ]] || status=$compared ;;
esac

sides=("${new[@]}")
for file in "${base[@]}"; do sides+=(--base "$file"); done
"${peermap[@]}" report "${sides[@]}" --out "$out/report.html"
echo "$out/report.html"
exit "$status"
