# Turnkeeper. `make` alone lists what there is.
PYTHON ?= python3
BIN := .venv/bin
PYTEST := $(BIN)/python -m pytest
QUICK := -m "not go_tools and not slow"
BUF := ../$(BIN)/buf
OTELCOL := .tools/bin/otelcol-tk
GRPCURL := .tools/bin/grpcurl
GO_BUILD = CGO_ENABLED=0 GOFLAGS="-buildvcs=false -modcacherw" go build -trimpath -ldflags='-s -w' -o ../../$@
INSTALLED := .venv/.installed

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help install run test test-collector test-differential judge check lint types imports contract rules proto proto-check proto-baseline \
	bench tools fmt clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

install: $(INSTALLED) ## Make .venv with the daemon, the Python client and the tools; PYTHON chooses the interpreter

run: install ## Start the daemon, watch the demo, go on serving until Ctrl-C; ARGS="--listen 127.0.0.1:7400" adds flags
	@exec $(BIN)/turnkeeper serve --demo $(ARGS)

# What runs in one process is shared among cores; what starts processes and kills them has the machine for itself.
test: install ## Run the tests, without those marked go_tools or slow
	@$(PYTEST) $(QUICK) -n auto --maxprocesses 4 --dist loadfile --ignore tests/integration --ignore tests/faults || failed=1; \
	$(PYTEST) $(QUICK) tests/integration tests/faults || failed=1; \
	exit $${failed:-0}

test-collector: install tools ## Run the tests against a real Collector
	$(PYTEST) -m go_tools

check: lint types imports contract proto-check rules ## Everything that can be said without running the product

lint: install ## Style and format
	$(BIN)/ruff check
	$(BIN)/ruff format --check --quiet

types: install ## Types, strictly
	$(BIN)/mypy

imports: install ## Who may import whom
	$(BIN)/lint-imports --no-logo

contract: install ## The contract: style, and nothing broken since it was released
	cd protos && $(BUF) lint
	cd protos && $(BUF) breaking --path turnkeeper/v1 --against baseline.binpb

rules: install ## The rules of the house
	$(PYTEST) -q tests/repo

proto: install ## Write the Python messages from protos/
	$(BIN)/python tools/proto.py
	$(BIN)/python clients/python/generate_words.py

proto-check: install ## Say which generated messages differ from protos/
	$(BIN)/python tools/proto.py --check

proto-baseline: contract ## At a release: what the contract has now may not be broken any more
	cd protos && $(BUF) build --path turnkeeper/v1 -o baseline.binpb

bench: install ## Measure what a decision costs; figures go to build/bench.jsonl
	$(BIN)/python tests/bench/bench.py

judge: install ## Measure the detectors on recorded runs; RUNS names the file, or TURNKEEPER_TRAJECTORIES does
	$(BIN)/python tests/judge/run.py $(RUNS)

test-differential: install ## Measure the vendors' SDKs again, and compare with what is written down (needs pip, node, mvn)
	$(BIN)/python tests/differential/measure.py --check

tools: $(OTELCOL) $(GRPCURL) ## Build the Go programs of the tests into .tools/bin

fmt: install ## Format, and fix what can be fixed
	$(BIN)/ruff check --fix --quiet || true
	$(BIN)/ruff format

clean: ## Remove everything that was built here, .venv and .tools too
	rm -rf .venv .tools build dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
	find daemon clients tests tools -name __pycache__ -prune -exec rm -rf {} +

$(INSTALLED): pyproject.toml constraints.txt clients/python/pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
		echo "Python 3.11 or newer is needed; $(PYTHON) is $$($(PYTHON) --version 2>&1). Try: make install PYTHON=python3.12" >&2; exit 1; }
	@$(PYTHON) -m venv .venv || { echo "$(PYTHON) has no venv module; Debian has it in python3-venv" >&2; exit 1; }
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade --constraint constraints.txt pip
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --build-constraint constraints.txt \
		--editable clients/python --editable . --group dev
	@touch $@

$(OTELCOL): $(wildcard tools/otelcol/*.go tools/otelcol/go.*)
	@command -v go >/dev/null || { echo "go is not installed: it is needed to build $@" >&2; exit 1; }
	@mkdir -p $(@D)
	cd tools/otelcol && $(GO_BUILD) -mod=mod .
	@touch $@

$(GRPCURL): $(wildcard tools/grpcurl/go.*)
	@command -v go >/dev/null || { echo "go is not installed: it is needed to build $@" >&2; exit 1; }
	@mkdir -p $(@D)
	cd tools/grpcurl && $(GO_BUILD) github.com/fullstorydev/grpcurl/cmd/grpcurl
	@touch $@
