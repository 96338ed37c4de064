# The SGEMM assignment. `make help` lists what can be made.

KERNEL  ?= kernel.cu
BACKEND ?= auto
ARCH    ?= native
PYTHON  ?= python3
NVCC    ?= $(or $(shell command -v nvcc),$(wildcard /usr/local/cuda/bin/nvcc))
ifeq ($(origin CC),default)
CC  := cc
endif
ifeq ($(origin CXX),default)
CXX := c++
endif
ifneq ($(filter -%,$(firstword $(KERNEL))),)
override KERNEL := ./$(KERNEL)# or it would pass for an option of the compiler's
endif
export KERNEL # recipes say "$$KERNEL": the path may hold spaces, quotes, anything

# As many jobs as cores, unless somebody says otherwise: a cold build takes seconds, and students
# wait for it.
ifeq ($(filter -j% --jobs%,$(MAKEFLAGS)),)
MAKEFLAGS += -j$(or $(shell nproc 2>/dev/null),1)
endif

# One line a step, and on a terminal the file that is being compiled, until the next line. V=1 shows
# the commands, make -s nothing.
ifneq ($(V),1)
.SILENT:
endif
silent   = $(findstring s,$(firstword -$(MAKEFLAGS)))
say      = $(if $(silent),:,sh make/say.sh line)
progress = $(if $(silent)$(filter 1,$(V)),:,sh make/say.sh file $<)

.SUFFIXES:
.DELETE_ON_ERROR:
.PHONY: all check grade grade-summary grade-annotations grade-class grade-class-summary sandbox \
        grader-parts program clean distclean help FORCE
all: sgemm

help::
	@echo 'make                     build ./sgemm from kernel.cu'
	@echo '     KERNEL=path.cu      ... from another file'
	@echo '     BACKEND=cuda|cpu    ... for a GPU or the CPU (default: a GPU if any)'
	@echo '     ARCH=sm_90          ... for this GPU (default: the one at hand)'
	@echo '     V=1                 ... showing every command'
	@echo './sgemm --help           how to run it'
	@echo 'make check               name the first mistake of kernel.cu, or of KERNEL=...'
	@echo './sgemm-check --help     ... on other sizes; loads, stores and tile phases'
	@echo 'make program KERNEL=p.cu build build/program from a .cu file with its own main()'
	@echo
	@echo 'make grade               points for kernel.cu on the public test cases'
	@echo '     SUBMISSION=path     ... for another file, folder or zip'
	@echo '     SUITE=all           ... on all cases there are; see docs/grading.md'
	@echo 'make grade-class         a whole folder of them: SUBMISSIONS=path'
	@echo 'make grade-summary, grade-annotations, grade-class-summary, sandbox'
	@echo '                         for workflows: see docs/ci.md'
	@echo 'make grader-parts        what the grader builds for itself'
	@echo 'make clean, distclean    remove what was built; and the .venv'

# ---------------------------------------------------------------- which backend, and why ---------

# The architecture of the GPU at hand; nothing where none answers.
gpu = $(eval gpu := $$(shell sh make/gpu_arch.sh 2>/dev/null))$(gpu)
arch = $(if $(filter native,$(ARCH)),$(gpu),$(ARCH))
no_gpu = $(if $(gpu),,nvcc is here, but no GPU answers)
why_cpu = $(if $(NVCC),$(no_gpu),there is no nvcc here)
ifeq ($(BACKEND),auto)
backend = $(eval backend := $$(if $$(why),cpu,cuda))$(backend)
why = $(eval why := $$(why_cpu))$(why)
else
ifeq ($(filter cpu-1 cuda-1,$(BACKEND)-$(words $(BACKEND))),)
$(error BACKEND=$(BACKEND): it is auto, cuda or cpu)
endif
backend := $(BACKEND)
why := BACKEND=$(BACKEND)
endif
say_cpu  = CPU backend: $(why)
say_cuda = CUDA backend: $(or $(why),nvcc and a GPU are here) (ARCH=$(arch))
target_cpu  = the CPU
target_cuda = a GPU ($(arch))

# ---------------------------------------------------------------- ./sgemm ------------------------

