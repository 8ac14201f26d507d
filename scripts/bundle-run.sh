#!/usr/bin/env bash
# Runs what is in this bundle. It needs nothing but the bundle and the host's own driver.
set -euo pipefail

usage() {
  cat <<'TEXT'
usage: run COMMAND [ARGUMENT]…

  probe              what this host and its GPUs can do        (peermap probe)
  memmap-ipc         the scenario of that name                 (peermap run memmap-ipc)
  hardware-tests     the driver against the recorded answers; arguments as for a Rust test
  golden [OPTION]…   kernels with known results, launched on a GPU or in the simulator and compared
  claims             what the documentation claims about the host side, measured and judged
  agreement          whether criterion and the bandwidth suite measure the same, judged on a GPU
  bench [OPTION]…    what sharing costs on this host           (peermap bench)
  bench NAME         one criterion benchmark: barrier, transport or device; its files go to PEERMAP_BENCH_HOME (./peermap-bench)
  check              whether every file of the bundle is as it was packed
  differential       random calls, driver against simulator    (peermap differential)
  …                  anything else goes to bin/peermap as it is: run, replay, --help

Exit status: that of what was run; 2 for wrong usage.
TEXT
}

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

check() {
  [[ $(sha256sum "$here/MANIFEST" | cut -d ' ' -f 1) == "$(cat "$here/BUNDLE.sha256")" ]] ||
    { echo "run: MANIFEST is not the one that was packed" >&2; exit 1; }
  (cd "$here" && grep -v '^#' MANIFEST | sha256sum --check --quiet -)
  sed -n 's/^# //p' "$here/MANIFEST"
}

[[ $# -ge 1 ]] || { usage >&2; exit 2; }
command=$1
shift
case $command in
  -h | --help | help) usage ;;
  check) check ;;
  hardware-tests) exec "$here/tests/hardware" "$@" ;;
  golden) exec "$here/golden" "$@" ;;
  claims | agreement) exec "$here/benches/$command" --bench "$@" ;;
  bench)
    case ${1:-} in
      barrier | transport | device)
        name=$1
        shift
        CRITERION_HOME=${PEERMAP_BENCH_HOME:-$PWD/peermap-bench} exec "$here/benches/$name" --bench "$@"
        ;;
      *) exec "$here/bin/peermap" bench "$@" ;;
    esac
    ;;
  memmap-ipc) exec "$here/bin/peermap" run "$command" "$@" ;;
  *) exec "$here/bin/peermap" "$command" "$@" ;;
esac
