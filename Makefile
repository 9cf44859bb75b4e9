# The front door: every chore is one target, and each does its own set-up.
#
# Needs git, make and Python >= 3.11 with venv; uses uv when it is there. The environment lives in
# $(VENV) and is brought up to date whenever pyproject.toml is newer than its stamp.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

VENV ?= .venv
UV := $(shell command -v uv 2>/dev/null)
PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11; do \
	"$$p" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo "$$p" && break; done)
ARGS ?=
DIR ?=
REPOSITORY ?=

BIN := $(VENV)/bin
START := $(shell date +%s)
elapsed = @echo "make $@: $$(( $$(date +%s) - $(START) )) s"

ifdef UV
create_venv = uv venv --quiet $(if $(PYTHON),--python $(PYTHON),--python 3.11) --allow-existing $(VENV)
install = VIRTUAL_ENV=$(abspath $(VENV)) uv pip install --quiet --editable
wheel = uv build --quiet --wheel --out-dir dist build/package
else
create_venv = $(PYTHON) -m venv $(VENV)
install = $(BIN)/python -m pip install --quiet --disable-pip-version-check --editable
wheel = $(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir dist build/package
endif

.PHONY: help demo test test-2042 lint docs site dist bench torture

help: ## list the targets
	@echo "usage: make TARGET [VAR=value]"
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  %-9s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(VENV)/.installed-demo ## load real flight data and tell the whole story (DIR=where to keep the database)
	@$(BIN)/pykudu-sql demo $(DIR)
	$(elapsed)

test: lint ## lint, then run the tests (ARGS="tests/storage -k key" to choose)
	@$(BIN)/python -m pytest --numprocesses auto $(ARGS)
	$(elapsed)

test-2042: $(VENV)/.installed-dev ## the tests with the clock in 2042 (ARGS as for test)
	@$(BIN)/python -m pytest --numprocesses auto --clock 2042-06-01 $(ARGS)
	$(elapsed)

lint: $(VENV)/.installed-dev ## ruff, mypy --strict, import contracts
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-cache

docs: $(VENV)/.installed-dev ## write docs/settings.md and the outputs in the pages anew
	@$(BIN)/python -m tests.sql_reference
	@$(BIN)/python -m tests.guide_pages
	@$(BIN)/python -m tests.settings_page
	@$(BIN)/python -m tests.python_api_page
	@$(BIN)/python -m tests.statements_page
	$(elapsed)
	@$(BIN)/python -m pykudu_sql man > docs/pykudu-sql.1

site: $(VENV)/.installed-docs ## the documentation as a site in build/site; a broken link fails
	@$(BIN)/zensical build --clean --strict
	@echo "open build/site/index.html; for search: python3 -m http.server --directory build/site"
	$(elapsed)

dist: $(BIN)/python ## a wheel in dist/ (REPOSITORY=https://.. is what README's links lead to)
	@test -n "$(REPOSITORY)" || { echo "make dist REPOSITORY=https://host/owner/name" >&2; exit 1; }
	@rm -rf build/package
	@$(BIN)/python -m tests.package_index "$(REPOSITORY)" build/package
	@$(wheel)
	$(elapsed)

bench: $(VENV)/.installed-dev ## our engine and its peers side by side (ARGS="--only q1,q6 --scale 0.1")
	@mkdir -p build
	@$(BIN)/python -m benchmarks --json build/bench.json $(ARGS)
	$(elapsed)

torture: $(VENV)/.installed-dev ## every disk fault, power loss, flipped bit and hostile file, a soak (ARGS="--self-test")
	@$(BIN)/python -m tests.torture $(ARGS)
	$(elapsed)

$(BIN)/python:
	@$(if $(UV)$(PYTHON),,echo "Python 3.11 or newer is needed (or uv); set PYTHON=/path/to/python" >&2; exit 1)
	@$(create_venv)

$(VENV)/.installed-%: pyproject.toml | $(BIN)/python
	@echo "installing pykudu-sql[$*] into $(VENV)"
	@$(install) '.[$*]'
	@touch $@
