# Targets that a student's copy does not have: they need instructor/ or tests/. Included by the Makefile, behind
# grader/grader.mk.

.PHONY: test test-quick test-all test-gpu bench bench-charts bench-counts bench-cpu cases cases-check hidden diagnosis messages release \
        gradescope autolab classroom50 faulty mutants

# ---------------------------------------------------------------- publishing ---------------------

##
## For instructors and maintainers:
## make cases               test the test cases on solutions, faults, cheats
##                                                    LAB FAULTY CASES_ARGS JOBS
cases: packages
	set -f; exec $(python) -m instructor.release.prove_cases --lab "$$LAB" $(call option,FAULTY,faulty) \
	    $(call option,JOBS,jobs) $$CASES_ARGS

## make hidden SEED=n       draw hidden cases, test and write them
##                                                      LAB SEED CASES_ARGS JOBS
hidden:
	expr "$$SEED" : '[1-9][0-9]\{9,17\}$$' >/dev/null || \
	    { echo "hidden: SEED=$$SEED: it must be a whole number of 10 to 18 digits: docs/instructor.md" >&2; exit 2; }
	$(python) -i grader
	set -f; exec $(python) -m instructor.release.prove_cases --lab "$$LAB" --draw "$$SEED" $(call option,JOBS,jobs) \
	    $$CASES_ARGS

## make cases-check         check the files: names, points, sizes, limits   LAB
cases-check: packages
	$(python) -m instructor.release.prove_cases --lab "$$LAB" --files

## make release DIR=path    write a student's copy      LAB DIR TILE RELEASE_ARGS
release: packages
	set -f; exec $(python) -m instructor.release.student_copy --lab "$$LAB" $(call option,TILE,tile) $$RELEASE_ARGS "$$DIR"

## make gradescope          make a bundle for Gradescope, in build/bundles    LAB
## make autolab             ... for Autolab                                   LAB
## make classroom50         ... for Classroom 50                              LAB
gradescope autolab classroom50:
	$(python) -s -m instructor.release.pack --lab "$$LAB" $@ build/bundles

## make faulty              make faulty kernels, in build/faulty, from edits
faulty: packages
	$(python) -m instructor.faulty.faults

## make diagnosis           write what make check prints about each mistake
diagnosis: packages
	$(python) -m instructor.faulty.diagnosis

## make messages            print all that make check can say about a finding
messages: build/c/settings
	. build/c/settings; $$CC -std=c11 -pthread tests/report/messages.c $$(find engine/report -name '*.c') \
	    -o build/messages -lm && exec build/messages

# ---------------------------------------------------------------- tests --------------------------

test-packages:
	$(python) -i grader course instructor tests

## make test-quick          some tests of each kind, for every change
test-quick: test-packages
	$(python) -m pytest @tests/quick.txt

## make test                test this project (sets up .venv first)
test: test-packages
	$(python) -m pytest tests -m 'not slow'

## make test-all            ... in every compiler setting
test-all: test-packages
	$(python) -m pytest tests

## make mutants             small defects, one at a time: which pass all tests?
##                                                      SEED JOBS MUTANTS_ARGS
mutants: test-packages
	set -f; exec $(python) -m instructor.mutants $(call option,SEED,seed) $(call option,JOBS,jobs) $$MUTANTS_ARGS

# All three parts, whatever becomes of the first; what measures runs alone.
## make test-gpu            the tests that need a GPU to run on
test-gpu: test-packages build/cuda/settings
	failed=; . build/cuda/settings; \
	sh tests/cuda/run_on_gpu.sh $$ARCH || failed=1; \
	$(python) -m pytest tests -m 'gpu and not alone' || failed=1; \
	$(python) -m pytest tests -m 'gpu and alone' -n 0 || failed=1; \
	[ ! "$$failed" ]

# ---------------------------------------------------------------- the ladder beside cuBLAS -------

