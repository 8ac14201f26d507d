#!/usr/bin/env bash
# Runs the main job on the GPUs of this host, from a bundle, and keeps table and JSON of each run.
set -euo pipefail

usage() {
  cat <<'TEXT'
usage: gpu-report.sh OUT    run memmap-ipc with 1, 2 and 8 processes per device, 4 MiB and 1 GiB each, into the folder OUT

Lies in a bundle as `report`. Exit status: 0 if every run succeeded.
TEXT
}

[[ $# -eq 1 && $1 != -* ]] || { usage >&2; exit 2; }
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
mkdir -p "$1"
for processes in 1 2 8; do
  for size in 4MiB 1GiB; do
    name="$1/memmap-ipc-$processes-per-device-$size"
    arguments=(run memmap-ipc --backend cuda --processes-per-device "$processes" --size "$size" --measure)
    "$here/bin/peermap" "${arguments[@]}" --json >"$name.json"
    "$here/bin/peermap" "${arguments[@]}" >"$name.txt"
  done
done
