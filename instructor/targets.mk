# Targets that a student's copy does not have: they need instructor/ or tests/. Included by the
# Makefile, from whose directory they run.

.PHONY: test test-gpu bench-emulator bench-reference bench-check bench-grader cases release \
        gradescope autolab

help::
	@echo
	@echo 'For instructors and maintainers:'
	@echo 'make cases               prove the test cases against solutions, faults, cheats'
	@echo 'make release DIR=path    write a student'"'"'s copy'
	@echo 'make gradescope, autolab bundles for these systems, in build/bundles'
	@echo 'make test                the tests of this project (sets up $(VENV) first)'
	@echo 'make test-gpu            those that need a GPU'
	@echo 'make bench-emulator      how fast the CPU backend is'
	@echo 'make bench-reference     how fast the verification is'
	@echo 'make bench-check         how fast a checked run is'
	@echo 'make bench-grader        how fast grading is, and where the time goes'

# ---------------------------------------------------------------- publishing ---------------------

export DIR FAULTY

cases: $(VENV)/grader-ready
	@$(VENV)/bin/python -B instructor/release/prove_cases.py $(CASES_ARGS)

release: $(VENV)/grader-ready
	@$(VENV)/bin/python -B instructor/release/student_copy.py $(RELEASE_ARGS) "$$DIR"

gradescope autolab:
	@sh instructor/release/$@/make_bundle.sh build/bundles

# ---------------------------------------------------------------- tests, benchmarks --------------

test: $(VENV)/ready
	$(VENV)/bin/python -m pytest tests

test-gpu: $(VENV)/ready
	sh tests/emulator/run_on_gpu.sh $(ARCH)
	$(VENV)/bin/python -m pytest tests -m gpu

$(VENV)/ready: tests/requirements.txt
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/python -m pip install --quiet --require-hashes -r $<
	@touch $@

# The CPU backend beside a plain loop and PoCL; SHAPES="m k n ..." for other sizes.
bench-emulator: build/bench-emulator
	build/bench-emulator $(SHAPES)

build/bench-emulator: build/cpu/instructor/bench/emulator.o build/cpu/libemulator.a
	$(CXX) $(EMULATED_FLAGS) $^ -o $@ -lm -ldl

# ./sgemm's verification beside a plain loop; SHAPES="m k n ..." for other sizes.
bench-reference: build/support/bench-reference
	build/support/bench-reference $(SHAPES)

build/support/bench-reference: instructor/bench/reference.c $(support)
	$(CC) $(C_FLAGS) -I. $^ -o $@ -lm

# A checked run beside a plain one, of the tiled solution or KERNEL=...; on the CPU backend.
bench-check: build/bench-check
	$(MAKE) --no-print-directory BACKEND=cpu KERNEL="$(bench_kernel)" sgemm sgemm-check
	build/bench-check 5 $(or $(SHAPES),34 34 34 1000 500 700)
bench_kernel = $(if $(filter kernel.cu,$(KERNEL)),instructor/solutions/2_tiled.cu,$(KERNEL))

build/bench-check: instructor/bench/check.c build/support/settings
	$(CC) $(C_FLAGS) $< -o $@

# The grader from nothing built to the printed grade, and where the time goes.
bench-grader: $(VENV)/grader-ready
	@$(VENV)/bin/python -B instructor/bench/grader.py
