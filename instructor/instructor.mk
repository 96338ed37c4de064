# Targets that a student's copy does not have: they need instructor/ or tests/. Included by the
# Makefile, from whose directory they run.

.PHONY: test test-quick test-all test-gpu bench bench-charts bench-counts bench-emulator \
        bench-reference bench-check bench-grader bench-class cases cases-check diagnosis release \
        gradescope autolab classroom50 faulty pictures

# ---------------------------------------------------------------- publishing ---------------------

export DIR FAULTY

##
## For instructors and maintainers:
## make cases               prove the test cases against solutions, faults, cheats
cases: $(VENV)/grader-ready
	@sh make/start_python.sh $(VENV)/bin/python -B -m instructor.release.prove_cases \
	    $(call if_given,FAULTY,faulty) $(call if_given,JOBS,jobs) $(CASES_ARGS)
takes_cases = FAULTY CASES_ARGS JOBS $(takes_python) $(takes_tools)

## make cases-check         only the files: names, points, sizes, limits
cases-check: $(VENV)/grader-ready
	@sh make/start_python.sh $(VENV)/bin/python -B -m instructor.release.prove_cases --files
takes_cases-check = $(takes_python)

## make release DIR=path    write a student's copy
release: $(VENV)/grader-ready
	@sh make/start_python.sh $(VENV)/bin/python -B -m instructor.release.student_copy $(RELEASE_ARGS) "$$DIR"
takes_release = DIR RELEASE_ARGS $(takes_python) $(takes_tools)

## make gradescope          a bundle for Gradescope, in build/bundles
## make autolab             ... for Autolab
## make classroom50         ... for Classroom 50
gradescope autolab classroom50:
	@sh make/start_python.sh $(PYTHON) -B -m instructor.release.pack $@ build/bundles
takes_gradescope  = PYTHON
takes_autolab     = PYTHON
takes_classroom50 = PYTHON

## make faulty              build/faulty: the faulty kernels that are no files
faulty: $(VENV)/grader-ready
	@sh make/start_python.sh $(VENV)/bin/python -B -m instructor.faulty.faults
takes_faulty = $(takes_python)

## make diagnosis           build/diagnosis.md: what make check prints, by mistake
diagnosis: $(VENV)/grader-ready
	@sh make/start_python.sh $(VENV)/bin/python -B -m instructor.faulty.diagnosis
takes_diagnosis = $(takes_python) $(takes_tools)

## make pictures            docs/pictures, drawn as the walkthrough; needs Chromium
pictures:
	@$(PYTHON) -B instructor/pictures/draw.py
takes_pictures = PYTHON

# ---------------------------------------------------------------- tests --------------------------

takes_tests = $(takes_python) $(takes_tools)

## make test-quick          some of each kind, for every change (tests/quick.txt)
test-quick: $(VENV)/ready
	$(VENV)/bin/python -m pytest @tests/quick.txt
takes_test-quick = $(takes_tests)

## make test                the tests of this project (sets up .venv first)
test: $(VENV)/ready
	$(VENV)/bin/python -m pytest tests -m 'not slow'
takes_test = $(takes_tests)

## make test-all            ... in every compiler setting
test-all: $(VENV)/ready
	$(VENV)/bin/python -m pytest tests
takes_test-all = $(takes_tests)

# All three parts, whatever becomes of the first; what measures runs alone.
## make test-gpu            those that need a GPU
test-gpu: $(VENV)/ready
	@failed=; \
	sh tests/cuda/run_on_gpu.sh $(arch) || failed=1; \
	$(VENV)/bin/python -m pytest tests -m 'gpu and not alone' || failed=1; \
	$(VENV)/bin/python -m pytest tests -m 'gpu and alone' -n 0 || failed=1; \
	[ ! "$$failed" ]
takes_test-gpu = $(takes_tests)

$(VENV)/ready: grader/requirements.txt course/requirements.txt instructor/requirements.txt tests/requirements.txt
	@sh make/venv.sh '$(PYTHON)' '$(VENV)' $^
	@touch $@ $(VENV)/grader-ready $(VENV)/course-ready $(VENV)/charts-ready

# ---------------------------------------------------------------- the ladder beside cuBLAS -------

