# pitbox: `make demo` shows it, `make test` proves it. Only python3.11+, venv, make and apt are assumed.

PYTHON ?= python3
VENV   ?= .venv
BIN     = $(VENV)/bin
# What the tests need besides Python packages: real tools, never stand-ins. PROGRAM, or PROGRAM:PACKAGE.
APT     = systemd-analyze:systemd tshark ser2net socat usbip strace openssl mosquitto mosquitto_sub:mosquitto-clients chromium pdftotext:poppler-utils

# A real kernel to attach USB devices to, for the long proofs.
proof vhci marathon: APT += qemu-system-x86_64:qemu-system-x86 busybox:busybox-static depmod:kmod

# What is compiled once is kept, or every process of every test and benchmark compiles the house anew.
unexport PYTHONDONTWRITEBYTECODE

# One more than there are cores: tests on the wall clock wait, and somebody else may compute meanwhile.
WORKERS ?= $(shell expr $$(nproc) + 1)

.PHONY: help demo test check proof coverage marathon stress bench vhci counts recording docs wheel release lock hooks format clean apt

help:  ## list what can be made
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "pitbox needs Python 3.11 or newer")'
	$(PYTHON) -m venv $(VENV)

# Packages come from a lock file: pinned versions, and only files whose hash is listed. pip's own configuration chooses
# the index. The last step installs pitbox itself, with the pinned build backend; the
# entry points that an earlier version left in the tree would hide the new ones.
INSTALL = $(BIN)/pip install --quiet --disable-pip-version-check
ITSELF  = rm -rf pitbox.egg-info && $(INSTALL) --no-deps --no-build-isolation --editable .

# One stamp per lock file, so that the demo does not wait for the test tools.
$(VENV)/.demo: $(BIN)/python pyproject.toml requirements/demo.txt
	$(INSTALL) --require-hashes --requirement requirements/demo.txt
	$(ITSELF)
	@touch $@

$(VENV)/.dev: $(BIN)/python pyproject.toml requirements/dev.txt
	$(INSTALL) --require-hashes --requirement requirements/dev.txt
	$(ITSELF)
	@touch $@ $(VENV)/.demo

apt:
	@missing=; for each in $(APT); do tool=$${each%%:*}; command -v $$tool >/dev/null || test -x /usr/sbin/$$tool || missing="$$missing $${each##*:}"; done; \
	if [ -z "$$missing" ]; then exit 0; fi; \
	if [ "$$(id -u)" = 0 ]; then \
	  apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq $$missing >/dev/null; \
	else \
	  echo "Some tests need$$missing and will be skipped without; to run them all:"; \
	  echo "  sudo apt-get install -y$$missing"; \
	fi

demo: $(VENV)/.demo  ## simulated machines and what the box does with them; ends by itself
	@$(BIN)/pitbox demo

test: $(VENV)/.dev apt  ## install what tests need and run them all
	$(BIN)/python -m pytest -m 'not proof and not vhci' -n $(WORKERS) --dist worksteal --durations 10

check: $(VENV)/.dev  ## format, lint, types, imports, dead modules, words, documents; nothing is proven less than before
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	$(BIN)/python -m tools.lock
	$(BIN)/python -m tools.release
	$(BIN)/python -m tools.reachable
	$(BIN)/python -m tools.words
	$(BIN)/python -m tools.docs --check
	$(BIN)/python -m tools.docs.code_flow
	$(BIN)/python -m tools.minimum_counts
	$(BIN)/python -m tools.coverage_figures --if-measured

proof: $(VENV)/.dev apt  ## the long proofs: exhaustive searches, soaks, kill runs (at most 40 minutes on two cores)
	$(BIN)/python -m pytest -m 'proof and not vhci' --timeout 1500 -rP -n $(WORKERS) --dist worksteal --durations 10 \
	  -p tests.support.suite.allowances

coverage: $(VENV)/.dev apt  ## measure what the tests in virtual time run; store the figure (slow: three times as long as without)
	$(BIN)/python -m tools.coverage_figures --measure --workers $(WORKERS)

marathon: $(VENV)/.dev apt  ## the same proofs TIMES (20) times with other seeds, or for MINUTES: hours; not for CI
	$(BIN)/python -m tools.marathon --times $(or $(TIMES),20) $(if $(MINUTES),--minutes $(MINUTES)) $(ONLY)

stress: $(VENV)/.dev apt  ## the tests on the wall clock, TIMES (20) times while LOAD (8) processes compute
	$(BIN)/python -m tools.stress --times $(or $(TIMES),20) --load $(or $(LOAD),8) $(ONLY)

bench: SHELL = /bin/bash
bench: .SHELLFLAGS = -o pipefail -ec
BENCHMARKS = codec hands core settling rounds link usb lockout journal press panel service mqtt

bench: $(VENV)/.dev apt  ## the budgets, measured side by side with floor and peer; output and log are kept in bench/
	@mkdir -p bench
	@rm -f bench/log.jsonl
	@export BENCH_LOG=bench/log.jsonl; for each in $(BENCHMARKS); do echo "== $$each"; $(BIN)/python -m benchmarks.$$each; done 2>&1 | tee bench/output.txt

vhci: $(VENV)/.dev apt  ## simulated USB machines on a real kernel, in QEMU (fetches Debian's kernel, 70 MB; a minute)
	$(BIN)/python -m tools.vhci

counts: $(VENV)/.dev  ## raise tests/minimum_counts.toml to today's counts of tests, clause marks and mutants
	$(BIN)/python -m tools.minimum_counts --renew

recording: $(VENV)/.dev  ## renew the recordings that README shows and the generated parts of the documents
	$(BIN)/python -m tools.docs

docs: $(VENV)/.dev  ## build the site of docs/ in build/site
	$(BIN)/mkdocs build --strict --quiet
	@echo "open build/site/index.html"

wheel: $(VENV)/.dev  ## build two wheels in build/wheel: whole, and production without simulators and conformance kit
	$(BIN)/python -m tools.wheel
	$(BIN)/python -m tools.wheel --production

release: $(VENV)/.dev  ## check that this commit can be released; print the command that makes the tag
	$(BIN)/python -m tools.release --tag

lock: $(VENV)/.dev  ## renew the lock files in requirements/ from pyproject.toml
	$(INSTALL) --require-hashes --requirement requirements/tools.txt
	$(BIN)/python -m tools.lock --renew

hooks: $(VENV)/.dev  ## check every commit before it is made (pre-commit)
	$(INSTALL) --require-hashes --requirement requirements/tools.txt
	$(BIN)/pre-commit install

format: $(VENV)/.dev  ## format the code
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean:  ## remove what was made
	rm -rf $(VENV) build *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache bench
