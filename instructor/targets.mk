# Targets that a student's copy does not have: they need instructor/ or tests/. Included by the
# Makefile, from whose directory they run.

.PHONY: test test-all test-gpu bench bench-clock bench-charts bench-counts bench-emulator \
        bench-reference bench-check bench-grader cases cases-check release gradescope autolab classroom50

help::
	@echo
	@echo 'For instructors and maintainers:'
	@echo 'make cases               prove the test cases against solutions, faults, cheats'
	@echo 'make cases-check         only the files: names, points, sizes, limits'
	@echo 'make release DIR=path    write a student'"'"'s copy'
	@echo 'make gradescope          a bundle for Gradescope, in build/bundles'
	@echo 'make autolab             ... for Autolab'
	@echo 'make classroom50         ... for Classroom 50'
	@echo 'make test                the tests of this project (sets up $(VENV) first)'
	@echo 'make test-all            ... in every compiler setting'
	@echo 'make test-gpu            those that need a GPU'
	@echo 'make bench               the ladder and kernel.cu beside cuBLAS, on a GPU'
	@echo '     KERNELS="a.cu b.cu" ... these kernels instead;  SAMPLES=n of each'
	@echo '     SHAPES="m k n ..."  ... these sizes instead'
	@echo 'make bench-clock         does it agree with the clock that earns points?'
	@echo 'make bench-charts        charts from build/bench/ladder.json, or LADDER=path'
	@echo 'make bench-counts        what the ladder loads and computes; needs no GPU'
	@echo 'make bench-emulator      how fast the CPU backend is'
	@echo 'make bench-reference     how fast the verification is'
	@echo 'make bench-check         how fast a checked run is'
	@echo 'make bench-grader        how fast grading is, and where the time goes'

# ---------------------------------------------------------------- publishing ---------------------

export DIR FAULTY

cases: $(VENV)/grader-ready
	@sh make/start_python.sh $(VENV)/bin/python -B instructor/release/prove_cases.py \
	    $(call if_given,FAULTY,faulty) $(call if_given,JOBS,jobs) $(CASES_ARGS)

cases-check: $(VENV)/grader-ready
	@sh make/start_python.sh $(VENV)/bin/python -B instructor/release/prove_cases.py --files

release: $(VENV)/grader-ready
	@sh make/start_python.sh $(VENV)/bin/python -B instructor/release/student_copy.py $(RELEASE_ARGS) "$$DIR"

gradescope autolab classroom50:
	@sh instructor/release/$@/make_bundle.sh build/bundles

# ---------------------------------------------------------------- tests, benchmarks --------------

test: $(VENV)/ready
	$(VENV)/bin/python -m pytest tests -m 'not slow'

test-all: $(VENV)/ready
	$(VENV)/bin/python -m pytest tests

# All three parts, whatever becomes of the first; what measures runs alone.
test-gpu: $(VENV)/ready
	@failed=; \
	sh tests/emulator/run_on_gpu.sh $(arch) || failed=1; \
	$(VENV)/bin/python -m pytest tests -m 'gpu and not alone' $(spread) || failed=1; \
	$(VENV)/bin/python -m pytest tests -m 'gpu and alone' -n 0 || failed=1; \
	[ ! "$$failed" ]
# Each worker has a stretch of the tests, and with it kernels of its own to compile.
spread = --dist worksteal

$(VENV)/ready: tests/requirements.txt
	@sh make/venv.sh '$(PYTHON)' '$(VENV)' $<
	@touch $@ $(VENV)/grader-ready $(VENV)/charts-ready # whose packages are among them