C_FLAGS    = -std=c11 -O3 -g -Wall -Wextra -pthread
# For what runs once and briefly, where the time to compile is what somebody waits for.
BRIEF_FLAGS = $(patsubst -O3,-O1,$(C_FLAGS))
brief = rewrite memory device error fault place report watchdog source json explain explain_regions \
        event element words host names phases main options print judge kinds
flags = $(if $(filter $(basename $(<F)),$(brief)),$(BRIEF_FLAGS),$(C_FLAGS))
# Machine code for one GPU and no PTX, which the driver would translate when a program is loaded.
CUDA_FLAGS = -O3 $(patsubst sm_%,-arch=compute_%,$(arch)) -code=$(arch) -lineinfo
# No strict aliasing: kernels read float arrays through float4 pointers. No warning for comparing
# signed with unsigned, narrowing in dim3{...} or a pragma of nvcc's: that is everybody's style.
# With stack-clash protection a local array that is too large for a thread's stack meets the guard.
EMULATED_FLAGS = -std=c++17 -O3 -g -pthread -fno-strict-aliasing -fstack-clash-protection \
                 -Wall -Wno-sign-compare -Wno-unknown-pragmas -Wno-narrowing -Wno-unused-variable

sgemm: build/backend build/$(backend)/sgemm FORCE
	@cmp -s build/$(backend)/sgemm $@ || cp build/$(backend)/sgemm $@
	@$(say) "./sgemm is built from $$KERNEL, for $(target_$(backend))"

# Which backend, and why: said when it is another than last time.
build/backend: FORCE | writable
	@mkdir -p $(@D)
	@echo '$(say_$(backend))' | cmp -s - $@ || { \
	    echo '$(say_$(backend))' >$@; $(say) '$(say_$(backend))'; }

writable: FORCE
	@test -w . && { test ! -e build || test -w build; } || { \
	    echo 'this folder cannot be written: copy it (cp -r), and run make in the copy' >&2; exit 2; }

# Rewritten when the compilers or flags differ from last time, which rebuilds everything.
build/cpu/settings:  settings = $(CC), $(C_FLAGS), $(CXX), $(EMULATED_FLAGS)
build/cuda/settings: settings = $(NVCC), $(CUDA_FLAGS)
build/support/settings: settings = $(CC), $(C_FLAGS)
build/%/settings: FORCE | writable
	@mkdir -p $(@D)
	@echo '$(settings)' | cmp -s - $@ || { \
	    sh make/check_tools.sh $* '$(CC)' '$(CXX)' '$(AR)' '$(NVCC)' '$(ARCH)' && \
	    echo '$(settings)' >$@; }

# One after the other, so that what a machine lacks is said once. make check needs no GPU.
build/support/settings: | build/$(if $(filter check sgemm-check,$(MAKECMDGOALS)),cpu,$(backend))/settings
build/check/settings: | build/cpu/settings

