#!/usr/bin/env bash
# Which lines the tests of this repository reach, in the crates that the rest stands on: at least 90 of 100 in each.
set -euo pipefail
cd "$(dirname "$0")/.."

usage() {
  cat <<'TEXT'
usage: coverage.sh [--html FOLDER]    run the tests of driver, model, sim, ipc, scenario and trace, and count the lines that they reach

Needs cargo-llvm-cov, and llvm-cov and llvm-profdata of LLVM 22, which rustc 1.95 is made with; what is missing is
installed if it can be. Those of rustup's component llvm-tools do as well.
Exit status: 0 if each crate has 90 % or more, 1 if one has less, 2 usage, 77 if a tool is missing.
TEXT
}

html=
case ${1:-} in
  '') ;;
  --help) usage; exit 0 ;;
  --html) [[ $# -eq 2 ]] || { usage >&2; exit 2; }; html=$(realpath -m "$2") ;;
  *) usage >&2; exit 2 ;;
esac

crates=(driver model sim ipc scenario trace)
least=90
tools=/usr/lib/llvm-22/bin

if [[ ! -x $tools/llvm-cov ]] && command -v apt-get >/dev/null; then
  echo 'coverage.sh: installing llvm-22' >&2
  root=()
  [[ $(id -u) -eq 0 ]] || root=(sudo -n)
  { "${root[@]}" apt-get update -qq && "${root[@]}" apt-get install -y -qq --no-install-recommends llvm-22; } >&2 || true
fi
cargo llvm-cov --version >/dev/null 2>&1 || cargo install --quiet --locked cargo-llvm-cov@0.9.1 >&2 || true
cargo llvm-cov --version >/dev/null 2>&1 || exit 77
if [[ -x $tools/llvm-cov ]]; then
  export LLVM_COV=$tools/llvm-cov LLVM_PROFDATA=$tools/llvm-profdata
elif ! find "$(rustc --print sysroot)" -name llvm-cov -print -quit | grep -q .; then
  exit 77
fi

packages=()
for crate in "${crates[@]}"; do packages+=(--package "peermap-$crate"); done
# The two that move gibibytes take a quarter of an hour when every line is counted, and reach nothing that others do not. Whether
# tests pass is not the question here.
cargo llvm-cov --no-report --locked --ignore-run-fail "${packages[@]}" -- \
  --skip work_in_flight --skip pools_with_work_that_has_not_ended >&2

# Killed processes leave half a profile.
summary=$(mktemp)
trap 'rm -f "$summary"' EXIT
cargo llvm-cov report --failure-mode all --lcov >"$summary" 2>/dev/null
[[ -z $html ]] || cargo llvm-cov report --failure-mode all --html --output-dir "$html" >&2

# SF names a file, LF says how many lines it has, LH how many of them were reached.
awk -v least="$least" -v names="${crates[*]}" '
  /^SF:/ { crate = match($0, /\/crates\/[a-z]+\/src\//) ? substr($0, RSTART + 8, RLENGTH - 13) : "" }
  /^LF:/ { count[crate] += substr($0, 4) }
  /^LH:/ { reached[crate] += substr($0, 4) }
  END {
    split(names, crates, " ")
    for (number = 1; number in crates; number++) {
      crate = crates[number]
      percent = count[crate] ? 100 * reached[crate] / count[crate] : 0
      low = percent < least
      lows += low
      printf "%-9s %5.1f %% of %d lines%s\n", crate, percent, count[crate], low ? ", and " least " % are asked for" : ""
    }
    exit (lows > 0)
  }
' "$summary"
