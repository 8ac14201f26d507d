#!/usr/bin/env bash
# Builds the committed .ptx files from the .cu files beside this script. README.md says how the numbers were chosen.
set -euo pipefail

usage() {
  cat <<'TEXT'
usage: build.sh                          build every .cu here into the .ptx beside it
       build.sh --check                  build into a temporary folder and compare with the committed files
       build.sh --variant OUT [-DX=Y]…   build memmap_ipc.cu with other settings into the file OUT

Needs a C++ compiler, and either nvcc 13.0.88 on PATH or python3 with pip, which then installs the pinned compiler
under target/nvcc. Exit status: 0 done, 1 a check failed, 2 usage.
TEXT
}

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/compiler.sh"

# settings NAME: what a source is built for.
#   architecture  the lowest target that this compiler generates such code for
#   isa, target   the lowest that the instructions need: what goes into the header
#   *_below       the step below each, which must not assemble
#   devices       what the result must assemble for: the oldest and the newest that this assembler knows, and one between
settings() {
  case $1 in
    memmap_ipc | stripe)
      architecture=compute_75 isa=4.0 isa_below=3.1 target=sm_32 target_below=sm_30
      devices=(sm_75 sm_90 sm_121)
      ;;
    alias)
      architecture=compute_75 isa=7.5 isa_below=7.4 target=sm_70 target_below=sm_62
      devices=(sm_75 sm_90 sm_121)
      ;;
    multicast)
      architecture=compute_90 isa=8.1 isa_below=8.0 target=sm_90 target_below=sm_89
      devices=(sm_90 sm_100 sm_121)
      ;;
    *) fail "$1.cu has no settings: see build.sh" ;;
  esac
}

fail() {
  echo "build.sh: $*" >&2
  exit 1
}

# header ISA TARGET < PTX: puts the two numbers into the header, and our comment in place of the compiler's.
header() {
  sed -e '1,/^\.version/{/^\/\//d;/^$/d}' -e "s/^\.version .*/.version $1/" -e "s/^\.target .*/.target $2/" |
    sed -e "1i // Built from $name.cu by build.sh with nvcc ${compiler#V}. Do not edit." -e '1i\\'
}

# assembles FILE DEVICE [LOG]: whether ptxas takes the file.
assembles() {
  "$bin/ptxas" --gpu-name "$2" --output-file /dev/null "$1" 2>"${3:-/dev/null}"
}

# build SOURCE OUT [OPTION]…
build() {
  local source=$1 out=$2 device
  shift 2
  name=$(basename "$source" .cu)
  settings "$name"
  "$bin/nvcc" -ptx -arch="$architecture" "$@" --output-file "$work/raw.ptx" "$source"
  header "$isa" "$target" <"$work/raw.ptx" >"$work/built.ptx"
  for device in "${devices[@]}"; do
    assembles "$work/built.ptx" "$device" "$work/log" || fail "$name does not assemble for $device: $(cat "$work/log")"
  done
  cp "$work/built.ptx" "$out"
}

# lowest FILE: fails if a lower number in the header would do as well.
lowest() {
  header "$isa_below" "$target" <"$work/raw.ptx" >"$work/lower.ptx"
  ! assembles "$work/lower.ptx" "${devices[0]}" || fail "$1 assembles as .version $isa_below too: lower it in build.sh"
  header "$isa" "$target_below" <"$work/raw.ptx" >"$work/lower.ptx"
  ! assembles "$work/lower.ptx" "${devices[0]}" || fail "$1 assembles as .target $target_below too: lower it in build.sh"
}

build_all() {
  local source out
  for source in "$here"/*.cu; do
    out=$1/$(basename "$source" .cu).ptx
    build "$source" "$out"
    lowest "$(basename "$out")"
  done
}

check() {
  local source committed
  mkdir "$work/new"
  build_all "$work/new"
  for source in "$here"/*.cu; do
    committed=$(basename "$source" .cu).ptx
    diff -u "$here/$committed" "$work/new/$committed" >&2 || fail "$committed is not what its source gives: run build.sh"
  done
}

case ${1:-} in
  "" | --check) [[ $# -le 1 ]] || { usage >&2; exit 2; } ;;
  --variant) [[ $# -ge 2 ]] || { usage >&2; exit 2; } ;;
  --help) usage; exit 0 ;;
  *) usage >&2; exit 2 ;;
esac

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bin=$(compiler_folder)
case ${1:-} in
  "") build_all "$here" ;;
  --check) check ;;
  --variant) build "$here/memmap_ipc.cu" "$2" "${@:3}" ;;
esac
