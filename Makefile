PYTHON ?= python3
PYTHON := $(PYTHON)
# Processes that share the tests: a number, or auto for one a core.
JOBS ?= auto
# More arguments for pytest: make test PYTEST_ARGS='-k routing'
PYTEST_ARGS ?=
# Which measurement: a module of bench/.
BENCH ?= intake
# Least coverage, in per cent, of the rooms without I/O; 0 turns it off.
COVERAGE ?= 95

BIN := .venv/bin
PYTHON_TREES := app workers action tests bench

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help setup demo test check fix bench migrate pin setup-dev format lint types imports

help:  ## say what can be made
	@awk 'BEGIN {FS = ":.*## "} /^[a-z-]+:.*## / {printf "make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: .venv/.stamp-run  ## .venv with `kr` in it, pinned dependencies

demo: setup  ## everything embedded, no account, no key; prints one address to open
	@exec $(BIN)/kr demo

test: setup-dev  ## all tests, with real servers; then the coverage of the rooms without I/O
	$(BIN)/pytest -n $(JOBS) --dist loadfile --cov --cov-report= $(PYTEST_ARGS)
	@KR_COVERAGE=$(COVERAGE) .ci/coverage

check: format lint types imports test  ## what CI runs: format, lint, types, import rules, tests

fix: setup-dev  ## format, and mend what the linter can
	$(BIN)/ruff format $(PYTHON_TREES)
	$(BIN)/ruff check --fix $(PYTHON_TREES)

bench: setup  ## how many webhooks a second are taken in, beside others (with npm: Probot)
	@exec $(BIN)/python -m bench.$(BENCH)

migrate: setup  ## bring the database's schema up to date
	@exec $(BIN)/kr migrate

pin:  ## pin the newest versions that pyproject.toml allows (needs uv)
	@.ci/pin

format: setup-dev
	$(BIN)/ruff format --check $(PYTHON_TREES)

lint: setup-dev
	$(BIN)/ruff check $(PYTHON_TREES)
	$(BIN)/hadolint Dockerfile
	$(BIN)/shellcheck .ci/install .ci/pin .ci/coverage .ci/run
	$(BIN)/zizmor --offline --pedantic --quiet .github action
	$(BIN)/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.github-actions action/action.yml

types: setup-dev
	$(BIN)/mypy
	$(BIN)/mypy -p bench

imports: setup-dev
	$(BIN)/lint-imports

setup-dev: .venv/.stamp-dev

.venv/.stamp-venv:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "Python 3.11 or newer is needed; $(PYTHON) is $$($(PYTHON) --version 2>&1)." \
			"Name another one: make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; exit 1; }
	@$(PYTHON) -m venv .venv || { \
		echo "$(PYTHON) cannot make virtual environments; on Debian: apt-get install python3-venv" >&2; \
		exit 1; }
	@touch $@

.venv/.stamp-run: .venv/.stamp-venv .ci/install .ci/requirements.txt pyproject.toml
	@echo "Installing pinned dependencies into .venv"
	@.ci/install .venv .ci/requirements.txt
	@touch $@

.venv/.stamp-dev: .venv/.stamp-run .ci/requirements-dev.txt
	@echo "Installing what checks and tests need into .venv"
	@.ci/install .venv .ci/requirements-dev.txt
	@touch $@
