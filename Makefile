# Everything a fresh machine needs is made here: `make demo` and `make test` start from nothing but Python 3.11+.
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
# Set in many containers. Without bytecode, each of the hundreds of processes that tests start compiles Wayhound anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo teach-demo docs test test-lowest test-newest test-repeat lint types layers pytest bench mutants fuzz kills soak lock install clean \
	browser postgres help
.DEFAULT_GOAL := help

help:
	@echo "make demo    install; teach, learn, forage, read, order and serve the sample web (no internet)"
	@echo "make teach-demo   teach the sample sites yourself, in a browser; without a display, in a page"
	@echo "make test    install what tests need; ruff, mypy, import-linter, pytest"
	@echo "make test-lowest, make test-newest   the same with the lowest and the newest versions of all libraries"
	@echo "make test-repeat COUNT=20   all tests so often, beside busy processes; goes on where it was interrupted"
	@echo "make mutants, make fuzz, make kills, make soak   attack it: minutes to an hour each"
	@echo "make lock    pin the newest versions, with hashes, for demo and test"
	@echo "make bench   run the benchmarks (WAYHOUND_DATA=folder for those on real data)"

# What requirements/ pins is installed with its hashes checked. Where that is not possible, such as on a platform without
# wheels or a compiler, or for a Python that the lock does not know, pip chooses, and says so.
define install
	@echo "Setting up $(VENV); the first time this takes a few minutes."
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --require-hashes --requirement requirements/$(1).txt \
		&& $(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable . \
		|| { echo "The pinned versions cannot be installed here; installing the newest ones instead."; \
			$(BIN)/python -m pip install --quiet --editable ".[$(1)]"; }
endef

$(VENV)/.installed: pyproject.toml requirements/all.txt
	$(call install,all)
	@touch $@

$(VENV)/.test-installed: pyproject.toml requirements/test.txt
	$(call install,test)
	@touch $@ $(VENV)/.installed

install: $(VENV)/.installed

demo: $(VENV)/.installed browser
	@$(BIN)/wayhound demo

teach-demo: $(VENV)/.installed browser
	@$(BIN)/wayhound demo --by-hand

test: $(VENV)/.test-installed browser postgres lint types layers pytest

lint: $(VENV)/.test-installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.test-installed
	$(BIN)/mypy

layers: $(VENV)/.test-installed
	$(BIN)/lint-imports

pytest: $(VENV)/.test-installed
	$(BIN)/python -m pytest -n 3

browser:
	@scripts/install-chromium

postgres:
	@scripts/install-postgres

docs: mkdocs.yml
	@test -x $(VENV)-docs/bin/mkdocs || { $(PYTHON) -m venv $(VENV)-docs && $(VENV)-docs/bin/pip install --quiet "mkdocs-material>=9.5"; }
	$(VENV)-docs/bin/mkdocs build --strict

# Other versions of the libraries, each in an environment of its own.
test-lowest: browser
	@test -x .venv-lowest/bin/python || $(PYTHON) -m venv .venv-lowest
	@scripts/lowest > .venv-lowest/lowest.txt
	@.venv-lowest/bin/python -m pip install --quiet --constraint .venv-lowest/lowest.txt --editable ".[test]"
	.venv-lowest/bin/python -m pytest -n 3

test-newest: browser
	@test -x .venv-newest/bin/python || $(PYTHON) -m venv .venv-newest
	@.venv-newest/bin/python -m pip install --quiet --upgrade --upgrade-strategy eager --editable ".[test]"
	.venv-newest/bin/python -m pytest -n 3

COUNT ?= 20
test-repeat: $(VENV)/.test-installed browser postgres
	$(BIN)/python -m bench.repeat_tests --count $(COUNT) --resume .test-repeat.jsonl

lock: $(VENV)/.test-installed
	$(BIN)/python scripts/lock

mutants: $(VENV)/.test-installed
	$(BIN)/python -m bench.mutants

fuzz: $(VENV)/.test-installed
	$(BIN)/python -m bench.fuzz --corpus .fuzz

kills: $(VENV)/.test-installed
	$(BIN)/python -m bench.kills

soak: $(VENV)/.test-installed
	$(BIN)/python -m bench.soak

bench: $(VENV)/.test-installed
	$(BIN)/python -m bench

clean:
	rm -rf $(VENV) $(VENV)-docs site .venv-lowest .venv-newest .fuzz .test-repeat.jsonl build dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
