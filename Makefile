# passhat: two commands matter, `make demo` and `make test`. Both set everything up in .venv first.

VENV := .venv
BIN := $(VENV)/bin
SETUP := $(VENV)/.set-up
DEV := $(VENV)/.set-up-dev
ARGS ?=
# A file of tests stays in one process: its store is open in that process only.
SIDE_BY_SIDE ?= -n auto --maxprocesses 4 --dist loadfile
# Tests hold a real server, real exporters and chDB: the Python that set-up chose must be one that runs them.
PYTHON ?= $(shell for p in python3.13 python3.12 python3.11 python3 python python3.14; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 && { command -v $$p; break; }; done)

.PHONY: help demo serve test lint format bench examples clean
.DELETE_ON_ERROR:

help: ## what can be made
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 16

demo: $(SETUP) ## set up, then show the whole way on the lesson's and the lab's runs
	$(BIN)/passhat demo $(ARGS)

serve: $(SETUP) ## set up, then receive, grade and show (ARGS="--config passhat.yaml")
	$(BIN)/passhat serve $(ARGS)

test: lint ## set up, then lint and all tests (ARGS="-k name" narrows the tests)
	$(BIN)/python -m pytest $(SIDE_BY_SIDE) $(ARGS)

lint: $(DEV) ## ruff and mypy
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(DEV) ## let ruff format and fix
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(SETUP) ## measure: ingest against its floor, normalising, grading, verdicts, reliability (ARGS go to ingest)
	$(BIN)/python -m bench.ingest $(ARGS)
	$(BIN)/python -m bench.normalise
	$(BIN)/python -m bench.grade
	$(BIN)/python -m bench.verdicts
	$(BIN)/python -m bench.reliability

examples: $(DEV) ## run examples/ with their own packages against a stub of a model
	PASSHAT_EXAMPLES=1 $(BIN)/python -m pytest tests/examples $(ARGS)

clean: ## remove .venv and caches, never data
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis build dist

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "passhat needs Python 3.11 or newer, and none was found: install one, or say make PYTHON=/path/to/python3" >&2; exit 1; }
	@echo "setting up $(VENV) with $(PYTHON)" >&2
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); echo "$(PYTHON) cannot make a virtual environment (on Debian: apt install python3-venv)" >&2; exit 1; }

$(SETUP): pyproject.toml constraints.txt | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e .
	@touch $@

$(DEV): pyproject.toml constraints.txt | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $(SETUP) $@
