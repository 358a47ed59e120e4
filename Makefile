# `make demo` and `make test` do all the set-up they need; see README.md.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin
SPHINX := $(BIN)/sphinx-build --conf-dir docs
BROWSERS := chromium chromium-browser google-chrome
# Workers are the parallelism of the tests: linear algebra and JAX have one thread in each.
# There are two more than processors: a third of the time of a worker is waiting for a browser or a service.
WORKERS = $(shell $(BIN)/python -c 'import os; print(os.cpu_count() + 2)')
ONE_THREAD := OPENBLAS_NUM_THREADS=1 XLA_FLAGS="--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"

.PHONY: help setup browser demo test check docs links format lock bench clean

help:  ## List the targets
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | sort

setup: .venv/ready  ## Make .venv from requirements.lock

# The lock names all there is, so nothing is left to resolve, and what one `pip` waits for others unpack.
.venv/ready: requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "$(PYTHON) is older than Python 3.11: run make PYTHON=/path/to/python3.11")'
	$(PYTHON) -m venv --clear .venv
	tr '\n' '\0' <requirements.lock | xargs -0 -n 20 -P 4 $(BIN)/python -m pip install --quiet --no-compile --no-deps
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

browser:  ## Install Chromium for the tests of the page, if there is no such browser yet
	@for name in $(BROWSERS); do command -v $$name >/dev/null && exit 0; done; \
	root=$$(test "$$(id -u)" = 0 || echo sudo); \
	$$root apt-get update --quiet; \
	$$root apt-get install --quiet --yes --no-install-recommends chromium || \
	{ echo "The tests of the page need Chromium, which could not be installed: put one of $(BROWSERS) on the PATH."; exit 1; }

demo: setup  ## Recover a hidden type chart, report on a metagame, and show both against the truth
	$(BIN)/intransit demo --out demo

test: setup browser  ## Run the whole test suite
	$(ONE_THREAD) $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal

check: setup  ## Formatting, lint, types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

docs: setup  ## Build the site into build/site; a warning, or a link that leads nowhere, is an error
	rm -rf docs/reference/generated
	$(SPHINX) --fail-on-warning --keep-going --nitpicky --quiet --builder html . build/site

links: setup  ## Check the links to other sites (needs a network)
	$(SPHINX) --quiet --builder linkcheck . build/links

format: setup  ## Rewrite the code in the project's format
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: setup  ## Measure every figure the documents quote; results go to benchmarks/results
	$(BIN)/python -m benchmarks

lock: setup  ## Pin the newest versions that Python 3.11 can run (needs uv)
	uv pip compile --quiet --universal --python-version 3.11 --extra dev --no-emit-package intransit --no-annotate --no-header --upgrade pyproject.toml --output-file requirements.lock

clean:  ## Remove what set-up and runs have made
	rm -rf .venv demo build docs/reference/generated .pytest_cache .mypy_cache .ruff_cache .hypothesis
