# `make demo` and `make test` need nothing set up before. `make help` lists all targets.
# Tests and benchmarks on real data run only if RHOSTAR_DATA names a folder with it.
PYTHON ?= python3
CXX ?= g++
comma := ,
BIN := .venv/bin
UV := $(BIN)/uv pip install --quiet --python $(BIN)/python
export PATH := $(CURDIR)/$(BIN):$(PATH)
export CXX

# __init__.py has the version, which the installed metadata repeats.
CORE := CMakeLists.txt pyproject.toml src/rhostar/__init__.py $(shell find src/core -name '*.[ch]pp')
CPP := $(shell find src/core benchmarks/native tests -name '*.[ch]pp')

.PHONY: demo test test-quick bench-calls lint coverage docs note build wheel release test-sanitized lock clean help theorems
.PHONY: bench-search bench-pieces bench-reading bench-learners bench-planning bench-certificates bench-overhead
.PHONY: bench-learn test-cluster test-routes test-peers test-kills test-threads validity faults soak fuzz bench-scale test-networkx bench-networkx bench-any-goal bench-workloads bench-hierarchy bench-router
.DELETE_ON_ERROR:

demo: .venv/.built  ## learn, compare and certify on a generated city; writes demo/report.html
	@$(BIN)/rhostar demo

test: .venv/.dev .venv/.built lint  ## run lint, then all tests
	$(BIN)/python -m pytest -n 2 -q tests --pyargs rhostar

# What a change is most likely to break, in less than a minute of processor time.
QUICK := tests/graph tests/utilities tests/instances/test_instances.py tests/bounds/test_planning.py \
	tests/bounds/test_uniform.py tests/project/test_layering.py $(wildcard tests/heuristics) \
	$(wildcard $(foreach name,hand_cases calls rho bad_queries distances trace nearest,tests/search/test_$(name).py))
test-quick: .venv/.dev .venv/.built  ## run the quick tests only: less than a minute of processor time, for the developer at work
	$(BIN)/python -m pytest -q -x -m "not slow" $(QUICK)

# networkx's own tests, away from this project's settings. A call that the backend refuses goes to networkx.
NETWORKX_TESTS ?= networkx
test-networkx: .venv/.dev .venv/.built  ## run networkx's own tests through the backend; counts the calls it answers
	@mkdir -p build/networkx
	cd build/networkx && NETWORKX_TEST_BACKEND=rhostar NETWORKX_FALLBACK_TO_NX=1 PYTHONPATH=$(CURDIR)/tests PYTHONHASHSEED=0 \
	  $(CURDIR)/$(BIN)/python -m pytest -q -c /dev/null --rootdir . -p no:cacheprovider -p support.networkx_calls \
	  --pyargs $(NETWORKX_TESTS)

lint: .venv/.dev .venv/.built  ## check style, types and docstrings
	$(BIN)/ruff check --quiet --no-cache .
	$(BIN)/ruff format --check --quiet .
	$(BIN)/clang-format --dry-run --Werror $(CPP)
	$(BIN)/mypy
	$(BIN)/python tools/docstrings.py

test-cluster: .venv/.dev .venv/.built  ## run the tests on Dask, Ray and killed worker processes
	$(BIN)/python -m pytest -q -m cluster tests

# Each kill is watched: the worker had computed on a chunk and was not done.
KILLS ?= 30
test-kills: .venv/.dev .venv/.built  ## kill 30 busy workers of each of Dask, Ray and loky; results must be identical (half an hour)
	$(BIN)/python tests/faults/kills.py --kills $(KILLS)

test-peers: .venv/.dev .venv/.peers .venv/.built  ## try the library in and against other programs: SUMO, UXsim
	$(BIN)/python -m pytest -q -s -m peers tests

# About 50,000 certificates in 78 cells, and every sentence of an audit 2,000 times: some ten minutes of processor time. A
# run that was interrupted continues.
validity: .venv/.dev .venv/.built  ## simulate all guarantees many times; results in benchmarks/results/validity.md (takes minutes)
	$(BIN)/python benchmarks/tightness.py
	$(BIN)/python benchmarks/validity.py
	RHOSTAR_VALIDITY_RUNS=2000 $(BIN)/python -m pytest -q tests/certificates/test_audit_coverage.py

test-routes: .venv/.dev .venv/.built  ## compare 100,000 random queries of every kind with brute force, and 10,000 on each city (an hour)
	RHOSTAR_RANDOM_QUERIES=100000 $(BIN)/python -m pytest -n 2 -q tests/routing/test_query_costs.py \
	  tests/routing/test_time_of_day.py tests/routing/test_turns.py tests/routing/test_alternatives.py
	$(BIN)/python benchmarks/query_costs.py --exact