# docs/ladder.md. Everything that a name may hold reaches the shell through the environment.
last_rung = instructor/solutions/9_every_shape/every_shape.cu
KERNELS ?= $(sort $(wildcard instructor/solutions/*.cu)) build/9_every_shape.cu \
           $(filter-out kernel.cu,$(KERNEL))
LADDER  ?= build/bench/ladder.json
# GRID=1: one kernel on shapes of every kind; the top of the ladder, unless KERNEL is another.
GRID_KERNEL ?= $(or $(filter-out kernel.cu,$(KERNEL)),$(last_rung))
GRID_JSON   ?= build/bench/grid.json
export KERNELS SHAPES SAMPLES LADDER GRID GRID_SEED GRID_KERNEL GRID_JSON

## make bench               the ladder beside cuBLAS, on a GPU
##      KERNEL=path.cu      ... and this kernel
##      KERNELS="a.cu b.cu" ... these kernels instead;  SAMPLES=n of each
##      SHAPES="m k n ..."  ... these sizes instead
##      GRID=1              200 shapes of every kind instead (GRID_SEED=n: others)
bench: $(if $(filter cuda,$(backend)),$(VENV)/grader-ready build/bench/ceilings build/bench/grid \
                                     build/9_every_shape.cu)
ifeq ($(backend),cuda)
	@measured=ladder; [ -z "$$GRID" ] || measured=grid; \
	$(VENV)/bin/python -B instructor/bench/$$measured.py; status=$$?; \
	[ $$status -ge 2 ] || $(MAKE) --no-print-directory bench-charts >&2 || \
	    echo 'no charts here; make bench-charts draws them anywhere' >&2; \
	exit $$status
else
	@echo 'make bench: nothing to measure on ($(why)); make bench-counts needs no GPU' >&2; exit 3
endif
takes_bench = KERNELS SHAPES SAMPLES LADDER GRID GRID_SEED GRID_KERNEL GRID_JSON $(takes_python) \
              $(takes_build)

# The last rung is several files; a submission, and what the bench compiles as one, is one file.
build/9_every_shape.cu: instructor/bench/one_file.py $(wildcard instructor/solutions/9_every_shape/*) \
                        | $$(@D)/.
	@$(PYTHON) -B $< $(last_rung) >$@

# The times to which its model is fitted: instructor/bench/fit.py.
build/bench/candidates: build/cuda/instructor/bench/candidates.o build/libclock.a $(driver) | $$(@D)/.
	$(NVCC) $(CUDA_FLAGS) $(linked) -o $@ -lcublas -lcuda -lpthread \
	    -Xlinker -rpath=$(abspath $(dir $(NVCC))../lib64)

build/bench/ceilings: build/cuda/instructor/bench/ceilings.o | $$(@D)/.
	$(NVCC) $(CUDA_FLAGS) $^ -o $@ -lcublas -Xlinker -rpath=$(abspath $(dir $(NVCC))../lib64)

# The kernel of GRID_KERNEL, linked with what measures it.
build/bench/grid: build/cuda/instructor/bench/grid.o build/bench/grid_kernel.o build/libclock.a \
                  $(driver)
	$(NVCC) $(CUDA_FLAGS) $(linked) -o $@ -lcublas -lcublasLt -lcuda -lpthread \
	    -Xlinker -rpath=$(abspath $(dir $(NVCC))../lib64)

build/bench/grid_kernel.o: FORCE build/cuda/settings | $$(@D)/.
	$(NVCC) $(CUDA_FLAGS) -I . -x cu -c "$$GRID_KERNEL" -o $@

# From the JSON alone, on any machine.
## make bench-charts        charts from build/bench/ladder.json, or LADDER=path
##      GRID=1              ... from build/bench/grid.json, or GRID_JSON=path
bench-charts: $(VENV)/charts-ready
	@if [ -z "$$GRID" ]; then \
	    $(VENV)/bin/python -B instructor/bench/charts.py "$$LADDER" "$$(dirname "$$LADDER")"; \
	else \
	    $(VENV)/bin/python -B instructor/bench/heat_map.py "$$GRID_JSON" "$$(dirname "$$GRID_JSON")"; \
	fi
takes_bench-charts = LADDER GRID GRID_JSON $(takes_python)

# Packages for the charts alone: nothing else needs them.
$(VENV)/charts-ready: grader/requirements.txt instructor/requirements.txt
	@PIP_RETRIES=1 PIP_DEFAULT_TIMEOUT=10 sh make/venv.sh '$(PYTHON)' '$(VENV)' $^
	@touch $@ $(VENV)/grader-ready

# Loads, stores and operations of the same kernels, counted on the CPU backend.
## make bench-counts        what the ladder loads and computes; needs no GPU
bench-counts: build/9_every_shape.cu
	@$(PYTHON) -B instructor/bench/counts.py
takes_bench-counts = KERNELS KERNEL SHAPES $(takes_python) $(takes_tools)

# ---------------------------------------------------------------- this project's own speed -------

# Each beside a plain loop; SHAPES="m k n ..." for other sizes.
takes_speed = SHAPES $(takes_build)
harness = build/c/instructor/bench/harness.o

## make bench-emulator      how fast the CPU backend is
bench-emulator: build/bench/emulator
	set -f; build/bench/emulator $$SHAPES
takes_bench-emulator = $(takes_speed)

build/bench/emulator: build/cpu/instructor/bench/emulator.o $(harness) $(driver) \
                      build/libruntime.a | $$(@D)/.
	$(CXX) $(EMULATED_FLAGS) $(linked) -o $@ -lm

## make bench-reference     how fast the verification is
bench-reference: build/bench/reference
	set -f; build/bench/reference $$SHAPES
takes_bench-reference = $(takes_speed)

# A checked run beside a plain one, of the tiled solution or KERNEL=...; on the CPU backend.
## make bench-check         how fast a checked run is
bench-check: build/bench/check
	[ "$$KERNEL" != kernel.cu ] || KERNEL=instructor/solutions/2_tiled.cu; \
	$(MAKE) --no-print-directory BACKEND=cpu KERNEL="$$KERNEL" sgemm sgemm-check
	set -f; build/bench/check $${SHAPES:-34 34 34 1000 500 700}
takes_bench-check = $(takes_speed)

build/bench/reference build/bench/check: build/bench/%: build/c/instructor/bench/%.o $(harness) \
                                                         $(driver) | $$(@D)/.
	$(CC) $(C_FLAGS) $(linked) -o $@ -lm

# The grader from nothing built to the printed grade.
## make bench-grader        how fast grading is, and where the time goes
bench-grader: $(VENV)/grader-ready
	@$(VENV)/bin/python -B instructor/bench/grader.py
takes_bench-grader = $(takes_python) $(takes_tools)

# What many submissions cost beside their graders.
## make bench-class         two workers beside one
bench-class: $(VENV)/course-ready
	@$(VENV)/bin/python -B instructor/bench/classes.py
takes_bench-class = $(takes_python) $(takes_tools)
