#!/usr/bin/env bash
# Launches the golden programs with `peermap launch`, here or from a bundle, and compares what each gives with what it must.
set -euo pipefail

usage() {
  cat <<'TEXT'
usage: golden [--backend sim|cuda] [ARGUMENT]…

Runs every program of fixtures/ptx on the backend (cuda), one after the other where that is a GPU. Arguments are those of
a Rust test: a part of a name picks programs, --list names them.

Exit status: 0 all did what they must, 101 some did not, 2 usage.
TEXT
}

backend=cuda
case ${1:-} in
  -h | --help) usage; exit 0 ;;
  --backend)
    backend=${2:-}
    [[ $backend == sim || $backend == cuda ]] || { usage >&2; exit 2; }
    shift 2
    ;;
esac

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
export PEERMAP_GOLDEN_BACKEND=$backend
arguments=("$@")
# Programs that fault or never end get the device for themselves.
[[ $backend == sim ]] || arguments+=(--test-threads 1)

if [[ -x $here/tests/golden ]]; then
  export PEERMAP_GOLDEN_EXE=$here/bin/peermap PEERMAP_GOLDEN_FIXTURES=$here/fixtures/ptx
  exec "$here/tests/golden" "${arguments[@]}"
fi
exec cargo test --release --manifest-path "$here/../Cargo.toml" --package peermap-cli --test golden -- "${arguments[@]}"
