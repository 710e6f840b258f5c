# `make demo` and `make test` need nothing set up before. `make help` lists all targets.
# Tests and benchmarks on real data run only if RHOSTAR_DATA names a folder with it.
PYTHON ?= python3
CXX ?= g++
BIN := .venv/bin
UV := $(BIN)/uv pip install --quiet --python $(BIN)/python
export PATH := $(CURDIR)/$(BIN):$(PATH)
export CXX

# __init__.py has the version, which the installed metadata repeats.
CORE := CMakeLists.txt pyproject.toml src/rhostar/__init__.py $(shell find src/core -name '*.[ch]pp')
CPP := $(shell find src/core benchmarks/native tests -name '*.[ch]pp')

.PHONY: demo test lint coverage docs build wheel release test-sanitized lock clean help
.PHONY: bench-search bench-pieces bench-reading bench-learners bench-planning bench-certificates bench-overhead
.DELETE_ON_ERROR:

demo: .venv/.built  ## learn, compare and certify on a generated city; writes demo/report.html
	@$(BIN)/rhostar demo

test: .venv/.dev .venv/.built lint  ## run lint, then all tests
	$(BIN)/python -m pytest -n 2 -q tests --pyargs rhostar

lint: .venv/.dev  ## check style and types
	$(BIN)/ruff check --quiet .
	$(BIN)/ruff format --check --quiet .
	$(BIN)/clang-format --dry-run --Werror $(CPP)
	$(BIN)/mypy

coverage: .venv/.dev .venv/.built  ## run all tests and show which lines they reach; HTML in build/coverage
	$(BIN)/python -m pytest -n 2 -q --cov --cov-report=term --cov-report=html tests --pyargs rhostar
	@echo "build/coverage/index.html"

docs: .venv/.dev .venv/.built  ## build the documentation, with the reference, in build/docs
	$(BIN)/python tools/housemap.py
	$(BIN)/python -m sphinx -q -W --keep-going -b html docs build/docs
	@echo "build/docs/index.html"

build: .venv/.built  ## build the compiled core, if it changed

bench-search: .venv/.dev .venv/.built  ## compare the search with other libraries; updates the table in docs/benchmarks.md
	$(BIN)/python benchmarks/search.py

bench-pieces: .venv/.built  ## time exact pieces along a line against a grid of values
	$(BIN)/python benchmarks/pieces.py

bench-reading: .venv/.built  ## time reading a million arcs, and saving and mapping 800 MB of snapshots
	$(BIN)/python benchmarks/reading.py

bench-learners: .venv/.dev .venv/.built  ## compare learners on real data (takes minutes)
	$(BIN)/python benchmarks/learners.py

bench-planning: .venv/.built  ## compare learned values with Neural A* on its maps
	$(BIN)/python benchmarks/planning.py

bench-certificates: .venv/.built  ## measure how tight certificates are on METR-LA, and their cost
	$(BIN)/python benchmarks/certificates.py

bench-overhead: .venv/.built  ## measure the overhead of a call, and memory per vertex
	$(BIN)/python benchmarks/overhead.py

.venv/.python:
	@command -v $(PYTHON) >/dev/null || { echo "rhostar needs Python 3.11 or later: install python3 (Debian, Ubuntu: apt install python3 python3-venv python3-dev)"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "rhostar needs Python 3.11 or later; $(PYTHON) is older. Set PYTHON=python3.11 or the like."; exit 1; }
	@$(PYTHON) -m venv .venv || { rm -rf .venv; echo "python3 has no venv: install it (Debian, Ubuntu: apt install python3-venv)"; exit 1; }
	@$(BIN)/python -m pip install --quiet uv
	@touch $@

.venv/.run: locks/run.txt | .venv/.python
	$(UV) -r locks/run.txt
	@touch $@

.venv/.dev: locks/dev.txt | .venv/.python
	$(UV) -r locks/dev.txt
	@touch $@

# The editable install maps the modules it found: a new or removed file needs a new map.
.venv/.files: FORCE | .venv/.python
	@find src/rhostar -name '*.py' | sort | cmp -s - $@ || find src/rhostar -name '*.py' | sort > $@
FORCE:

.venv/.built: .venv/.run .venv/.files $(CORE)
	@command -v $(CXX) >/dev/null || { echo "No C++ compiler ($(CXX)): install g++ (Debian, Ubuntu: apt install g++; Fedora: dnf install gcc-c++; macOS: xcode-select --install)"; exit 1; }
	@$(BIN)/python -c 'import os, sys, sysconfig; sys.exit(not os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")))' || { echo "Python's headers are missing: install them (Debian, Ubuntu: apt install python3-dev; Fedora: dnf install python3-devel)"; exit 1; }
	$(UV) --no-build-isolation --no-deps -e .
	@touch $@

wheel: .venv/.dev .venv/.built  ## build a wheel and try it in a clean environment
	rm -rf dist build/smoke
	$(BIN)/python -m build --wheel --no-isolation --outdir dist .
	$(BIN)/python -m venv build/smoke
	$(BIN)/uv pip install --quiet --python build/smoke/bin/python -c locks/run.txt dist/*.whl
	cd build/smoke && bin/python -I "$(CURDIR)/tests/project/smoke.py"

release: .venv/.dev .venv/.built  ## check everything and tag the version; pushes nothing
	$(BIN)/python tools/release.py

# The sanitized build lives in an environment of its own that borrows the other packages by path: the
# editable install, which would beat it, is not borrowed. tests/conftest.py asserts which module is tested.
SANITIZED := $(CURDIR)/build/sanitized
test-sanitized: .venv/.dev .venv/.built  ## run all tests with the address and undefined-behaviour sanitizers
	$(BIN)/python -m venv --clear $(SANITIZED)/venv
	$(BIN)/python -m pip install --quiet --no-build-isolation --no-deps --prefix $(SANITIZED)/venv --ignore-installed \
	  -C cmake.define.RHOSTAR_SANITIZE=ON -C cmake.build-type=RelWithDebInfo -C build-dir=$(SANITIZED)/build .
	$(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))' \
	  > "$$($(SANITIZED)/venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/borrowed.pth"
	LD_PRELOAD="$$($(CXX) -print-file-name=libasan.so) $$($(CXX) -print-file-name=libstdc++.so)" \
	ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1 RHOSTAR_SANITIZED=$(SANITIZED)/venv \
	$(SANITIZED)/venv/bin/python -m pytest -n 2 -q --capture=sys -p no:cacheprovider --timeout=150 tests --pyargs rhostar

lock: .venv/.python  ## pin the versions of all dependencies again
	$(BIN)/uv pip compile --quiet --universal --no-header --no-annotate --no-emit-index-url --no-emit-find-links --strip-extras \
	  pyproject.toml --group build -o locks/run.txt
	$(BIN)/uv pip compile --quiet --universal --no-header --no-annotate --no-emit-index-url --no-emit-find-links --strip-extras \
	  pyproject.toml --group build --group dev -c locks/run.txt -o locks/dev.txt

clean:  ## remove everything that make created
	rm -rf .venv build dist demo

help:  ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 20
