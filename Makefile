# Thin: what each target does is in scripts/ and Cargo.toml.

.PHONY: all check test test-long test-kubernetes test-killed static dist test-dist lint mutants loom fuzz miri bench-generator cross-check clean

# bin/websocket-bench, and the orchestrator behind ./shootout
all:
	@./shootout --version

# format, clippy and the unit tests, in a minute when they are built: for the work at hand
check:
	@scripts/check

# the tests of the tools; installs what they need, prints how many passed
test:
	@scripts/test

# the same, with what `make test` leaves out because it proves little more and takes long: each faulty
# peer with both backends, each lying server against the large checks too, whether the generated code
# of crates/remote is what its generator writes, every variant of every server, and the whole certificate
# of the generator, of which `.ci/run` has the short form
test-long:
	cargo run --locked --quiet --target-dir target/generate \
	  --manifest-path crates/remote/proto/generate/Cargo.toml -- --check
	@TESTS=long scripts/test
	./shootout setup --yes
	./shootout verify --check-table --jobs 3
	bin/websocket-bench selftest

# websocket-bench as a static program: target/static/websocket-bench
static:
	@scripts/static

# what is handed out, in dist/: an archive, a wheel for PyPI, a package for npm, checksums
dist:
	@scripts/dist

# uses each of them. PODMAN_ARGS are further arguments of `podman run`. Not a part of `make test`
test-dist: all
	@scripts/test-dist

# deploy/kubernetes and servers/*/kubernetes on the cluster of KUBECONFIG with the image IMAGE, and
# deploy/compose.yaml; the head of the script has what else it takes. Not a part of `make test`
test-kubernetes:
	@scripts/test-kubernetes

# kills runs of several nodes over a network at random moments and looks for what they leave behind;
# some minutes. ARGS names a server and a variant; ARGS=--help tells more
test-killed: all
	@scripts/killed-anywhere $(ARGS)

lint:
	cargo fmt --all --check
	scripts/timed-tests
	cargo clippy --workspace --all-targets --locked -- --deny warnings

# changes what decides a figure, one expression at a time, and names each change that no unit test
# notices and mutants.toml does not explain. About 40 minutes; ARGS=--help lists the choices
mutants:
	@scripts/mutants $(ARGS)

# the ledger that worker threads share, under every order of their steps
loom:
	RUSTFLAGS='--cfg loom' cargo test --locked --target-dir target/loom -p ws-load --lib models

# every target of fuzz/ for SECONDS each; the names of some in ARGS run these alone
SECONDS = 60
fuzz:
	@scripts/fuzz --seconds $(SECONDS) $(ARGS)

# in an interpreter that finds undefined behaviour: the wire codec, the records, and what is pure of
# the engine (schedules, arrivals, messages, the parts of dialects, the ledger on one thread). Miri
# has no sockets, epoll, io_uring or getrlimit, and takes minutes for each histogram, schema and whole
# dialect: their tests are left out. Needs a nightly toolchain with the components miri and rust-src;
# property tests take few cases
MIRI = MIRIFLAGS=-Zmiri-disable-isolation PROPTEST_CASES=$(1) \
  cargo +nightly miri test --locked --target-dir target/miri
miri:
	$(call MIRI,4) -p ws-proto --lib --tests
	$(call MIRI,2) -p plan -p record --lib -- --skip latency::
	$(call MIRI,2) -p ws-load --lib -- plan:: figures:: message:: dialect:: verify::ledger \
	  --skip cluster:: --skip io:: --skip dialect::tests --skip figures::series \
	  --skip plan::bounds

# CPU per verified delivery and echo beside bare C loops and peers, and per echo as more are in
# flight; memory per idle connection; by flags and from a plan file; compressed messages beside the
# library's own inflating; clients that come back beside clients that are opened; a data file of a
# million rows; needs two cores and a few minutes
bench-generator:
	cargo bench --locked --quiet -p websocket-bench --bench generator --bench memory --bench window \
	  --bench plan_file --bench data_file --bench dialects --bench rooms --bench deflate --bench reconnect
	cargo bench --locked --quiet -p websocket-bench --bench peers

# websocket-bench and cpp-bench against the same server, in turn: do they measure the same? Against
# a real server beside the null one: make cross-check SERVER='bin/... --port {port}'; further
# arguments of the comparison in ARGS (ARGS=--help lists them)
cross-check: all
	@$(MAKE) --silent --no-print-directory -C cross-check
	@cargo bench --locked --quiet -p shootout --bench cross_check -- \
	  $(if $(SERVER),--server '$(SERVER)') $(ARGS)

clean:
	$(MAKE) -C cross-check clean
	cargo clean
	rm -rf bin
