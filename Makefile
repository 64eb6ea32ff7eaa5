# Every target makes what it needs: a virtual environment in .venv; only compiled kernels of tests lie
# outside, in the cache of the user.
PYTHON ?= python3
VENV   := .venv
RUN    := $(VENV)/bin
PIP    := $(RUN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

# Compiled test modules are kept, also where the environment asks for none: collecting the tests
# anew takes half a minute for each process. Files with slow tests come first (tests/conftest.py),
# and whoever has finished takes over work of the others.
PYTEST := env -u PYTHONDONTWRITEBYTECODE OMP_NUM_THREADS=1 \
  $(RUN)/python -m pytest -n auto --dist worksteal

.PHONY: demo check test bench papers docs results reliability clean

$(VENV)/.made:
	$(PYTHON) -m venv $(VENV)
	touch $@

$(VENV)/.demo: $(VENV)/.made pyproject.toml constraints.txt
	$(PIP) -e ".[plot]"
	touch $@

$(VENV)/.test: $(VENV)/.made pyproject.toml constraints.txt
	$(PIP) -e ".[test]"
	touch $@

$(VENV)/.bench: $(VENV)/.made pyproject.toml constraints.txt
	$(PIP) -e ".[bench]"
	touch $@

$(VENV)/.docs: $(VENV)/.made pyproject.toml constraints.txt
	$(PIP) -e ".[docs]"
	touch $@

demo: $(VENV)/.demo
	$(RUN)/python examples/demo.py

check: $(VENV)/.test
	$(RUN)/ruff check .
	$(RUN)/ruff format --check .
	$(RUN)/mypy
	$(RUN)/python tools/house.py
	$(PYTEST) -m "not slow and not subprocess and not browser and not data"

test: $(VENV)/.test
	$(RUN)/ruff check .
	$(RUN)/ruff format --check .
	$(RUN)/mypy
	$(PYTEST)
	PYTHON=$(PYTHON) tests/newcomer.sh $(abspath $(VENV))/newcomer

bench: $(VENV)/.bench
	for script in benchmarks/bench_*.py; do $(RUN)/python $$script || exit 1; done

papers: $(VENV)/.bench  # make papers BUDGET=60 stops after an hour; the next one goes on
	$(RUN)/python docs/scripts/collect_results.py --all $(BUDGET)

reliability: $(VENV)/.test $(VENV)/.release  # make reliability BUDGET=60 SEED=1: an hour, counted in one table
	OMP_NUM_THREADS=1 $(RUN)/python reliability/campaign.py $(if $(BUDGET),--budget $(BUDGET)) --seed $(or $(SEED),0)

docs: $(VENV)/.docs
	$(RUN)/python -m sphinx -W -q -b html docs docs/_build/html
	$(RUN)/python docs/scripts/check_links.py docs/_build/html

results: $(VENV)/.bench  # make results SCRIPT=papers/one_path.py
	$(RUN)/python docs/scripts/collect_results.py $(SCRIPT)

# Releases, and what the workflows in .github run beside the targets above.
.PHONY: lint examples build oldest changelog release-check release-notes github-release

$(VENV)/.release: $(VENV)/.made pyproject.toml constraints.txt
	$(PIP) -e ".[release]"
	touch $@

lint: $(VENV)/.test
	$(RUN)/ruff check .
	$(RUN)/ruff format --check .
	$(RUN)/mypy

examples: $(VENV)/.demo
	for script in examples/*.py; do MPLBACKEND=Agg $(RUN)/python $$script || exit 1; done

build: $(VENV)/.release
	rm -rf dist
	$(RUN)/python -m build --no-isolation --outdir dist .

oldest: build
	$(RUN)/python tools/release_check.py --oldest

changelog: $(VENV)/.release
	$(RUN)/python tools/changelog.py

release-check: build  # TAG=v0.1.0 asks for this version
	$(RUN)/python tools/release_check.py $(if $(TAG),--tag $(TAG))

release-notes: $(VENV)/.release
	mkdir -p output
	$(RUN)/python tools/changelog.py --section > output/release_notes.md

github-release:
	gh release create "$(TAG)" --verify-tag --title "$(TAG)" --notes-file output/release_notes.md dist/*

clean:
	rm -rf $(VENV) output dist docs/_build docs/gallery docs/generated examples/output
