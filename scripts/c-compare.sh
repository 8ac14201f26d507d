#!/usr/bin/env bash
# What the calls in the life of one allocation cost through peermap, against the same calls from a C program, in turns on one GPU.
set -euo pipefail

usage() {
  cat <<'TEXT'
usage: c-compare.sh [SIZE_IN_MIB [ROUNDS]]    2 MiB and 1500 rounds if not given

Lies in a bundle as `c-compare`. Builds benches/c/control.c with nvcc, or with cc and the toolkit's cuda.h, and has one process do a
round of calls from C and one through peermap in turns.

Exit status: 0 each call costs at most 3 % more than from C; 10 one costs more; 15 of one it cannot be said; 12 no GPU; 2 usage;
1 something failed.
TEXT
}

case ${1:-} in
  --help | -h) usage; exit 0 ;;
  -*) usage >&2; exit 2 ;;
esac
[[ $# -le 2 ]] || { usage >&2; exit 2; }

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [[ -x $here/benches/beside_c ]]; then
  beside=("$here/benches/beside_c")
  source=$here/benches/control.c
else
  beside=(cargo bench --quiet --package peermap-benches --bench beside_c --)
  source=$here/../benches/c/control.c
fi

home=${CUDA_HOME:-/usr/local/cuda}
if nvcc=$(command -v nvcc || command -v "$home/bin/nvcc"); then
  "$nvcc" -O2 -shared -Xcompiler -fPIC -o "$work/control.so" "$source" -ldl
elif command -v cc >/dev/null; then
  cc -O2 -shared -fPIC -I"$home/include" -o "$work/control.so" "$source" -ldl
else
  echo "c-compare: there is neither nvcc, in PATH or $home/bin, nor cc" >&2
  exit 1
fi
"${beside[@]}" "$work/control.so" "$@"
