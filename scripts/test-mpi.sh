#!/usr/bin/env bash
# Builds the command with its feature mpi, and runs its workers as ranks of the real mpirun.
set -euo pipefail

usage() {
  cat <<'TEXT'
usage: test-mpi.sh    lint, test and run peermap with the feature mpi

Without Open MPI and libclang it installs Debian's, where it may. Exit status: 0 if all is right, 77 if there is no MPI and none can be
had, else that of what failed.
TEXT
}

[[ $# -eq 0 ]] || { usage >&2; exit 2; }
cd "$(dirname "${BASH_SOURCE[0]}")/.."

is_there() { command -v mpirun >/dev/null && command -v mpicc >/dev/null && ldconfig -p | grep -q libclang; }

if ! is_there && command -v apt-get >/dev/null; then
  root=()
  [[ $(id -u) -eq 0 ]] || root=(sudo --non-interactive)
  packages=(openmpi-bin libopenmpi-dev libclang-dev)
  { "${root[@]}" apt-get update -qq && "${root[@]}" apt-get install -y -qq --no-install-recommends "${packages[@]}"; } >&2 || true
fi
is_there || exit 77

cargo clippy --package peermap-cli --features mpi --all-targets --locked -- -D warnings
cargo test --package peermap-cli --features mpi --locked ranks::
cargo test --package peermap-cli --features mpi --locked --test command -- mpi::

# As in the README. Here there may be fewer cores than ranks, and the user may be root.
cargo build --package peermap-cli --features mpi --locked
as_here=()
[[ $(id -u) -ne 0 ]] || as_here=(--allow-run-as-root)
mpirun "${as_here[@]}" --oversubscribe -n 4 "${CARGO_TARGET_DIR:-target}/debug/peermap" run fabric --transport mpi --profile islands
