# The commands of the README. Each sets up what it needs in .venv and does nothing twice.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
WORKERS ?= auto
ARGS ?=
# Numbers of processes of the tests of chainermn.
SIZES ?= 1,2,4
OUT ?= result/gpu
# Extras of chainer for make install.
EXTRAS ?=
# Folder of make wheels. RELEASE=1: for a package index.
DIST ?= dist
RELEASE ?=
CHECK_PYTHON = $(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or later is needed: make PYTHON=python3.12 ...")'

export PIP_DISABLE_PIP_VERSION_CHECK = 1

.PHONY: docs docs-pictures docs-accessibility demo install wheels test-install coverage test test-packs test-chainermn test-models test-torch lint types layers check stubs bench gpu gpu-emulated clients clean help

help:
	@echo "make demo [ARGS=--resume]  train a digit classifier on real data (result/)"
	@echo "make install EXTRAS=jax,.. install this clone with extras, in the active environment or .venv"
	@echo "make wheels                wheels and source archives of chainer and all packs (dist/)"
	@echo "make test                  run the tests, but not those marked slow (ARGS=\"-m slow\": these)"
	@echo "make test-packs            run the tests of the packs in packs/"
	@echo "make test-chainermn        run the tests of packs/chainermn in 1, 2 and 4 processes"
	@echo "make test-models           compare packs/models with transformers on PyTorch (.peers/models)"
	@echo "make test-torch            run the tests of packs/torch with PyTorch (.venv-torch)"
	@echo "make test-install          run commands of pages and messages in fresh environments (ARGS=--all)"
	@echo "make coverage              the share of lines that a sample of the tests runs"
	@echo "make check                 lint, types and import layers"
	@echo "make stubs                 rewrite type stubs and the reference of operations"
	@echo "make docs                  the documentation as a web site (site/)"
	@echo "make docs-pictures         screenshots of the built site; make docs-accessibility: axe-core"
	@echo "make bench [ARGS=...]      benchmarks against PyTorch and Chainer 7.8.1, in one run"
	@echo "make clients               released packages that depend on Chainer, in .venv-clients"
	@echo "make gpu-emulated          the tests for GPUs, with CuPy on devices that g++ emulates"
	@echo "make gpu [OUT=folder]       tests and benchmarks on a GPU, with PYTHON as it is set up"

$(BIN)/python:
	@$(CHECK_PYTHON)
	$(PYTHON) -m venv $(VENV)

# Stamps: an installation is redone when what it was made from has changed.
PROJECTS := pyproject.toml $(wildcard packs/*/pyproject.toml)

$(VENV)/.demo: $(BIN)/python pyproject.toml
	$(BIN)/python scripts/install.py --quiet --extras examples
	@touch $@

# PyTorch is not installed (gigabytes): its tests are skipped where it is missing. So are the tests of
# what has no wheel here: MPI, oneDNN, NVRTC (60 MB, for Linux; compiles the CUDA sources).
$(VENV)/.test: $(BIN)/python $(PROJECTS) tests/strict_backend/pyproject.toml
	$(BIN)/python scripts/install.py --quiet --extras test --packs
	$(BIN)/python -m pip install --quiet --no-build-isolation --no-deps -e tests/strict_backend
	$(BIN)/python -m pip install --quiet --no-build-isolation -e ".[nvrtc-test]" || echo "nvidia-cuda-nvrtc is not available here"
	@touch $@

$(VENV)/.lint: $(VENV)/.test
	$(BIN)/python -m pip install --quiet --no-build-isolation -e ".[lint]"
	@touch $@

demo: $(VENV)/.demo
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python examples/digits/train_digits.py $(ARGS)

test: $(VENV)/.test
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python scripts/run_tests.py -n $(WORKERS) --dist worksteal -q -m "not slow" $(ARGS)

# A sample of the commands that pages and messages print, in fresh environments; ARGS=--all: all.
test-install: $(VENV)/.test
	CHAINER_TEST_COMMANDS=$(if $(findstring --all,$(ARGS)),all) $(BIN)/python scripts/run_tests.py -q \
		-n $(WORKERS) --dist worksteal -m slow tests/installation $(filter-out --all,$(ARGS))

# One test in SAMPLE, so that it takes minutes; SAMPLE=1: all tests.
SAMPLE ?= 12

coverage: $(VENV)/.test
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -q -n $(WORKERS) -m "not slow" \
		--sample $(SAMPLE) --cov=chainer --cov-report=term --no-header -r N $(ARGS) | tail -n 3

test-packs: $(VENV)/.test
	CHAINERMN_TEST_SIZES=2 $(BIN)/python scripts/test_packs.py -n $(WORKERS) -q -m "not slow" $(ARGS)

test-chainermn: $(VENV)/.test
	cd packs/chainermn && OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 CHAINERMN_TEST_SIZES=$(SIZES) \
		../../$(BIN)/python ../../scripts/run_tests.py -q $(ARGS)

test-models: $(VENV)/.test
	$(BIN)/python scripts/setup_peers.py --only models
	cd packs/models && OMP_NUM_THREADS=1 ../../$(BIN)/python -m pytest -q -m slow $(ARGS)

# In an environment of its own: PyTorch is gigabytes.
TORCH := .venv-torch

$(TORCH)/.done: $(PROJECTS)
	@$(CHECK_PYTHON)
	$(PYTHON) -m venv $(TORCH)
	$(TORCH)/bin/python scripts/install.py --quiet --extras torch
	$(TORCH)/bin/python -m pip install --quiet "pytest>=8"
	@touch $@

test-torch: $(TORCH)/.done
	cd packs/torch && OMP_NUM_THREADS=1 ../../$(TORCH)/bin/python -m pytest -q $(ARGS)

lint: $(VENV)/.lint
	@# No cache: how an import is sorted depends on files that the cache does not watch.
	$(BIN)/ruff check --no-cache .
	$(BIN)/ruff format --check .

types: $(VENV)/.lint
	$(BIN)/pyright --pythonpath $(BIN)/python
	$(BIN)/pyright -p packs/pyrightconfig.json --pythonpath $(BIN)/python

layers: $(VENV)/.lint
	$(BIN)/lint-imports
	$(BIN)/python scripts/check_packs.py

check: lint types layers

# In an environment of its own: what the site needs is declared in the extra docs, and nowhere else.
DOCS := .venv-docs
# `make test` skips these, because its environment has no tools for sites.
DOCS_TESTS := $(addprefix tests/docs/test_,settings_reference.py site.py site_walk.py tutorials.py)

$(DOCS)/.done: $(PROJECTS)
	@$(CHECK_PYTHON)
	$(PYTHON) -m venv $(DOCS)
	$(DOCS)/bin/python scripts/install.py --quiet --extras docs
	@touch $@

docs: $(DOCS)/.done
	PYTHONPATH=. $(DOCS)/bin/python -m pytest -q -m "not slow" $(DOCS_TESTS)
	@date +%s > $(DOCS)/.began
	$(DOCS)/bin/python scripts/run_guide.py --pictures
	PYTHONPATH=. NO_MKDOCS_2_WARNING=1 DISABLE_MKDOCS_2_WARNING=true $(DOCS)/bin/mkdocs build --strict --quiet
	$(DOCS)/bin/python -m scripts.site.walk site
	$(DOCS)/bin/python -m scripts.site.sizes site $$(($$(date +%s) - $$(cat $(DOCS)/.began)))
	@echo "open site/index.html"

# The built site in a browser: pictures of its main pages in result/site, axe-core on ten pages.
# AXE: path of axe.min.js; without it npm fetches axe-core.
AXE ?=

$(DOCS)/.browser: $(DOCS)/.done
	$(DOCS)/bin/python -m pip install --quiet "playwright>=1.45"
	@touch $@

docs-pictures: $(DOCS)/.browser
	$(DOCS)/bin/python -m scripts.site.screenshots site result/site

docs-accessibility: $(DOCS)/.browser
	$(DOCS)/bin/python -m scripts.site.accessibility site $(AXE)

# Wheels and source archives of chainer and of every pack.
WHEELS := .venv-wheels

$(WHEELS)/.done: $(PROJECTS) scripts/build_wheels.py
	@$(CHECK_PYTHON)
	$(PYTHON) -m venv $(WHEELS)
	$(PYTHON) scripts/build_wheels.py --requirements | xargs $(WHEELS)/bin/python -m pip install --quiet
	@touch $@

wheels: $(WHEELS)/.done
	$(WHEELS)/bin/python scripts/build_wheels.py --out $(DIST) $(if $(RELEASE),--release)

# In the active environment, or in .venv where none is active.
install:
	@$(CHECK_PYTHON)
	$(PYTHON) scripts/install.py --extras "$(EXTRAS)"

stubs: $(VENV)/.test
	$(BIN)/python scripts/make_stubs.py
	$(BIN)/python scripts/make_reference.py

bench: $(VENV)/.test
	$(BIN)/python scripts/setup_peers.py
	$(BIN)/python -m benchmarks $(ARGS)

# Not in .venv: released packages need old dependencies, and all this is downloaded.
clients:
	@$(CHECK_PYTHON)
	$(PYTHON) -m tests.clients $(ARGS)

# Not in .venv: whoever has a GPU has an environment with CuPy (and PyTorch) for it.
gpu:
	$(PYTHON) scripts/gpu_checks.py $(OUT) $(ARGS)

# Other modules import packages that the environment lacks, and cannot be collected.
GPU_TESTS := tests/gpu tests/backends/cupy tests/docs/test_docstrings.py

# Not in .venv: with CuPy there, tests of what is missing without it would be skipped.
EMULATION := .venv-emulation

$(EMULATION)/.done: pyproject.toml
	@$(CHECK_PYTHON)
	$(PYTHON) -m venv $(EMULATION)
	$(EMULATION)/bin/python -m pip install --quiet -e ".[emulation-test]"
	@touch $@

gpu-emulated: $(EMULATION)/.done
	$(EMULATION)/bin/python -m tests.gpu.emulation --devices 2 --cudnn \
		pytest -m gpu -n $(WORKERS) --dist worksteal -q $(GPU_TESTS) $(ARGS)

clean:
	rm -rf $(VENV) $(EMULATION) $(DOCS) $(WHEELS) $(TORCH) .venv-clients result build dist .pytest_cache .ruff_cache .import_linter_cache
