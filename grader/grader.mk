# Grading, and what the grader builds for itself. Included by the Makefile.

.PHONY: grade grader-parts packages parts-beside-pip

##
## make grade       your points on the public test cases  KERNEL SUBMISSION LAB
##       SUITE RESULTS NAME SEED JOBS LIMIT PROTECTION GRADE_ARGS
## make grader-parts          build the grader's own programs      KERNEL LAB

# What is given becomes an option, even if it is empty.
python = sh grader/python.sh
option = $${$1+--$2 "$$$1"}
options = --lab "$$LAB" --suite "$${SUITE-public}" --results "$${RESULTS-results}" \
    $(call option,SEED,seed) $(call option,JOBS,jobs) $(call option,LIMIT,limit) $(call option,PROTECTION,protection) \
    $(grade_backend) $$GRADE_ARGS
grade_backend = $$(case $$BACKEND in cpu | cuda) echo "--backend $$BACKEND" ;; esac)
grade: packages parts-beside-pip
	set -f; exec $(python) -m grader --submission "$${SUBMISSION-$$KERNEL}" $(call option,NAME,name) $(options)

packages:
	$(python) -i grader
# In a fresh checkout the parts that the grader builds for itself take as long as the packages.
parts-beside-pip:
	[ -e "$${VENV:-.venv}/grader-ready" ] || { [ "$$BACKEND" = cuda ] || BACKEND=cpu; \
	    $(python) -s -m grader.build.parts "$$BACKEND" "$$LAB" >/dev/null 2>&1 || :; }

# ---------------------------------------------------------------- the grader's parts -------------

# What grader/build/ needs from here, all of it made without a submission: the judge; and in build/grader what is linked
# with one, in the sandbox, by compile.sh. The checked build is for the CPU; so is the plain one, unless BACKEND=cuda,
# where cuda/ holds what it is linked with.
worker_parts = grader/worker/compile.sh build/cpu/rewrite build/cpu/spaces build/check/insert build/lab.sh \
    build/lab.json $(filter %_begin.o %_end.o,$(watched)) build/cpu/grader/worker/worker.o \
    $(patsubst %.c,build/c/%.o,$(wildcard grader/worker/*.c)) $(explains)
engine_parts = engine/kernel.sh engine/say.sh engine/cuda/include engine/report/cuda_errors.def \
    engine/watch/guard/host_call.S engine/watch/locals/local.h build/cpu/prelude.marked $(preludes)
preludes     = build/cpu/prelude build/check/prelude
# The one header of this project that a submission may include, and what it includes.
include_parts = support.h $(wildcard engine/*.h engine/host/*.h engine/host/driver/*.h \
    engine/report/*.h engine/report/*.def engine/report/*/*.h engine/report/*/*.def)

# And speed is timed: record.cu, which is linked with the submission, too, writes down what it launches; build/clock
# replays it.
ifeq ($(backend),cuda)
cuda_parts = $(patsubst %.cu,build/cuda/%.o,$(wildcard grader/worker/*.cu) grader/clock/record.cu engine/host/host.cu \
    $(LAB)/call.cu) build/libclock.a
grader-parts: build/clock
endif

grader-parts: build/judge build/grader/jail build/grader/flags $(worker_parts) $(preludes) $(cuda_parts)
	mkdir -p build/grader/include build/grader/cuda
	cp $(worker_parts) build/grader
	cp -R --parents $(engine_parts) build/grader
	cp --parents $(include_parts) build/grader/include
	$(if $(cuda_parts),cp $(cuda_parts) build/grader/cuda)

build/judge: build/c/grader/judge/judge.o $(driver) ; $(step) tool $@ $^
build/grader/jail: build/c/grader/jail/jail.o       ; $(step) tool $@ $^

# What compile.sh reads: the settings, the compiler by its path.
build/grader/flags: FORCE build/check/settings $(if $(filter cuda,$(backend)),build/cuda/settings)
	mkdir -p $(@D)
	{ echo NVCC= && cat build/cpu/settings $(filter %/settings,$^) && . build/cpu/settings && \
	    printf "%s='%s'\n" CXX "$$(command -v $$CXX)" WORKER_CALLS "$(call wraps,grader/worker/watch_cuda.cu)" \
	        RECORDER_CALLS "$(call wraps,grader/clock/record.cu)"; } >$@
# The runtime's calls that a file intercepts, in a form that c++ and nvcc both take.
wraps = $$(sed -n 's/^WRAP_BOTH(\([A-Za-z0-9_]*\),.*/-Xlinker --wrap=\1 -Xlinker --wrap=\1Async/p; \
    s/^WRAP[A-Z_]*(\([A-Za-z0-9_]*\),.*/-Xlinker --wrap=\1/p; \
    s/.* __wrap_\([A-Za-z0-9_]*\)(.*/-Xlinker --wrap=\1/p' $1 | tr '\n' ' ')

# C that includes CUDA's headers, which nvcc knows where to find. What kernels are timed beside is the lab's, or a copy.
build/cuda/grader/clock/%.o: grader/clock/%.c build/cuda/settings ; $(step) nvcc_c $@ $<
build/libclock.a: $(patsubst %,build/cuda/%.o,$(basename $(filter-out %/clock.c %/copy.c %/record.cu, \
    $(wildcard grader/clock/*.c grader/clock/*.cu)) $(or $(wildcard $(LAB)/speed.cu),grader/clock/copy.c))) \
    build/lab.name
build/clock: build/cuda/grader/clock/clock.o build/libclock.a $(driver)
	$(step) link_cuda $@ $^ -lcublas -lcuda
