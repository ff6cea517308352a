# Needs make, Python 3.11 or newer and the network; everything else is installed into .venv.

PYTHONS := python3.11 python3.12 python3.13 python3.14 python3 python
PYTHON ?= $(shell for each in $(PYTHONS); do \
	"$$each" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo "$$each" && break; done)
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.DEFAULT_GOAL := help
.PHONY: help install rehearse playground picture test check lint requirements

help: ## Say what there is to make
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

install: .venv/installed-dev ## Install everything into .venv

rehearse: .venv/installed-embedded ## Play the stories against a workspace on this machine
	$(BIN)/python -m bot rehearse

playground: .venv/installed-embedded ## Open a workspace on this machine to try the bot in
	$(BIN)/python -m bot playground

picture: .venv/installed-dev ## Make README's picture from the real page; needs Chromium
	mkdir -p docs && $(BIN)/python -m tests.bot.playground.picture docs/playground.png

test: lint ## Check and test everything
	$(BIN)/pytest --numprocesses=auto --maxprocesses=4

check: lint ## Check form only: ruff, pyright, import contracts, shape
	$(BIN)/pytest --quiet tests/test_shape.py

lint: .venv/installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright
	$(BIN)/lint-imports

requirements: .venv/installed-dev ## Pin what a deployment installs, with hashes
	CUSTOM_COMPILE_COMMAND="make requirements" $(BIN)/pip-compile --quiet --generate-hashes \
		--strip-extras --no-annotate --no-emit-index-url --no-emit-trusted-host \
		--no-emit-find-links --no-emit-options --output-file=requirements.txt pyproject.toml

.venv/installed-%: pyproject.toml
	@if [ -z "$(PYTHON)" ]; then \
		echo "Python 3.11 or newer is needed, and none of $(PYTHONS) is one: install it, or say make PYTHON=/path/to/python."; exit 1; fi
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "Python 3.11 or newer is needed, and $(PYTHON) is not."; exit 1; }
	@test -x $(BIN)/python || "$(PYTHON)" -m venv .venv || { \
		echo "$(PYTHON) cannot make a virtual environment (Debian: apt-get install python3-venv)."; exit 1; }
	@echo "Installing into .venv, once ..."
	@$(PIP) --editable '.[$*]'
	@touch $@ $(if $(filter dev,$*),.venv/installed-embedded)
