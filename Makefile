# `make demo` and `make test` build .venv themselves; everything runs in it.
PY := .venv/bin/python
INSTALLED := .venv/.installed
DEVELOP := .venv/.develop

.PHONY: demo test check fix docs numbers bench readme clean

$(INSTALLED): pyproject.toml constraints.txt
	test -x $(PY) || python3 -m venv .venv
	$(PY) -m pip install --quiet -c constraints.txt -e .
	touch $@

$(DEVELOP): $(INSTALLED)
	$(PY) -m pip install --quiet -c constraints.txt -e '.[dev]'
	touch $@

demo: $(INSTALLED)  ## train on embedded data, show table and report
	.venv/bin/rmix demo

test: $(DEVELOP)  ## everything that is tested
	$(PY) -m pytest -n auto --dist loadgroup

check: $(DEVELOP)  ## about a minute: format, lint, types, quick tests
	.venv/bin/ruff format --check .
	.venv/bin/ruff check .
	.venv/bin/mypy
	$(PY) -m pytest -n auto --dist loadgroup -m 'not slow'

fix: $(DEVELOP)  ## format, and mend what can be mended
	.venv/bin/ruff check --fix .
	.venv/bin/ruff format .
	$(PY) tests/house/readme_table.py --write

docs: $(DEVELOP)  ## the site, in site/: open site/index.html
	NO_MKDOCS_2_WARNING=1 $(PY) -m mkdocs build --strict

numbers: $(DEVELOP)  ## the figures and tables of README and docs
	$(PY) docs/make.py

bench: $(DEVELOP)  ## ratios, each measured in one run
	$(PY) -m benchmarks

clean:
	rm -rf .venv demo runs site
