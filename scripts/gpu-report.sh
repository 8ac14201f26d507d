#!/usr/bin/env bash
# Runs the scenarios on the GPUs of this host, from a bundle, and keeps table and JSON of each.
set -euo pipefail

usage() {
  cat <<'TEXT'
usage: gpu-report.sh OUT    run every scenario but fabric and multicast, into the folder OUT: memmap-ipc with 1, 2 and 8
                            processes per device, 4 MiB and 1 GiB each, every buffer verified by every worker; simple-ipc
                            and pool-ipc with 1 and 2; the others once for each of their kinds

Lies in a bundle as `report`. Table and JSON are of two runs in a row. Exit status: 0 if every run succeeded.
TEXT
}

[[ $# -eq 1 && $1 != -* ]] || { usage >&2; exit 2; }
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
out=$1
mkdir -p "$out"

# keep NAME ARGUMENT…: a run, kept as NAME.json and NAME.txt.
keep() {
  local name=$out/$1
  shift
  "$here/bin/peermap" run "$@" --backend cuda --json >"$name.json"
  "$here/bin/peermap" run "$@" --backend cuda >"$name.txt"
}

for processes in 1 2 8; do
  for size in 4MiB 1GiB; do
    keep "memmap-ipc-$processes-per-device-$size" \
      memmap-ipc --processes-per-device "$processes" --size "$size" --verify all --measure
  done
done
for processes in 1 2; do
  for scenario in simple-ipc pool-ipc; do
    keep "$scenario-$processes-per-device" "$scenario" --processes-per-device "$processes" --measure
  done
done
for scenario in access alias compressible grow host-numa; do
  keep "$scenario" "$scenario"
done
keep grow-kv-cache grow --kv-cache
for balance in even by-device dynamic; do
  keep "stripe-$balance" stripe --balance "$balance"
done