faults: .venv/.dev .venv/.built  ## fail the 1st, 2nd, 3rd ... system call and allocation of every operation; interrupt every command
	$(BIN)/python tests/faults/inject.py
	$(BIN)/python tests/faults/interrupts.py

SOAK ?= 1.0
soak: .venv/.dev .venv/.built  ## 10^6 queries, 10^4 updates, 10^3 saves and loads, 100 reports in one process: memory stays flat
	$(BIN)/python tests/faults/soak.py --share $(SOAK)

fuzz: .venv/.dev .venv/.built  ## read 5,000 damaged files of every format; compare implementations on new random cases (half an hour)
	$(BIN)/python tools/fuzz.py
	$(BIN)/python -m pytest -n 2 -q --hypothesis-profile=random $$(grep -rl '^@given' tests)

docs: .venv/.dev .venv/.built  ## build the documentation, with the reference, in build/docs
	$(BIN)/python tools/code_map.py
	$(BIN)/python -m sphinx -q -W --keep-going -b html docs build/docs
	@echo "build/docs/index.html"

note: .venv/.built  ## typeset the theory with its proofs, warnings are errors: build/note/note.pdf; needs pdflatex
	$(BIN)/python docs/note/figures.py build/note
	@command -v pdflatex >/dev/null || { echo "No pdflatex: the figures are in build/note, but the note cannot be typeset. Install a TeX (Debian, Ubuntu: apt install texlive-latex-recommended lmodern)"; exit 1; }
	cd docs/note && for pass in 1 2 3; do TEXINPUTS=".:$(CURDIR)/build/note:" \
	  pdflatex -interaction=batchmode -halt-on-error -output-directory="$(CURDIR)/build/note" note.tex >/dev/null \
	  || { tail -n 30 "$(CURDIR)/build/note/note.log"; exit 1; }; done
	@! grep -nE 'Warning|Overfull|Underfull' build/note/note.log || { echo "The note has warnings: mend them."; exit 1; }
	@echo "build/note/note.pdf"

build: .venv/.built  ## build the compiled core, if it changed

bench-search: .venv/.dev .venv/.built  ## compare the search with other libraries; updates the table in docs/benchmarks.md
	$(BIN)/python benchmarks/search.py

bench-calls: .venv/.dev .venv/.built  ## count the modules, calls and crossings of typical flows, and lines of code by package
	$(BIN)/python benchmarks/calls.py

bench-pieces: .venv/.built  ## time exact pieces along a line against a grid of values
	$(BIN)/python benchmarks/pieces.py

bench-reading: .venv/.built  ## time reading a million arcs, and saving and mapping 800 MB of snapshots
	$(BIN)/python benchmarks/reading.py

bench-learners: .venv/.dev .venv/.built  ## measure time and memory of fits against vertices and snapshots
	$(BIN)/python benchmarks/learners_sizes.py

bench-learn: .venv/.dev .venv/.peers .venv/.built  ## compare learn and all learners on days of SUMO, UXsim and others (half an hour)
	$(BIN)/python benchmarks/learn.py
	$(BIN)/python benchmarks/greedy.py

bench-planning: .venv/.built  ## compare learned values with Neural A* on its maps
	$(BIN)/python benchmarks/planning.py

bench-certificates: .venv/.built  ## measure how tight certificates are on METR-LA, and their cost
	$(BIN)/python benchmarks/certificates.py

bench-networkx: .venv/.dev .venv/.built  ## compare with networkx on its own graphs; updates the table in docs/networkx.md
	$(BIN)/python benchmarks/networkx_paths.py --write

bench-overhead: .venv/.built  ## measure the overhead of a call, and memory per vertex
	$(BIN)/python benchmarks/overhead.py

theorems: .venv/.built  ## run the statements of the theory on many cases; updates the table in docs/theory.md (minutes)
	$(BIN)/python benchmarks/theorems.py

bench-scale: .venv/.dev .venv/.built  ## measure time and memory against vertices, instances and workers (takes minutes)
	$(BIN)/python benchmarks/scale.py

bench-any-goal: .venv/.dev .venv/.peers .venv/.built  ## compare searches to any goal with CCH, pyastar2d and tcod; updates docs/any-goal.md
	$(BIN)/python benchmarks/any_goal.py

bench-workloads: .venv/.dev .venv/.peers .venv/.built  ## find which method is cheapest for how many queries; updates docs/comparison.md
	$(BIN)/python benchmarks/break_even.py

