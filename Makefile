# Everything is made inside this checkout (.venv, .cache) but the models: those go to the user's model cache.
#
#   make demo    one turn end to end on the default model      make setup   what both need
#   make test    every check that CI runs                      make clean   back to a fresh clone
#   make nightly many simulated households (RUNS, FIRST)
#   make fuzz    malformed input to everything that listens (RUNS, SEED)
#   make wyoming voice with programs of other people that need older packages
#   make deb     a Debian package for this machine's kind of processor, in dist/

PYTHON ?= python3
BIN := .venv/bin
WHEELS := .cache/wheels
INSTALLED := .venv/.installed
PROOF := .venv/.proof

export PIP_CACHE_DIR := $(CURDIR)/.cache/pip
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export RUFF_CACHE_DIR := $(CURDIR)/.cache/ruff
export MYPY_CACHE_DIR := $(CURDIR)/.cache/mypy
export PYTHONUNBUFFERED := 1

.PHONY: setup deb demo fuzz nightly wyoming test test-lowest clean check-python llama

setup: $(INSTALLED)
	@echo "== model tiny"
	@$(BIN)/muleteer model pull tiny

demo: setup
	@echo "== model standard"
	@$(BIN)/muleteer model pull standard
	@echo "== demo"
	@$(BIN)/muleteer demo

test: setup $(PROOF)
	@echo "== model standard"
	@$(BIN)/muleteer model pull standard
	@echo "== the recogniser's model"
	@$(BIN)/muleteer voice pull base
	@echo "== format: ruff format --check"
	@$(BIN)/ruff format --check .
	@echo "== lint: ruff check"
	@$(BIN)/ruff check .
	@echo "== types: mypy --strict"
	@$(BIN)/mypy
	@echo "== tests: pytest"
	@$(BIN)/pytest -o cache_dir=.cache/pytest

deb: setup
	@echo "== Debian package"
	@$(BIN)/python .ci/deb.py

# The lower bounds of pyproject.toml, on the tests that need no model.
test-lowest: $(INSTALLED)
	@echo "== lowest: $$($(BIN)/python .ci/lowest.py | tr '\n' ' ')"
	@$(PYTHON) -m venv --clear .cache/lowest
	@.cache/lowest/bin/python -m pip install -q $$(ls $(WHEELS)/*.whl) -e '.[dev]' $$($(BIN)/python .ci/lowest.py)
	@.cache/lowest/bin/pytest -o cache_dir=.cache/pytest -m "not model" --ignore tests/test_packaging.py --ignore tests/voice

# The election under faults, on every core; a run that was ended goes on with FIRST=... (it says where).
RUNS ?= 100000
FIRST ?= 0
nightly: $(INSTALLED)
	@$(BIN)/python -m tests.seat.nightly --runs $(RUNS) --first $(FIRST)

# Malformed HTTP, JSON, events and packets; what is a fault of ours ends it, and is shown.
SEED ?= 1
fuzz: $(INSTALLED) $(PROOF)
	@$(BIN)/python -m tests.fuzz --runs $(RUNS) --seed $(SEED)
	@EXAMPLES=200 $(BIN)/pytest -o cache_dir=.cache/pytest tests/gateway/openapi

# wyoming-openwakeword and wyoming-satellite pin versions of the protocol's package that exclude one another.
OTHERS := .cache/wyoming
wyoming: $(PROOF)
	@echo "== install wyoming-openwakeword and wyoming-satellite"
	@$(PYTHON) -m venv --clear $(OTHERS)/wake
	@$(OTHERS)/wake/bin/python -m pip install -q "wyoming-openwakeword==1.8.2" "numpy<2"
	@$(PYTHON) -m venv --clear $(OTHERS)/satellite
	@$(OTHERS)/satellite/bin/python -m pip install -q "wyoming-satellite==1.0.0"
	@$(BIN)/pytest -o cache_dir=.cache/pytest tests/voice/wyoming

clean:
	rm -rf .venv .cache build dist .ruff_cache .mypy_cache .pytest_cache .hypothesis

$(INSTALLED): pyproject.toml llama
	@if [ ! -e $@ ] || [ -n "$$(find pyproject.toml $(WHEELS)/*.whl -newer $@)" ]; then \
		echo "== install"; \
		$(BIN)/python -m pip install -q --force-reinstall --no-deps $(WHEELS)/*.whl && \
		$(BIN)/python -m pip install -e '.[dev]' && touch $@; \
	fi

# A browser's driver, what makes requests of /openapi.json, and what voice needs: 500 MB that most do without.
$(PROOF): $(INSTALLED)
	@echo "== install what only tests need"
	@$(BIN)/python -m pip install -q -e '.[proof,voice]' && touch $@

# Builds nothing when the wheel for this CPU is there already.
llama: check-python
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || { echo "== venv"; $(PYTHON) -m venv --clear .venv; }
	@echo "== llama.cpp for this CPU (three to eight minutes on two cores, the first time)"
	@$(BIN)/python daemon/muleteer/engine/build.py --wheel-dir $(WHEELS)

check-python:
	@command -v $(PYTHON) >/dev/null || { \
		echo "There is no $(PYTHON). On Debian and Raspberry Pi OS: sudo apt install python3 python3-venv"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "Muleteer needs Python 3.11 or later, and $(PYTHON) is $$($(PYTHON) -V 2>&1)." \
			"If a newer one is installed, name it: make setup PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
		echo "$(PYTHON) cannot make virtual environments. On Debian and Raspberry Pi OS: sudo apt install python3-venv"; \
		exit 1; }