# docs/ladder.md. What is not given has a default; GRID=1 is one kernel on shapes of every kind: the top of the ladder,
# unless KERNEL is another.
last_rung = instructor/solutions/9_every_shape/every_shape.cu
rungs     = $(sort $(wildcard instructor/solutions/*.cu)) build/9_every_shape.cu
defaults  = set -f; case $$KERNEL in kernel.cu) other= ;; *) other=$$KERNEL ;; esac; \
    export KERNELS="$${KERNELS-$(rungs) $$other}" LADDER="$${LADDER-build/bench/ladder.json}" \
        GRID_KERNEL="$${GRID_KERNEL-$${other:-$(last_rung)}}" GRID_JSON="$${GRID_JSON-build/bench/grid.json}"

## make bench               time the ladder and KERNEL on a GPU, against cuBLAS
##      KERNELS="a.cu b.cu" SHAPES="m k n ..." others instead;  SAMPLES=n of each
##      GRID=1              200 shapes of every kind instead (GRID_SEED=n: others)
##       KERNEL KERNELS SHAPES SAMPLES LADDER GRID GRID_SEED GRID_KERNEL GRID_JSON
ifeq ($(backend),cuda)
bench: packages build/bench/ceilings build/bench/grid build/9_every_shape.cu
	$(defaults); measured=ladder; [ -z "$$GRID" ] || measured=grid; \
	$(python) instructor/bench/$$measured.py; status=$$?; \
	[ $$status -ge 2 ] || $(MAKE) --no-print-directory bench-charts >&2 || \
	    echo 'no charts here; make bench-charts draws them anywhere' >&2; \
	exit $$status
else
bench:
	echo "make bench: nothing to measure on ($$WHY); make bench-counts needs no GPU" >&2; exit 3
endif

# The last rung is several files; a submission, and what the bench compiles as one, is one file.
build/9_every_shape.cu: instructor/bench/one_file.py $(wildcard instructor/solutions/9_every_shape/*)
	mkdir -p build && $(python) -s $< $(last_rung) >$@

# The times to which its model is fitted: instructor/bench/fit.py.
build/bench/candidates: build/cuda/instructor/bench/candidates.o build/libclock.a $(driver)
	$(step) link_cuda $@ $^ -lcublas -lcuda
build/bench/ceilings: build/cuda/instructor/bench/ceilings.o
	$(step) link_cuda $@ $^ -lcublas
# The kernel of GRID_KERNEL, linked with what measures it.
build/bench/grid: build/cuda/instructor/bench/grid.o build/bench/grid_kernel.o build/libclock.a $(driver)
	$(step) link_cuda $@ $^ -lcublas -lcublasLt -lcuda
build/bench/grid_kernel.o: FORCE build/cuda/settings | build/9_every_shape.cu
	$(defaults); KERNEL=$$GRID_KERNEL $(step) kernel $@

# From the JSON alone, on any machine.
## make bench-charts        charts from build/bench/ladder.json, or LADDER=path
##      GRID=1              ... from build/bench/grid.json, or GRID_JSON=path
##                                                           LADDER GRID GRID_JSON
bench-charts:
	PIP_RETRIES=1 PIP_DEFAULT_TIMEOUT=10 $(python) -i grader instructor
	$(defaults); if [ -z "$$GRID" ]; then \
	    $(python) instructor/bench/charts.py "$$LADDER" "$$(dirname "$$LADDER")"; \
	else \
	    $(python) instructor/bench/heat_map.py "$$GRID_JSON" "$$(dirname "$$GRID_JSON")"; \
	fi

# Loads, stores and operations of the same kernels, counted on the CPU backend.
## make bench-counts        what the ladder loads and computes; on any machine
##                                                          KERNELS KERNEL SHAPES
bench-counts: build/9_every_shape.cu
	$(defaults); $(python) -s instructor/bench/counts.py

# ---------------------------------------------------------------- this project's own speed -------

## make bench-cpu           time the CPU backend, the check, grading, a class
##      OF="kernel check grade class"  some of it;  ROUNDS=n
##                                                      OF ROUNDS SHAPES KERNEL
bench-cpu: course-packages build/bench/plain
	[ "$$KERNEL" != kernel.cu ] || KERNEL=instructor/solutions/2_tiled.cu; \
	$(MAKE) --no-print-directory BACKEND=cpu KERNEL="$$KERNEL" sgemm sgemm-check
	$(python) instructor/bench/cpu.py
build/bench/plain: build/c/instructor/bench/plain.o $(driver)
	$(step) tool $@ $^
