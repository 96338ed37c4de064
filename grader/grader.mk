# Grading, and what the grader builds for itself. Included by the Makefile.

.PHONY: grade grader-parts

SUBMISSION  ?= $(KERNEL)
SUITE       ?= public
RESULTS     ?= results
export SUBMISSION SUITE RESULTS NAME SEED JOBS LIMIT PROTECTION

# In a fresh checkout the parts that the grader builds for itself take as long as the packages.
beside_pip = $(if $(wildcard $(VENV)/grader-ready),,parts-beside-pip)
parts-beside-pip: FORCE
	@sh make/start_python.sh '$(PYTHON)' -B -m grader.build $(or $(filter cuda,$(BACKEND)),cpu) \
	    >/dev/null 2>&1 || :

# What is given becomes an option, even if it is empty; values reach the shell through the
# environment.
if_given = $(if $(filter $1,$(given)),--$2 "$$$1")
shared_options = --suite "$$SUITE" --results "$$RESULTS" $(call if_given,SEED,seed) \
    $(call if_given,JOBS,jobs) $(call if_given,LIMIT,limit) \
    $(call if_given,PROTECTION,protection) $(grade_backend) $(GRADE_ARGS)
grade_backend = $(if $(filter cpu cuda,$(BACKEND)),--backend $(BACKEND))
takes_python  = PYTHON VENV
takes_grader  = SUITE RESULTS SEED JOBS LIMIT PROTECTION BACKEND GRADE_ARGS $(takes_python) $(takes_tools)

##
## make grade               points for kernel.cu on the public test cases
##      SUBMISSION=path     ... for another file, folder or zip
##      SUITE=all           ... on all cases there are; see docs/grading.md
grade: $(VENV)/grader-ready $(beside_pip)
	@sh make/start_python.sh $(VENV)/bin/python -B -m grader --submission "$$SUBMISSION" \
	    $(call if_given,NAME,name) $(shared_options)
# KERNEL is another word for SUBMISSION; of both one would be ignored.
takes_grade = $(if $(filter SUBMISSION,$(given)),,KERNEL) SUBMISSION NAME $(takes_grader)

# The grader's Python packages, pinned. In a directory of their own: VENV=... names another.
$(VENV)/grader-ready: grader/requirements.txt
	@sh make/venv.sh '$(PYTHON)' '$(VENV)' $^
	@touch $@

# ---------------------------------------------------------------- the grader's parts -------------

