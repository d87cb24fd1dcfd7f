# Thin: what each target does is in scripts/ and Cargo.toml.

.PHONY: all test lint bench-generator clean

# bin/websocket-bench, and the orchestrator behind ./shootout
all:
	@./shootout --version

# every test of the tools; installs what they need, prints how many passed
test:
	@scripts/test

lint:
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked -- --deny warnings

# CPU per verified delivery and echo beside bare C loops; needs two cores and a few minutes
bench-generator:
	cargo bench --locked --quiet -p websocket-bench --bench generator

clean:
	cargo clean
	rm -rf bin
