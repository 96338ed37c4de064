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

.SUFFIXES:
.DELETE_ON_ERROR:
.PHONY: all check program test test-gpu bench-emulator bench-reference bench-check clean distclean help FORCE
all: sgemm

help:
	@echo 'make                     build ./sgemm from kernel.cu'
	@echo '     KERNEL=path.cu      ... from another file'
	@echo '     BACKEND=cuda|cpu    ... for a GPU or the CPU (default: a GPU if any)'
	@echo '     ARCH=sm_90          ... for this GPU (default: the one at hand)'
	@echo './sgemm --help           how to run it'
	@echo 'make check               name the first mistake of kernel.cu, or of KERNEL=...'
	@echo './sgemm-check --help     ... on other sizes; loads, stores and tile phases'
	@echo 'make program KERNEL=p.cu build build/program from a .cu file with its own main()'
	@echo
	@echo 'make test                the tests of this project (sets up .venv first)'
	@echo 'make test-gpu            those that need a GPU'
	@echo 'make bench-emulator      how fast the CPU backend is'
	@echo 'make bench-reference     how fast the verification is'
	@echo 'make bench-check         how fast a checked run is'
	@echo 'make clean, distclean    remove what was built; and the .venv'

# ---------------------------------------------------------------- which backend, and why ---------

no_gpu = $(shell nvidia-smi -L 2>/dev/null | grep -q '^GPU' || echo nvcc is here, but no GPU answers)
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
say_cuda = CUDA backend: $(or $(why),nvcc and a GPU are here) (ARCH=$(ARCH))

# ---------------------------------------------------------------- ./sgemm ------------------------

C_FLAGS    = -std=c11 -O3 -g -Wall -Wextra -pthread
# For what runs once and briefly, where the time to compile is what somebody waits for.
BRIEF_FLAGS = $(patsubst -O3,-O1,$(C_FLAGS))
brief = rewrite memory device error fault place report json explain explain_regions \
        event element words host names phases main options print judge
flags = $(if $(filter $(basename $(<F)),$(brief)),$(BRIEF_FLAGS),$(C_FLAGS))
CUDA_FLAGS = -O3 -arch=$(ARCH) -lineinfo
# No strict aliasing: kernels read float arrays through float4 pointers. No warning for comparing
# signed with unsigned, narrowing in dim3{...} or a pragma of nvcc's: that is everybody's style.
# With stack-clash protection a local array that is too large for a thread's stack meets the guard.
EMULATED_FLAGS = -std=c++17 -O3 -g -pthread -fno-strict-aliasing -fstack-clash-protection \
                 -Wall -Wno-sign-compare -Wno-unknown-pragmas -Wno-narrowing -Wno-unused-variable

sgemm: build/$(backend)/sgemm FORCE
	@echo '$(say_$(backend))'
	@cmp -s $< $@ || cp $< $@

# Rewritten when the compilers or flags differ from last time, which rebuilds everything.
build/cpu/settings:  settings = $(CC), $(C_FLAGS), $(CXX), $(EMULATED_FLAGS)
build/cuda/settings: settings = $(NVCC), $(CUDA_FLAGS)
build/support/settings: settings = $(CC), $(C_FLAGS)
build/%/settings: FORCE
	@mkdir -p $(@D)
	@echo '$(settings)' | cmp -s - $@ || { \
	    sh make/check_tools.sh $* '$(CC)' '$(CXX)' '$(NVCC)' '$(ARCH)' && echo '$(settings)' >$@; }

# One after the other, so that what a machine lacks is said once.
build/support/settings: | build/$(backend)/settings
build/check/settings: | build/cpu/settings

