# make run and make test work from a fresh clone: they install into .venv first.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
DEV    := $(VENV)/.dev

.DEFAULT_GOAL := help
.PHONY: run test test-slow test-settings test-browser lint format types docs package bench gpu-check clean help

run: $(READY)  ## prepare, train, translate and score on the built-in sample
	$(BIN)/nmt prepare --config sample.yaml
	$(BIN)/nmt train --config sample.yaml
	$(BIN)/nmt translate "oscar likes to code"
	$(BIN)/nmt evaluate
	$(BIN)/nmt plot training
	$(BIN)/nmt plot attention "oscar likes to code"
	@echo "in a browser     $(BIN)/nmt serve"
	@echo "next             $(BIN)/nmt train --config everyday.yaml"
	@echo "                 a translator for everyday sentences, in about 40 minutes, without a network"

test: lint types  ## lint, types, tests
	$(BIN)/pytest -n auto --dist worksteal

test-slow: $(DEV)  ## the tests that take more than a few seconds
	$(BIN)/pytest -m slow -rs

# What depends on the processor, and what on the system. The settings are of PyTorch, oneDNN, CTranslate2 and OpenMP.
ON_PROCESSOR := tests/ops tests/model tests/training/test_step.py tests/training/test_backward.py \
	tests/training/test_loss.py tests/decoding/engines tests/decoding/search tests/test_device.py
ON_SYSTEM := tests/files tests/config tests/corpus/text tests/runs tests/cli/test_app.py tests/cli/test_translating.py \
	tests/training/test_console.py tests/test_errors.py tests/test_progress.py
PROCESSORS ?= ATEN_CPU_CAPABILITY=default ATEN_CPU_CAPABILITY=avx2 ONEDNN_MAX_CPU_ISA=AVX2 ONEDNN_MAX_CPU_ISA=SSE41 \
	CT2_FORCE_CPU_ISA=GENERIC CT2_FORCE_CPU_ISA=AVX2 OMP_NUM_THREADS=1 OMP_NUM_THREADS=4
SYSTEMS ?= LC_ALL=C LC_ALL=de_DE.UTF-8 TZ=Asia/Kathmandu HOME=/nowhere

test-settings: $(DEV)  ## the tests that depend on processor, locale, time zone or home folder, with others
	for setting in $(PROCESSORS); do \
		echo "$$setting"; env $$setting $(BIN)/pytest -n auto -q $(ON_PROCESSOR) || exit 1; done
	for setting in $(SYSTEMS); do \
		echo "$$setting"; env $$setting $(BIN)/pytest -n auto -q $(ON_SYSTEM) || exit 1; done

test-browser: $(DEV)  ## test the page of nmt serve in Chromium
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[browser]'
	$(BIN)/pytest -m browser --tb=native -rs tests/serve

lint: $(DEV)  ## ruff: lint and format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

format: $(DEV)  ## ruff: rewrite in the project's format
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

types: $(DEV)  ## mypy, strict
	$(BIN)/mypy

docs: $(DEV)  ## update the values in docs/how-it-works.md and build the documentation site
	$(BIN)/python scripts/how_it_works.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet

# To use interpreters other than the oldest and newest on the PATH and in pyenv: make package PYTHONS="python3.12"
package: $(DEV)  ## build wheel and sdist, and try both in empty environments outside the clone
	rm -rf dist
	$(BIN)/python -m build --outdir dist
	$(BIN)/python scripts/check_package.py dist $(PYTHONS)

# Corpora are downloaded, or: make bench MULTI30K=FOLDER PICKLE=english-german-both.pkl
MULTI30K_FIELD = $(if $(MULTI30K),--set data.path=$(MULTI30K))
PICKLE_FIELD = $(if $(PICKLE),--set data.path=$(PICKLE))

# For a GPU: make bench DEVICE=cuda. Benchmarks that cannot use it run on the CPU.
DEVICE ?= cpu

bench: $(DEV)  ## measure speed against peers, in their own environment; about 20 minutes
	$(BIN)/python scripts/bench/training.py --device $(DEVICE) $(MULTI30K_FIELD)
	$(BIN)/python scripts/bench/training.py --big --device $(DEVICE) $(MULTI30K_FIELD)
	$(BIN)/python scripts/bench/profiling.py $(MULTI30K_FIELD)
	$(BIN)/python scripts/bench/tutorial.py $(PICKLE_FIELD)
	$(BIN)/python scripts/bench/preparing.py
	if [ -d runs/bench ]; then $(BIN)/nmt train --resume --run runs/bench; \
	else $(BIN)/nmt train --config scripts/bench/compared.yaml --run runs/bench $(MULTI30K_FIELD); fi
	$(BIN)/python scripts/bench/decoding.py --run runs/bench --device $(DEVICE)
	$(BIN)/python scripts/bench/growth.py --output growth.svg

gpu-check: $(READY)  ## check training and decoding on this machine's GPU, in ten minutes
	$(BIN)/python scripts/gpu_check.py

clean:  ## remove what make has built (environment, caches); runs are kept
	rm -rf $(VENV) build dist .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

help:  ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

# PyTorch first, pinned, so that no other requirement pulls in another build.
PIP = $(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt
$(READY): pyproject.toml constraints.txt
	@echo "installing into $(VENV); the first time takes a few minutes"
	$(PYTHON) -m venv $(VENV)
	$(PIP) "$$(grep '^torch==' constraints.txt)"
	$(PIP) -e '.[plot,serve]'
	touch $(READY)

# Needed only to develop nmt: tests, types, documentation, and every extra.
$(DEV): $(READY)
	$(PIP) -e '.[dev,all]'
	touch $(DEV)
