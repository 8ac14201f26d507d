#!/usr/bin/env bash
# Lays out dist/peermap-bundle: what a GPU host needs to run peermap, where neither Rust nor a network has to be.
set -euo pipefail

usage() {
  cat <<'TEXT'
usage: bundle.sh [FOLDER]    build in release mode and lay the bundle out in FOLDER (dist/peermap-bundle)

Needs cargo, strip and sha256sum. Exit status: 0 done, 1 failed, 2 usage.
TEXT
}

case ${1:-} in
  --help) usage; exit 0 ;;
  -*) usage >&2; exit 2 ;;
esac
[[ $# -le 1 ]] || { usage >&2; exit 2; }

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
out=$(realpath -m "${1:-$root/dist/peermap-bundle}")
cd "$root"

# The most that the bundle may take.
limit_bytes=$((40 << 20))

fail() {
  echo "bundle.sh: $*" >&2
  exit 1
}

# built KIND NAME CARGO-ARGUMENT…: builds one target and prints the path of its executable.
built() {
  local kind=$1 name=$2 path
  shift 2
  path=$(cargo "$@" --message-format=json-render-diagnostics |
    sed -nE "/\"kind\":\[\"$kind\"\]/{/\"name\":\"$name\"/s/.*\"executable\":\"([^\"]+)\".*/\1/p}" | tail -n 1)
  [[ -n $path ]] || fail "cargo named no executable of $kind $name"
  echo "$path"
}

# put TARGET KIND NAME CARGO-ARGUMENT…: builds an executable and copies it without its symbols.
put() {
  local target=$1 file
  shift
  file=$(built "$@")
  mkdir -p "$(dirname "$target")"
  strip --strip-all -o "$target" "$file"
  chmod 755 "$target"
}

# An earlier bundle is replaced; anything else is left alone.
if [[ -e $out ]]; then
  [[ -f $out/MANIFEST ]] || fail "$out is there and is no bundle: name another folder"
  rm -r "$out"
fi
mkdir -p "$out"

put "$out/bin/peermap" bin peermap build --release --package peermap-cli --bin peermap
put "$out/tests/hardware" test hardware test --release --package peermap-cuda --test hardware --no-run
put "$out/tests/golden" test golden test --release --package peermap-cli --test golden --no-run
for bench in barrier transport device claims agreement beside_c; do
  put "$out/benches/$bench" bench "$bench" bench --package peermap-benches --bench "$bench" --no-run
done
cp -r kernels fixtures "$out/"
cp scripts/bundle-run.sh "$out/run"
cp scripts/gpu-report.sh "$out/report"
cp scripts/bench.sh "$out/bench"
cp scripts/golden.sh "$out/golden"
mkdir -p "$out/reports"
[[ ! -d reports/baseline ]] || cp -r reports/baseline "$out/reports/"
cp scripts/c-compare.sh "$out/c-compare"
cp benches/c/control.c "$out/benches/"
chmod -R u+w "$out"
chmod 755 "$out/run" "$out/report" "$out/bench" "$out/golden" "$out/c-compare"

manifest=$(mktemp)
trap 'rm -f "$manifest"' EXIT
commit=$(git rev-parse HEAD)
[[ -z $(git status --porcelain) ]] || commit+=' with changes that are not committed'
cd "$out"
{
  echo "# peermap bundle"
  echo "# commit $commit"
  echo "# $(rustc --version)"
  find . -type f -printf '%P\0' | LC_ALL=C sort -z | xargs -0 sha256sum
} >"$manifest"
cp "$manifest" MANIFEST
sha256sum MANIFEST | cut -d ' ' -f 1 >BUNDLE.sha256

bytes=$(du --apparent-size --summarize --bytes . | cut -f 1)
((bytes <= limit_bytes)) || fail "the bundle has $bytes bytes, more than $limit_bytes"
echo "$out: $bytes bytes, bundle $(cat BUNDLE.sha256)"