bench-hierarchy: .venv/.dev .venv/.peers .venv/.built  ## compare customizable hierarchies with RoutingKit; updates docs/hierarchy.md
	$(BIN)/python benchmarks/hierarchy.py

bench-router: .venv/.dev .venv/.peers .venv/.built  ## compare a router with its engines and with other libraries; updates docs/routing.md
	$(BIN)/python benchmarks/router.py
	$(BIN)/python benchmarks/alternatives.py
	$(BIN)/python benchmarks/by_time.py

# Only for these comparisons; one that does not install is left out.
.venv/.peers: locks/peers.txt | .venv/.python
	-$(UV) --require-hashes -r locks/peers.txt
	@touch $@

.venv/.python:
	@command -v $(PYTHON) >/dev/null || { echo "rhostar needs Python 3.11 or later: install python3 (Debian, Ubuntu: apt install python3 python3-venv python3-dev)"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "rhostar needs Python 3.11 or later; $(PYTHON) is older. Set PYTHON=python3.11 or the like."; exit 1; }
	@echo "Making a Python environment in .venv (some seconds) ..."
	@$(PYTHON) -m venv .venv || { rm -rf .venv; echo "python3 has no venv: install it (Debian, Ubuntu: apt install python3-venv)"; exit 1; }
	@$(BIN)/python -m pip install --quiet --require-hashes -r locks/uv.txt
	@touch $@

.venv/.run: locks/run.txt | .venv/.python
	@echo "Installing numpy, scipy and the other packages that rhostar needs (less than a minute, plus the download) ..."
	@$(UV) --require-hashes -r locks/run.txt
	@touch $@

.venv/.dev: locks/dev.txt | .venv/.python
	@echo "Installing the tools for tests and documentation (about a minute, plus the download) ..."
	@$(UV) --require-hashes -r locks/dev.txt
	@touch $@

# The editable install maps the modules it found: a new or removed file needs a new map.
.venv/.files: FORCE | .venv/.python
	@find src/rhostar -name '*.py' | sort | cmp -s - $@ || find src/rhostar -name '*.py' | sort > $@
FORCE:

.venv/.built: .venv/.run .venv/.files $(CORE)
	@command -v $(CXX) >/dev/null || { echo "No C++ compiler ($(CXX)): install g++ (Debian, Ubuntu: apt install g++; Fedora: dnf install gcc-c++; macOS: xcode-select --install)"; exit 1; }
	@$(BIN)/python -c 'import os, sys, sysconfig; sys.exit(not os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")))' || { echo "Python's headers are missing: install them (Debian, Ubuntu: apt install python3-dev; Fedora: dnf install python3-devel)"; exit 1; }
	@echo "Compiling the core and installing rhostar (1 to 3 minutes the first time, seconds later) ..."
	@$(UV) --no-build-isolation --no-deps -e .
	@touch $@

# The compiler zig brings its own C++ library and aims at an old glibc, so the wheel runs on most Linux systems; the
# library goes into the module. auditwheel checks that and renames the wheel. Elsewhere, the wheel is for this system.
# Debian's Python.h includes a file by its path in /usr/include, where zig must not look for anything else.
GLIBC := 2.17
TRIPLE := $(shell uname -m)-linux-gnu
TOOLS := $(CURDIR)/build/wheel-tools
wheel: .venv/.run  ## build a wheel in dist/ that runs on other Linux systems, and try it in a clean environment
	rm -rf dist build/plain build/smoke
