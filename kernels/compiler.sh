# The one compiler that builds committed PTX, for the scripts that read this file.

# Another compiler emits other text, so only this one will do.
compiler=V13.0.88
requirements=$(dirname "${BASH_SOURCE[0]}")/requirements.txt
tools=$(dirname "${BASH_SOURCE[0]}")/../target/nvcc

# Prints the folder that holds nvcc and ptxas, and installs them first if they are not there.
compiler_folder() {
  if command -v nvcc >/dev/null && nvcc --version | grep -q "$compiler"; then
    dirname "$(readlink -f "$(command -v nvcc)")"
    return
  fi
  local bin=$tools/nvidia/cu13/bin
  # The mark is written last, so that an interrupted installation is started again.
  if ! cmp -s "$requirements" "$tools/installed"; then
    rm -rf "$tools"
    mkdir -p "$tools"
    python3 -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes --target "$tools" \
      --requirement "$requirements" >&2
    chmod +x "$bin"/* "$tools"/nvidia/cu13/nvvm/bin/*
    cp "$requirements" "$tools/installed"
  fi
  echo "$bin"
}
