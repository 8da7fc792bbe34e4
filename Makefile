# Everything a fresh machine needs is made here: `make demo` and `make test` start from nothing but Python 3.11+.
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin

.PHONY: demo teach-demo docs test lint types layers pytest bench install clean browser help
.DEFAULT_GOAL := help

help:
	@echo "make demo    install; teach, learn, forage, read, order and serve the sample web (no internet)"
	@echo "make teach-demo   teach the sample sites yourself, in a browser; without a display, in a page"
	@echo "make test    install what tests need; ruff, mypy, import-linter, pytest"
	@echo "make bench   run the benchmarks (WAYHOUND_DATA=folder for those on real data)"

$(VENV)/.installed: pyproject.toml
	@echo "Setting up $(VENV); the first time this takes a few minutes."
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --upgrade pip
	@$(BIN)/python -m pip install --quiet --editable ".[all]"
	@touch $@

$(VENV)/.test-installed: pyproject.toml
	@echo "Setting up $(VENV); the first time this takes a few minutes."
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --upgrade pip
	@$(BIN)/python -m pip install --quiet --editable ".[test]"
	@touch $@ $(VENV)/.installed

install: $(VENV)/.installed

demo: $(VENV)/.installed browser
	@$(BIN)/wayhound demo

teach-demo: $(VENV)/.installed browser
	@$(BIN)/wayhound demo --by-hand

test: $(VENV)/.test-installed browser lint types layers pytest

lint: $(VENV)/.test-installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.test-installed
	$(BIN)/mypy

layers: $(VENV)/.test-installed
	$(BIN)/lint-imports

pytest: $(VENV)/.test-installed
	$(BIN)/python -m pytest -n 2

browser:
	@scripts/install-chromium

docs: mkdocs.yml
	@test -x $(VENV)-docs/bin/mkdocs || { $(PYTHON) -m venv $(VENV)-docs && $(VENV)-docs/bin/pip install --quiet "mkdocs-material>=9.5"; }
	$(VENV)-docs/bin/mkdocs build --strict

bench: $(VENV)/.test-installed
	$(BIN)/python -m bench

clean:
	rm -rf $(VENV) $(VENV)-docs site build dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
