# What there is to do here, one line each. `just` alone lists it.

_default:
    @just --list --unsorted

# Every test that needs no GPU.
test *ARGS:
    cargo test --workspace {{ ARGS }} && cargo test --manifest-path examples/allocator/Cargo.toml

# Formatting, lints and documentation, as CI wants them.
lint:
    cargo fmt --all --check && cargo clippy --workspace --all-targets -- -D warnings && RUSTDOCFLAGS=-Dwarnings cargo doc --workspace --no-deps

# Which lines of driver, model, sim, ipc, scenario and trace the tests reach: `just coverage --html FOLDER` shows them.
coverage *ARGS:
    scripts/coverage.sh {{ ARGS }}

# Measures this host into a folder, compares with the baseline, makes a page: `just bench --runs 5 results`.
bench *ARGS:
    scripts/bench.sh {{ ARGS }}

# The criterion benchmarks, or those that are named: `just criterion --bench barrier`.
criterion *ARGS:
    cargo bench --package peermap-benches {{ ARGS }}

# What the documentation claims about speed, measured and judged.
claims:
    cargo bench --package peermap-benches --bench claims

# The committed PTX of kernels and fixtures from the CUDA sources; `just kernels --check` compares.
kernels *ARGS:
    kernels/build.sh {{ ARGS }} && fixtures/ptx/build.sh {{ ARGS }}

# A folder with everything that a GPU host needs, where neither Rust nor a network has to be: dist/peermap-bundle.
bundle *ARGS:
    scripts/bundle.sh {{ ARGS }}

# Random driver calls on this host's driver and on the simulator, with what differs shrunk: `just differential --seed 1 --traces 100`.
differential *ARGS:
    cargo run --release --quiet --package peermap-cli -- differential {{ ARGS }}