# What grader/build/ needs from here, all of it made without a submission: the judge; and in
# build/grader what is linked with one, in the sandbox, by compile.sh. The checked build is for the
# CPU; so is the plain one, unless BACKEND=cuda, where cuda/ holds what it is linked with.
worker_parts = build/cpu/rewrite build/cpu/spaces build/cpu/grader/worker/worker.o \
    build/cpu/engine/host/host.o build/cpu/$(LAB)/call.o build/lab.sh build/lab.json $(begin) $(end) \
    $(patsubst %.c,build/c/%.o,$(wildcard grader/worker/*.c)) \
    build/cpu/engine/host/check/check_run.o build/check/walk_page.o build/check/insert \
    engine/watch/locals/local.h \
    build/libcheck.a build/libengine.a $(driver) build/libruntime.a \
    grader/worker/compile.sh engine/cuda/preprocess.sh engine/cuda/spaces/check_spaces.sh \
    make/check_kernel.sh engine/watch/guard/host_calls.sh \
    engine/watch/guard/host_call.S engine/report/text/source.S
# The one header of this project that a submission may include, and what it includes.
include_parts = support.h $(wildcard engine/*.h engine/host/*.h engine/host/driver/*.h \
                                      engine/report/*.h engine/report/*.def engine/report/*/*.h engine/report/*/*.def)

# And speed is timed: record.cu, which is linked with the submission, too, writes down what it
# launches; build/clock replays it.
ifeq ($(backend),cuda)
cuda_parts = $(patsubst %.cu,build/cuda/%.o,$(wildcard grader/worker/*.cu)) \
             build/cuda/grader/clock/record.o build/cuda/engine/host/host.o build/cuda/$(LAB)/call.o \
             build/libclock.a
grader-parts: build/clock
endif

## make grader-parts        what the grader builds for itself
grader-parts: build/judge build/grader/jail build/grader/flags $(worker_parts) $(cuda_parts)
	@mkdir -p $(addprefix build/grader/,engine/cuda engine/report cuda)
	cp $(worker_parts) build/grader
	for header in $(include_parts); do \
	    mkdir -p build/grader/include/$$(dirname $$header) && cp $$header build/grader/include/$$header || exit; \
	done
	cp -R engine/cuda/include build/grader/engine/cuda
	cp engine/report/cuda_errors.def build/grader/engine/report
	$(if $(cuda_parts),cp $(cuda_parts) build/grader/cuda)
takes_grader-parts = $(takes_build)

build/judge: build/c/grader/judge/judge.o $(driver)
	$(CC) $(C_FLAGS) $(linked) -o $@ -lm

build/grader/jail: build/c/grader/jail/jail.o | $$(@D)/.
	$(CC) $(C_FLAGS) $^ -o $@

# What compile.sh reads: variables for the shell. They depend on BACKEND and ARCH as well.
build/grader/flags: FORCE build/check/settings | $$(@D)/.
	@printf "%s='%s'\n" CXX "$$(command -v $(CXX))" PLAIN_FLAGS '$(EMULATED_FLAGS)' \
	    CHECKED_FLAGS '$(CHECKED_FLAGS)' \
	    NVCC '$(if $(filter cuda,$(backend)),$(NVCC))' \
	    CUDA_FLAGS '$(if $(filter cuda,$(backend)),$(CUDA_FLAGS))' \
	    FEW_ERRORS '$(few_errors_of_$(cxx_family))' \
	    WORKER_CALLS '$(worker_calls)' RECORDER_CALLS '$(recorder_calls)' >$@

# The report has room for the first errors; the later ones often follow from them.
few_errors_of_gcc   = -fmax-errors=3
few_errors_of_clang = -ferror-limit=3

# In a form that c++ and nvcc both take.
worker_calls = $(addprefix -Xlinker --wrap=,cudaMemcpy cudaMemcpyAsync cudaMemcpy2D \
    cudaMemcpy2DAsync __cudaPopCallConfiguration)

# The calls that the recorder intercepts, in the order of record.cu.
recorder_calls = $(addprefix -Xlinker --wrap=,cudaMalloc cudaMallocPitch cudaMallocAsync \
    cudaFree cudaFreeAsync cudaLaunchKernel __cudaLaunchKernel __cudaLaunchKernel_ptsz \
    cudaLaunchKernelExC cudaFuncSetAttribute cudaMemset cudaMemsetAsync cudaMemset2D \
    cudaMemset2DAsync cudaMemcpy cudaMemcpyAsync cudaMemcpy2D cudaMemcpy2DAsync \
    __cudaRegisterVar cudaMemcpyToSymbol cudaStreamWaitEvent cudaDeviceReset)

# C that includes CUDA's headers, which nvcc knows where to find.
build/cuda/grader/clock/%.o: grader/clock/%.c build/cuda/settings | $$(@D)/.
	$(progress)
	$(NVCC) $(addprefix -Xcompiler ,$(C_FLAGS)) $(headers) -c $< -o $@

build/libclock.a: $(addsuffix .o,$(addprefix build/cuda/,$(basename \
    $(filter-out %/clock.c %/record.cu,$(wildcard grader/clock/*.c grader/clock/*.cu)))))

# The driver's library is linked against the toolkit's stub where no driver is installed.
build/clock: build/cuda/grader/clock/clock.o build/libclock.a $(driver)
	$(NVCC) $(CUDA_FLAGS) $(linked) -o $@ -lcublas -lcuda -lpthread \
	    -Xlinker -rpath=$(abspath $(dir $(NVCC))../lib64)
