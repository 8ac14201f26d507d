#!/usr/bin/env bash
# Makes one page of each kind and looks at them in a browser, after it has made sure that a wrong page is found out.
set -euo pipefail

usage() {
  cat <<'TEXT'
usage: check-pages.sh    make every kind of page, and check them with check-page.sh

Without a browser it installs Debian's chromium, where it may. Exit status: 0 if every page is right, 1 if one is not, 77 if there is no
browser and none can be had.
TEXT
}

[[ $# -eq 0 ]] || { usage >&2; exit 2; }
cd "$(dirname "${BASH_SOURCE[0]}")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

check() { scripts/check-page.sh "$@"; }

# page NAME BODY: writes a page.
page() { printf '<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>t</title><body>%s' "$2" >"$work/$1"; }

page right.html '<p>right</p>'
found=0
check "$work/right.html" || found=$?
if [[ $found -eq 77 ]] && command -v apt-get >/dev/null; then
  root=()
  [[ $(id -u) -eq 0 ]] || root=(sudo --non-interactive)
  { "${root[@]}" apt-get update -qq && "${root[@]}" apt-get install -y -qq --no-install-recommends chromium; } >&2 || true
  found=0
  check "$work/right.html" || found=$?
fi
[[ $found -eq 0 ]] || exit "$found"

# wrong COMPLAINT BODY: a page that has to be found out, by this complaint.
wrong() {
  page wrong.html "$2"
  if check "$work/wrong.html" 2>"$work/said"; then
    echo "check-pages.sh: a wrong page passed: $2" >&2
    exit 1
  fi
  grep -q -e "$1" "$work/said" || { echo "check-pages.sh: $2 is not wrong because of: $1" >&2; cat "$work/said" >&2; exit 1; }
}
wrong 'pixels wide' '<p style="width:2000px">wide</p>'
wrong 'it loads' '<img alt="" src="file:///nowhere/x.png">'
wrong 'it loads' '<style>@import "http://nowhere.invalid/x.css";</style>'
wrong 'on the console' '<script>console.error("broken")</script>'
wrong 'texts cut' '<div style="overflow:hidden"><svg width="300" height="20"><text x="-40" y="15">cut off</text></svg></div>'

# As the other steps of .ci/run build them, so that nothing is built twice.
peermap() { cargo run --release --locked --quiet -- "$@"; }
# The exit code of a comparison is its verdict, and 10 is what these are made up to give.
compared() { local code=0; peermap compare "$@" >/dev/null || code=$?; [[ $code -eq 10 ]]; }

mkdir "$work/made-up"
cargo run --locked --quiet --example made_up_page -- "$work/made-up" 30 40
results=("$work"/made-up/*.json)
sides=("${results[0]}" "${results[29]}")
for run in 1 2 3; do sides+=(--base "${results[$run]}" --new "${results[29 - run]}"); done

peermap report "${results[0]}" --out "$work/one.html"
peermap report "${results[@]}" --out "$work/history.html"
compared "${sides[@]}" --html "$work/comparison.html"
compared "${results[0]}" "${results[29]}" --html "$work/single.html"
peermap bench --backend sim --suite control,transport --quick --out "$work/simulated.json" >/dev/null
peermap report "$work/simulated.json" --out "$work/simulated.html"
peermap atlas --quick --html "$work/atlas.html" >/dev/null
pages=("$work"/{one,history,comparison,single,simulated,atlas}.html)
check "${pages[@]}"
echo "${#pages[@]} pages are right"