# The ladder beside cuBLAS: docs/bench.md. Everything that a name may hold reaches the shell through
# the environment.
KERNELS ?= $(sort $(wildcard instructor/solutions/*.cu)) $(KERNEL)
LADDER  ?= build/bench/ladder.json
export KERNELS SHAPES SAMPLES LAUNCH PATIENCE LADDER

# Kernels become shared libraries, in one process with the worker: with one CUDA runtime, so that it
# sees their errors, and on a stream that can be captured into a graph.
cuda_libraries = $(realpath $(dir $(realpath $(shell command -v $(NVCC))))../lib64)
bench_link = -cudart shared $(if $(cuda_libraries),-Xlinker -rpath -Xlinker $(cuda_libraries))
bench_compile = $(NVCC) $(CUDA_FLAGS) --default-stream per-thread -Xcompiler -fPIC -shared \
                $(bench_link)

bench: $(if $(filter cuda,$(backend)),build/bench/ladder build/bench/worker)
ifeq ($(backend),cuda)
	@COMPILE='$(bench_compile)' MAKE='$(MAKE)' sh instructor/bench/ladder/bench.sh
else
	@echo 'make bench: nothing to measure on ($(why)); make bench-counts needs no GPU' >&2; exit 3
endif

bench_c  = $(patsubst instructor/bench/ladder/%.c,build/bench/%.o,\
             $(wildcard instructor/bench/ladder/*.c)) build/bench/clock/samples.o
bench_cu = $(addprefix build/bench/,worker.o ceilings.o clock/product.o clock/l2.o)
bench_headers = $(wildcard instructor/bench/ladder/*.h grader/clock/*.h)

build/bench/ladder: $(bench_c) $(support)
	$(CC) $(C_FLAGS) $^ -o $@ -lm

build/bench/worker: $(bench_cu) build/bench/clock/samples.o
	$(NVCC) $(CUDA_FLAGS) $(bench_link) $^ -o $@ -lcublas -ldl

build/bench/%.o: instructor/bench/ladder/%.c $(bench_headers) support.h support/shared.h \
                 build/support/settings
	@mkdir -p $(@D)
	$(CC) $(BRIEF_FLAGS) -c $< -o $@

build/bench/clock/%.o: grader/clock/%.c $(bench_headers) build/support/settings
	@mkdir -p $(@D)
	$(CC) $(BRIEF_FLAGS) -c $< -o $@

build/bench/%.o: instructor/bench/ladder/%.cu $(bench_headers) build/cuda/settings
	@mkdir -p $(@D)
	$(NVCC) $(CUDA_FLAGS) -c $< -o $@

build/bench/clock/%.o: grader/clock/%.cu $(bench_headers) build/cuda/settings
	@mkdir -p $(@D)
	$(NVCC) $(CUDA_FLAGS) -c $< -o $@

# The bench beside the clock that earns points, on the shapes that earn them.
bench-clock: $(VENV)/grader-ready
	@$(VENV)/bin/python -B instructor/bench/agreement.py

# From the JSON alone, on any machine.
bench-charts: $(VENV)/charts-ready
	@$(VENV)/bin/python -B instructor/bench/ladder/charts.py "$$LADDER" "$$(dirname "$$LADDER")"

# Packages for the charts alone: nothing else needs them.
$(VENV)/charts-ready: instructor/requirements.txt
	@sh make/venv.sh '$(PYTHON)' '$(VENV)' $< --retries 1 --timeout 10
	@touch $@

# Loads, stores and operations of the same kernels, counted on the CPU backend.
bench-counts:
	@$(PYTHON) -B instructor/bench/ladder/counts.py

# The CPU backend beside a plain loop; SHAPES="m k n ..." for other sizes.
bench-emulator: build/bench-emulator
	build/bench-emulator $(SHAPES)

build/bench-emulator: build/cpu/instructor/bench/emulator.o build/support/harness.o \
                      build/cpu/libemulator.a
	$(CXX) $(EMULATED_FLAGS) $^ -o $@ -lm

build/support/harness.o: instructor/bench/harness.c instructor/bench/harness.h \
                         build/support/settings
	$(CC) $(C_FLAGS) -c $< -o $@

# ./sgemm's verification beside a plain loop; SHAPES="m k n ..." for other sizes.
bench-reference: build/support/bench-reference
	build/support/bench-reference $(SHAPES)

build/support/bench-reference: instructor/bench/reference.c build/support/harness.o $(support)
	$(CC) $(C_FLAGS) -I. $^ -o $@ -lm

# A checked run beside a plain one, of the tiled solution or KERNEL=...; on the CPU backend.
bench-check: build/bench-check
	$(MAKE) --no-print-directory BACKEND=cpu KERNEL="$(bench_kernel)" sgemm sgemm-check
	build/bench-check $(or $(SHAPES),34 34 34 1000 500 700)
bench_kernel = $(if $(filter kernel.cu,$(KERNEL)),instructor/solutions/2_tiled.cu,$(KERNEL))

build/bench-check: instructor/bench/check.c build/support/harness.o
	$(CC) $(C_FLAGS) $^ -o $@

# The grader from nothing built to the printed grade, and where the time goes.
bench-grader: $(VENV)/grader-ready
	@$(VENV)/bin/python -B instructor/bench/grader.py