# What knows nothing of CUDA is built once for both backends.
support = $(patsubst %.c,build/support/%.o,support.c $(notdir $(wildcard support/*.c)))

build/support/%.o: support/%.c support.h $(wildcard support/*.h) build/support/settings
	$(CC) $(flags) -c $< -o $@

build/support/%.o: %.c support.h support/shared.h build/support/settings
	$(CC) $(C_FLAGS) -c $< -o $@

# ---------------------------------------------------------------- CUDA backend -------------------

# What kernel.o was made from: the file's name and its bytes.
build/cuda/kernel.source: FORCE build/cuda/settings
	@$(kernel_exists)
	@{ echo "$$KERNEL"; cat "$$KERNEL"; } | cmp -s - $@ || { \
	    rm -f sgemm sgemm-check; { echo "$$KERNEL"; cat "$$KERNEL"; } >$@; }

build/cuda/kernel.o: build/cuda/kernel.source
	$(NVCC) $(CUDA_FLAGS) -x cu -c "$$KERNEL" -o $@

build/cuda/main.o: main.cu support.h build/cuda/settings
	$(NVCC) $(CUDA_FLAGS) -c $< -o $@

build/cuda/sgemm: build/cuda/kernel.o build/cuda/main.o $(support)
	@sh make/check_kernel.sh $<
	$(NVCC) $(CUDA_FLAGS) $^ -o $@ -lpthread

build/cuda/program: build/cuda/kernel.o
	$(NVCC) $(CUDA_FLAGS) $^ -o $@

# ---------------------------------------------------------------- CPU backend --------------------

runtime = $(patsubst emulator/runtime/%.c,build/cpu/%.o,$(wildcard emulator/runtime/*.c))

build/cpu/rewrite: emulator/rewrite.c build/cpu/settings
	$(CC) $(flags) $< -o $@

# Preprocessed and rewritten at every make, but touched only when that gives something new: so
# whatever kernel.cu includes counts, and no name of a file has to go through make.
define preprocess
	@$(if $(filter kernel,$*),$(kernel_exists))
	@mkdir -p $(@D)
	@$(CXX) $(1) -isystem emulator/include -include cuda_runtime.h -E -x c++ \
	    "$(if $(filter kernel,$*),$$KERNEL,$*.cu)" -o $(basename $@).i && \
	    build/cpu/rewrite <$(basename $@).i >$(basename $@).new || { $(no_result); exit 2; }
	@cmp -s $(basename $@).new $@ || { $(no_result); mv $(basename $@).new $@; }
endef
# What a failed build must not leave behind.
no_result = rm -f $(if $(filter build/check/%,$@),sgemm-check,sgemm)

build/cpu/%.ii: FORCE build/cpu/rewrite
	$(call preprocess,$(EMULATED_FLAGS))

build/cpu/%.o: build/cpu/%.ii build/cpu/settings
	$(CXX) $(EMULATED_FLAGS) -x c++-cpp-output -c $< -o $@

build/cpu/%.o: emulator/runtime/%.c emulator/runtime/runtime.h \
               $(wildcard emulator/include/*.h) build/cpu/settings
	$(CC) $(flags) -c $< -o $@

# So that a call that fails is still among its callers when somebody asks which one it was.
build/cpu/memory.o build/cpu/device.o: private C_FLAGS += -fno-optimize-sibling-calls

build/cpu/libemulator.a: $(runtime)
	@rm -f $@
	$(AR) rcs $@ $^

build/cpu/sgemm: build/cpu/kernel.o build/cpu/main.o $(support) build/cpu/libemulator.a
	@sh make/check_kernel.sh $<
	$(CXX) $(EMULATED_FLAGS) $^ -o $@ -lm

build/cpu/program: build/cpu/kernel.o build/cpu/libemulator.a
	$(CXX) $(EMULATED_FLAGS) $^ -o $@ -lm

# ---------------------------------------------------------------- ./sgemm-check ------------------

# The checked build: kernel.cu with the compiler's own instrumentation, whose calls the checker
# answers (emulator/checker/access.c), so none of the compiler's libraries are linked. -O1: at -O0
# local variables would be watched too. Not vectorised: 16 bytes at once are to be the kernel's own
# float4. clang needs to be told to report the read of C[i] += x, and to keep to array bounds.
CHECKED_O = -O1
CHECKED_FLAGS = $(filter-out -O%,$(EMULATED_FLAGS)) $(CHECKED_O) -fno-omit-frame-pointer \
                -fno-tree-vectorize -fno-tree-slp-vectorize -fsanitize=thread,bounds \
                $(checked_flags_of_$(cxx_family))
checked_flags_of_gcc = -Wno-tsan
# DWARF 4: in clang's DWARF 5, addr2line (binutils 2.40) takes one file for another.
checked_flags_of_clang = -gdwarf-4 -fno-sanitize=local-bounds \
                         -mllvm -tsan-instrument-read-before-write=1 \
                         -mllvm -tsan-instrument-func-entry-exit=0
cxx_family = $(eval cxx_family := $$(if $$(findstring clang,$$(shell $$(CXX) --version)),clang,gcc))$(cxx_family)

check: sgemm-check
	@./sgemm-check

sgemm-check: build/check/$(backend)-sgemm-check FORCE
	@cmp -s $< $@ || cp $< $@

build/check/settings: settings = $(CC), $(C_FLAGS), $(CXX), $(CHECKED_FLAGS)

checker = $(patsubst emulator/%.c,build/check/%.o,$(wildcard emulator/checker/*.c))
on_gpu  = $(patsubst %.c,build/%.o,$(wildcard check/sanitizer*.c))
check   = $(filter-out $(on_gpu),$(patsubst %.c,build/%.o,$(wildcard check/*.c)))

build/check/checker/%.o: emulator/checker/%.c $(wildcard emulator/*/*.h) build/check/settings
	@mkdir -p $(@D)
	$(CC) $(flags) -c $< -o $@

build/check/%.o: check/%.c $(wildcard check/*.h emulator/checker/*.h) emulator/runtime/runtime.h \
                 support.h support/shared.h \
                 build/check/settings
	$(CC) $(flags) -c $< -o $@

build/check/kernel.ii: build/check/%.ii: FORCE build/cpu/rewrite
	$(call preprocess,$(CHECKED_FLAGS))

build/check/kernel.o: build/check/kernel.ii build/check/settings
	$(CXX) $(CHECKED_FLAGS) -x c++-cpp-output -c $< -o $@

build/check/cpu-sgemm-check: build/check/kernel.o build/cpu/check/run.o $(check) $(checker) \
                             $(support) build/cpu/libemulator.a
	@sh make/check_kernel.sh $<
	$(CXX) $(EMULATED_FLAGS) $^ -o $@ -lm

# For a GPU, compute-sanitizer watches (check/sanitizer.h). Its host frames need debug information,
# and every frame; check/watched.cu wants to see the wrapper's calls of a few functions.
CHECKED_CUDA_FLAGS = $(CUDA_FLAGS) -g -Xcompiler -fno-optimize-sibling-calls
watched_calls = -Xlinker --wrap=cudaMalloc,--wrap=cudaFree,--wrap=__cudaPopCallConfiguration

build/check/run.o build/check/watched.o: build/check/%.o: check/%.cu $(wildcard check/*.h) \
                                         emulator/checker/finding.h support.h build/cuda/settings
	@mkdir -p $(@D)
	$(NVCC) $(CUDA_FLAGS) -c $< -o $@

build/check/cuda-kernel.o: build/cuda/kernel.source
	@mkdir -p $(@D)
	$(NVCC) $(CHECKED_CUDA_FLAGS) -x cu -c "$$KERNEL" -o $@

build/check/cuda-sgemm-check: build/check/cuda-kernel.o build/check/run.o build/check/watched.o \
                              $(check) $(on_gpu) $(support) build/cpu/place.o
	@sh make/check_kernel.sh $<
	$(NVCC) $(CUDA_FLAGS) $(watched_calls) $^ -o $@ -lpthread

kernel_exists = test -f "$$KERNEL" || { $(no_result); \
    echo "$$KERNEL: no such file; KERNEL=... names the .cu file to build" >&2; exit 2; }

# A .cu file with a main() of its own, for the tests and for whoever likes.
program: build/$(backend)/program FORCE
	@cmp -s $< build/$@ || cp $< build/$@

FORCE:
.PRECIOUS: build/%/settings build/cpu/%.ii

# ---------------------------------------------------------------- tests, benchmarks --------------

test: .venv/ready
	.venv/bin/python -m pytest tests

test-gpu: .venv/ready
	sh tests/emulator/run_on_gpu.sh $(ARCH)
	.venv/bin/python -m pytest tests -m gpu

.venv/ready: tests/requirements.txt
	$(PYTHON) -m venv .venv
	.venv/bin/python -m pip install --quiet --require-hashes -r $<
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

clean:
	rm -rf build sgemm sgemm-check

distclean: clean
	rm -rf .venv