ifeq ($(shell uname -s),Linux)
	$(BIN)/uv pip install --quiet --python $(BIN)/python --target $(TOOLS) --require-hashes -r locks/wheel.txt
	mkdir -p build/include/$(TRIPLE) && ln -sfn /usr/include/$(TRIPLE)/python3.* build/include/$(TRIPLE)/
	PYTHONPATH=$(TOOLS) ZIG_GLOBAL_CACHE_DIR=$(CURDIR)/build/zig \
	  CXX="$(CURDIR)/$(BIN)/python -m ziglang c++ -target $(TRIPLE).$(GLIBC) -I$(CURDIR)/build/include" \
	  $(BIN)/uv build --wheel --no-build-isolation --python $(BIN)/python -C build-dir=build/wheel --out-dir build/plain .
	PYTHONPATH=$(TOOLS) PATH=$(TOOLS)/bin:$$PATH $(BIN)/python -m auditwheel repair \
	  --plat manylinux_$(subst .,_,$(GLIBC))_$(shell uname -m) --wheel-dir dist build/plain/*.whl
else
	$(BIN)/uv build --wheel --no-build-isolation --python $(BIN)/python --out-dir dist .
endif
	$(BIN)/python -m venv build/smoke
	$(BIN)/uv pip install --quiet --python build/smoke/bin/python -c locks/run.txt dist/*.whl
	cd build/smoke && bin/python -I "$(CURDIR)/tests/project/smoke.py"

release: .venv/.dev .venv/.built  ## check everything and tag the version; pushes nothing
	$(BIN)/python tools/release.py

# A build with sanitizers, or with counted lines, lives in an environment of its own that borrows the other packages by
# path: the editable install, which would beat it, is not borrowed. tests/conftest.py asserts which module is tested.
define instrumented # $(1): its name, $(2): what cmake is told
	$(BIN)/python -m venv --clear $(CURDIR)/build/$(1)/venv
	$(BIN)/python -m pip install --quiet --no-build-isolation --no-deps --prefix $(CURDIR)/build/$(1)/venv --ignore-installed \
	  -C cmake.define.$(2) -C cmake.build-type=RelWithDebInfo -C build-dir=$(CURDIR)/build/$(1)/build .
	$(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))' \
	  > "$$($(CURDIR)/build/$(1)/venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/borrowed.pth"
endef

SANITIZED := $(CURDIR)/build/sanitized
SANITIZED_TESTS ?= tests --pyargs rhostar
# They repeat the same calls thousands of times, for minutes.
SIMULATIONS := --ignore-glob='*validity*.py' --ignore-glob='*coverage.py'
test-sanitized: .venv/.dev .venv/.built  ## run all tests but simulations with the address and undefined-behavior sanitizers
	$(call instrumented,sanitized,RHOSTAR_SANITIZE=address$(comma)undefined)
	LD_PRELOAD="$$($(CXX) -print-file-name=libasan.so) $$($(CXX) -print-file-name=libstdc++.so)" \
	ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1 RHOSTAR_SANITIZED=$(SANITIZED)/venv \
	$(SANITIZED)/venv/bin/python -m pytest -n 2 -q --capture=sys -p no:cacheprovider $(SIMULATIONS) $(SANITIZED_TESTS)

# The compiled core counts how often each line runs; a process that is killed does not write its counts.
COVERED := $(CURDIR)/build/covered
COVERED_TESTS ?= tests --pyargs rhostar
coverage: .venv/.dev .venv/.built  ## run all tests and show which lines of Python and of the core they reach; HTML in build/coverage
	$(call instrumented,covered,RHOSTAR_COVERAGE=ON)
	find $(COVERED)/build -name '*.gcda' -delete
	RHOSTAR_COVERED=$(COVERED)/venv $(COVERED)/venv/bin/python -m pytest -n 2 -q -p no:cacheprovider \
	  --cov --cov-report=term:skip-covered --cov-report=html --cov-report=json:build/coverage/coverage.json $(COVERED_TESTS)
	$(BIN)/python tools/core_coverage.py $(COVERED)/build
	@echo "build/coverage/index.html"

# Without address randomization, which the thread sanitizer of older compilers cannot stand. It must also see a race that
# is made on purpose: its exit status is then 66.
THREADS := $(CURDIR)/build/threads
STRESS := LD_PRELOAD="$$($(CXX) -print-file-name=libtsan.so)" RHOSTAR_SANITIZED=$(THREADS)/venv TSAN_OPTIONS=exitcode=66 \
	setarch -R $(THREADS)/venv/bin/python tests/faults/stress.py
STRESS_SECONDS ?= 60
test-threads: .venv/.dev .venv/.built  ## mix all calls on 8 threads with the thread sanitizer
	$(call instrumented,threads,RHOSTAR_SANITIZE=thread)
	$(STRESS) --race --seconds 3 >/dev/null 2>&1; test $$? = 66
	$(STRESS) --seconds $(STRESS_SECONDS)

# Files with other content than at the time of the lock are refused at install.
LOCK := $(BIN)/uv pip compile --quiet --universal --no-header --no-annotate --no-emit-index-url --no-emit-find-links \
	--strip-extras --generate-hashes
lock: .venv/.python  ## pin the versions and hashes of all dependencies again
	$(LOCK) pyproject.toml --group build -o locks/run.txt
	$(LOCK) pyproject.toml --group build --group dev -c locks/run.txt -o locks/dev.txt
	$(LOCK) --group peers -c locks/dev.txt -o locks/peers.txt
	echo uv | $(LOCK) - -o locks/uv.txt
	$(LOCK) --group wheel -o locks/wheel.txt

clean:  ## remove everything that make created
	rm -rf .venv build dist demo

help:  ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 20