# What knows nothing of CUDA is built once for both backends.
support = $(patsubst %.c,build/support/%.o,support.c $(notdir $(wildcard support/*.c)))

build/support/%.o: support/%.c support.h $(wildcard support/*.h) build/support/settings
	@$(progress)
	$(CC) $(flags) -c $< -o $@

build/support/%.o: %.c support.h support/shared.h build/support/settings
	@$(progress)
	$(CC) $(C_FLAGS) -c $< -o $@

# What a program is built from, the name of kernel.cu and its bytes; it carries them along, and can
# say when the file has changed since. A build that fails leaves no older program.
build/%/kernel.source: FORCE build/%/settings
	@test -f "$$KERNEL" || { rm -f $(program); \
	    echo "$$KERNEL: no such file; KERNEL=... names the .cu file to build" >&2; exit 2; }
	@{ printf '%s\0' "$$KERNEL"; cat "$$KERNEL"; } | cmp -s - $@ || { rm -f $(program); \
	    { printf '%s\0' "$$KERNEL"; cat "$$KERNEL"; } >$@; }

program = $(if $(filter build/check/%,$@),sgemm-check,$(plain_program))
plain_program = $(if $(filter program,$(MAKECMDGOALS)),build/program,sgemm)

build/%/source.o: support/source.S build/%/kernel.source build/%/settings
	$(CC) -DKERNEL_SOURCE='"build/$*/kernel.source"' -c $< -o $@

# ---------------------------------------------------------------- CUDA backend -------------------

build/cuda/kernel.o: build/cuda/kernel.source build/cuda/settings
	@$(say) "NVCC $$KERNEL"
	$(NVCC) $(CUDA_FLAGS) -I . -x cu -c "$$KERNEL" -o $@

build/cuda/launches.o: support/launches.cu support.h build/cuda/settings
	@$(progress)
	$(NVCC) $(CUDA_FLAGS) -c $< -o $@

build/cuda/main.o: main.cu support.h build/cuda/settings
	@$(progress)
	$(NVCC) $(CUDA_FLAGS) -c $< -o $@

build/cuda/sgemm: build/cuda/kernel.o build/cuda/main.o build/cuda/launches.o build/cuda/source.o \
                  $(support)
	@sh make/check_kernel.sh $<
	$(NVCC) $(CUDA_FLAGS) -Xlinker --wrap=cudaLaunchKernel,--wrap=__cudaLaunchKernel $^ -o $@ -lpthread

build/cuda/program: build/cuda/kernel.o
	$(NVCC) $(CUDA_FLAGS) $^ -o $@

# ---------------------------------------------------------------- CPU backend --------------------

runtime = $(patsubst emulator/runtime/%.c,build/cpu/%.o,$(wildcard emulator/runtime/*.c))

build/cpu/rewrite: emulator/rewrite.c build/cpu/settings
	@$(progress)
	$(CC) $(flags) $< -o $@

# Preprocessed and rewritten at every make, but touched only when that gives something new: so
# whatever kernel.cu includes counts, and no name of a file has to go through make.
define preprocess
	@mkdir -p $(@D)
	@sh make/preprocess.sh emulator/include . build/cpu/rewrite \
	    "$(if $(filter kernel,$*),$$KERNEL,$*.cu)" $(basename $@) $(CXX) $(1) || \
	    { $(no_result); exit 2; }
	@cmp -s $(basename $@).new $@ || { $(no_result); mv $(basename $@).new $@; }
endef
no_result = $(if $(filter kernel,$*),rm -f $(program),:)

build/cpu/kernel.ii: build/cpu/kernel.source
build/cpu/%.ii: FORCE build/cpu/rewrite
	$(call preprocess,$(EMULATED_FLAGS))

build/cpu/%.o: build/cpu/%.ii build/cpu/settings
	@$(if $(filter kernel,$*),$(say) "CXX $$KERNEL",$(progress))
	$(CXX) $(EMULATED_FLAGS) -x c++-cpp-output -c $< -o $@

build/cpu/%.o: emulator/runtime/%.c emulator/runtime/runtime.h \
               $(wildcard emulator/include/*.h) build/cpu/settings
	@$(progress)
	$(CC) $(flags) -c $< -o $@

# So that a call that fails is still among its callers when somebody asks which one it was.
build/cpu/memory.o build/cpu/device.o: private C_FLAGS += -fno-optimize-sibling-calls

build/cpu/libemulator.a: $(runtime)
	@rm -f $@
	$(AR) rcs $@ $^

build/cpu/sgemm: build/cpu/kernel.o build/cpu/main.o build/cpu/support/launches.o build/cpu/source.o \
                 $(support) build/cpu/libemulator.a
	@sh make/check_kernel.sh $<
	$(CXX) $(EMULATED_FLAGS) $^ -o $@ -lm

build/cpu/program: build/cpu/kernel.o build/cpu/libemulator.a
	$(CXX) $(EMULATED_FLAGS) $^ -o $@ -lm

# ---------------------------------------------------------------- ./sgemm-check ------------------

# The checked build: kernel.cu with the compiler's own instrumentation, whose calls the checker
# answers (checker/access.c), so none of the compiler's libraries are linked. -O1: at -O0
# local variables would be watched too. Not vectorised: 16 bytes at once are to be the kernel's own
# float4. clang needs to be told to report the read of C[i] += x, and to keep to array bounds.
CHECKED_O = -O1
CHECKED_FLAGS = $(filter-out -O%,$(EMULATED_FLAGS)) $(CHECKED_O) -fno-omit-frame-pointer \
                -fno-tree-vectorize -fno-tree-slp-vectorize -fsanitize=thread,bounds \
                $(checked_flags_of_$(cxx_family))
# gcc expands a memcpy of known length without a word to the checker; as a call it is seen.
checked_flags_of_gcc = -Wno-tsan -U_FORTIFY_SOURCE \
                       $(foreach f,memcpy memmove memset,-fno-builtin-$f -D__builtin_$f=$f)
# DWARF 4: in clang's DWARF 5, addr2line (binutils 2.40) takes one file for another.
checked_flags_of_clang = -gdwarf-4 -fno-sanitize=local-bounds \
                         -mllvm -tsan-instrument-read-before-write=1 \
                         -mllvm -tsan-instrument-func-entry-exit=0
cxx_family = $(eval cxx_family := $$(if $$(findstring clang,$$(shell $$(CXX) --version)),clang,gcc))$(cxx_family)

check: sgemm-check
	@./sgemm-check

sgemm-check: build/check/sgemm-check FORCE
	@cmp -s $< $@ || cp $< $@

build/check/settings: settings = $(CC), $(C_FLAGS), $(CXX), $(CHECKED_FLAGS)

markers = kernel_begin kernel_end
front   = main options run print print_counts print_phases judge kinds
checker = $(patsubst checker/%.c,build/check/%.o,\
            $(filter-out $(patsubst %,checker/%.c,$(markers) $(front)),$(wildcard checker/*.c)))
check   = $(patsubst %,build/check/%.o,$(filter-out run,$(front)))

build/check/%.o: checker/%.c $(wildcard checker/*.h) emulator/runtime/runtime.h support.h \
                 support/shared.h build/check/settings
	@$(progress)
	$(CC) $(flags) -c $< -o $@

build/check/kernel.ii: build/check/%.ii: build/check/kernel.source FORCE build/cpu/rewrite
	$(call preprocess,$(CHECKED_FLAGS))

build/check/kernel.o: build/check/kernel.ii build/check/settings
	@$(say) "CXX $$KERNEL (checked)"
	$(CXX) $(CHECKED_FLAGS) -x c++-cpp-output -c $< -o $@
	@! command -v objcopy >/dev/null || objcopy $(watched_memcpy) $@

# clang announces what memcpy reads and writes; gcc leaves it to the library, which nobody watches.
watched_memcpy = $(foreach f,memcpy memmove memset,--redefine-sym $f=__tsan_$f)

# Around kernel.cu's object: checker/program.c. Without debug information, of which
# kernel.cu's is to come first.
$(markers:%=build/check/%.o): private C_FLAGS = -std=c11 -O1

# On a machine with a GPU, too: nothing there sees as much.
build/check/sgemm-check: build/check/kernel_begin.o build/check/kernel.o \
                         build/check/kernel_end.o build/cpu/checker/run.o \
                         build/check/source.o $(check) $(checker) $(support) build/cpu/libemulator.a
	@sh make/check_kernel.sh build/check/kernel.o
	$(CXX) $(EMULATED_FLAGS) $^ -o $@ -lm

# ---------------------------------------------------------------- the grader's parts -------------

# What grader/build.py needs from here, all of it made without a submission: the judge; and in
# build/grader what is linked with one, in the sandbox, by compile.sh. Always for the CPU.
worker_parts = $(addprefix build/grader/,rewrite worker.o watch_plain.o watch_checked.o \
                 kernel_begin.o kernel_end.o libemulator.a libchecker.a libsupport.a compile.sh \
                 preprocess.sh check_kernel.sh include/support.h flags emulator/include jail)
grader-parts: build/judge $(worker_parts)

# With BACKEND=cuda the plain build is nvcc's; the checked one stays.
# And speed is timed: what records the submission's launches is linked with it, too; the clock that
# replays them is the grader's own (grader/clock).
ifeq ($(backend),cuda)
grader-parts: $(addprefix build/grader/,worker_cuda.o watch_cuda.o record_cuda.o recording.o \
              judgement.o) build/clock
endif

build/grader/%_cuda.o: grader/worker/%.cu $(wildcard grader/worker/*.h) support.h build/cuda/settings
	@mkdir -p $(@D)
	$(NVCC) $(CUDA_FLAGS) -c $< -o $@

build/grader/watch_cuda.o: grader/worker/watch_cuda.cu $(wildcard grader/worker/*.h) support.h \
                           build/cuda/settings
	@mkdir -p $(@D)
	$(NVCC) $(CUDA_FLAGS) -c $< -o $@

clock_headers = $(wildcard grader/clock/*.h) support.h support/shared.h

build/grader/record_cuda.o: grader/clock/record.cu $(clock_headers) build/cuda/settings
	@mkdir -p $(@D)
	$(NVCC) $(CUDA_FLAGS) -c $< -o $@

build/grader/recording.o build/grader/judgement.o: build/grader/%.o: grader/clock/%.c \
        $(clock_headers) build/cuda/settings
	@mkdir -p $(@D)
	$(CC) $(C_FLAGS) -c $< -o $@

# The driver's library is linked against the toolkit's stub where no driver is installed.
clock_parts = $(patsubst grader/clock/%,build/cuda/clock/%.o,$(basename \
                $(filter-out %/record.cu,$(wildcard grader/clock/*.c grader/clock/*.cu))))
CLOCK_C_FLAGS = -O3 -g -Xcompiler -std=c11,-Wall,-Wextra

build/cuda/clock/%.o: grader/clock/%.cu $(clock_headers) build/cuda/settings
	@mkdir -p $(@D)
	$(NVCC) $(CUDA_FLAGS) -c $< -o $@

build/cuda/clock/%.o: grader/clock/%.c $(clock_headers) build/cuda/settings
	@mkdir -p $(@D)
	$(NVCC) $(CLOCK_C_FLAGS) -c $< -o $@

build/clock: $(clock_parts) $(support)
	$(NVCC) $(CUDA_FLAGS) $^ -o $@ -lcublas -lcuda -lpthread \
	    -Xlinker -rpath=$(abspath $(dir $(NVCC))../lib64)

# Both compilers' words, for compile.sh.
worker_calls = -Xlinker \
    --wrap=cudaMemcpy,--wrap=cudaMemcpyAsync,--wrap=cudaMemcpy2D,--wrap=__cudaPopCallConfiguration

# What the recorder wants to see, in the order of its file.
recorder_calls = $(addprefix -Xlinker --wrap=,cudaMalloc cudaMallocPitch cudaFree \
    cudaLaunchKernel __cudaLaunchKernel __cudaLaunchKernel_ptsz cudaLaunchKernelExC \
    cudaFuncSetAttribute cudaMemset cudaMemsetAsync cudaMemset2D cudaMemcpy cudaMemcpyAsync \
    cudaMemcpy2D __cudaRegisterVar cudaMemcpyToSymbol cudaStreamWaitEvent cudaDeviceReset)

build/grader/watch_%.o: grader/worker/watch_%.c $(wildcard grader/worker/*.h checker/*.h emulator/*/*.h) \
                        support.h build/check/settings
	@mkdir -p $(@D)
	$(CC) $(C_FLAGS) -c $< -o $@

build/grader/worker.o: build/cpu/grader/worker/worker.o
	@mkdir -p $(@D)
	cp $< $@

build/grader/kernel_%.o: build/check/kernel_%.o
	@mkdir -p $(@D)
	cp $< $@

build/grader/rewrite build/grader/libemulator.a: build/grader/%: build/cpu/%
	@mkdir -p $(@D)
	cp $< $@

build/grader/libchecker.a: $(checker)
build/grader/libsupport.a: $(support)
build/grader/libchecker.a build/grader/libsupport.a:
	@mkdir -p $(@D)
	@rm -f $@
	$(AR) rcs $@ $^

# Shell scripts, and the one header of the project's that a submission may include.
build/grader/compile.sh: grader/worker/compile.sh
build/grader/preprocess.sh: make/preprocess.sh
build/grader/check_kernel.sh: make/check_kernel.sh
build/grader/include/support.h: support.h
$(addprefix build/grader/,compile.sh preprocess.sh check_kernel.sh include/support.h):
	@mkdir -p $(@D)
	cp $< $@

build/grader/emulator/include: $(wildcard emulator/include/*.h emulator/include/empty/*)
	@rm -rf $@ && mkdir -p $(@D)
	cp -R emulator/include $@

# The report has room for the first errors; the later ones often follow from them.
few_errors_of_gcc   = -fmax-errors=3
few_errors_of_clang = -ferror-limit=3

build/grader/flags: build/check/settings
	@mkdir -p $(@D)
	@printf "%s='%s'\n" CXX "$$(command -v $(CXX))" PLAIN_FLAGS '$(EMULATED_FLAGS)' \
	    CHECKED_FLAGS '$(CHECKED_FLAGS)' WATCHED_MEMCPY '$(watched_memcpy)' \
	    NVCC '$(if $(filter cuda,$(backend)),$(NVCC))' CUDA_FLAGS '$(if $(filter cuda,$(backend)),$(CUDA_FLAGS))' \
	    FEW_ERRORS '$(few_errors_of_$(cxx_family))' \
	    WORKER_CALLS '$(worker_calls)' RECORDER_CALLS '$(recorder_calls)' >$@

build/grader/jail: grader/jail/jail.c build/cpu/settings
	@mkdir -p $(@D)
	$(CC) $(C_FLAGS) $< -o $@

build/judge: grader/judge/judge.c grader/worker/report.h $(addprefix build/check/,judge.o kinds.o) \
             $(support)
	$(CC) $(C_FLAGS) $(filter %.c %.o,$^) -o $@ -lm

# A .cu file with a main() of its own, for the tests and for whoever likes.
program: build/$(backend)/program FORCE
	@cmp -s $< build/$@ || cp $< build/$@

FORCE:
.PRECIOUS: build/%/settings build/%/kernel.source build/cpu/%.ii

# ---------------------------------------------------------------- grading ------------------------

VENV       ?= .venv
SUBMISSION ?= $(KERNEL)
SUITE      ?= public
RESULTS    ?= results
export SUBMISSION SUITE RESULTS NAME SEED JOBS PROTECTION

# What is given becomes an option, even if it is empty; values reach the shell through the
# environment.
if_given = $(if $(filter command%,$(origin $1)),--$2 "$$$1")
shared_options = --suite "$$SUITE" --results "$$RESULTS" $(call if_given,SEED,seed) \
    $(call if_given,JOBS,jobs) $(call if_given,PROTECTION,protection) $(grade_backend) $(GRADE_ARGS)
grade_backend = $(if $(filter cpu cuda,$(BACKEND)),--backend $(BACKEND))

grade: $(VENV)/grader-ready
	@sh make/start_python.sh $(VENV)/bin/python -B -m grader --submission "$$SUBMISSION" \
	    $(call if_given,NAME,name) $(shared_options)

# One result in another form. --github: into the file that GitHub reads, elsewhere to standard output.
result = "$$RESULTS/$${NAME:-kernel}/result.json"
grade-summary grade-annotations: grade-%: $(VENV)/grader-ready
	@$(VENV)/bin/python -B -m grader.exporters $* --github $(result)

# A class: every entry of the folder SUBMISSIONS; goes on after a failure. RESULTS/scores.csv.
SUBMISSIONS ?= submissions
export SUBMISSIONS
grade-class: $(VENV)/grader-ready
	@sh make/start_python.sh $(VENV)/bin/python -B -m grader.batch --submissions "$$SUBMISSIONS" \
	    $(shared_options)

grade-class-summary: $(VENV)/grader-ready
	@$(VENV)/bin/python -B -m grader.exporters class --github "$$RESULTS"

# A target while whose output GitHub's workflow commands are switched off.
guarded-%:
	@$(PYTHON) -B -m grader.exporters.guarded $(MAKE) --no-print-directory $*

# On a CI runner: installs bubblewrap and lets it make namespaces (Debian, Ubuntu).
sandbox:
	@sh .github/sandbox.sh

# The grader's Python packages, pinned. In a directory of their own: VENV=... names another.
$(VENV)/grader-ready: grader/requirements.txt
	@sh make/venv.sh '$(PYTHON)' '$(VENV)' $<
	@touch $@

# What needs instructor/ or tests/, which a student's copy does not have.
include $(wildcard instructor/targets.mk)

include make/variables.mk

clean:
	rm -rf build sgemm sgemm-check

distclean: clean
	rm -rf $(VENV)
