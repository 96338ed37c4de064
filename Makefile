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

.SUFFIXES:
.DELETE_ON_ERROR:
.PHONY: all program test test-gpu bench-emulator bench-reference clean distclean help FORCE
all: sgemm

help:
	@echo 'make                     build ./sgemm from kernel.cu'
	@echo '     KERNEL=path.cu      ... from another file'
	@echo '     BACKEND=cuda|cpu    ... for a GPU or the CPU (default: a GPU if any)'
	@echo '     ARCH=sm_90          ... for this GPU (default: the one at hand)'
	@echo './sgemm --help           how to run it'
	@echo 'make program KERNEL=p.cu build build/program from a .cu file with its own main()'
	@echo
	@echo 'make test                the tests of this project (sets up .venv first)'
	@echo 'make test-gpu            those that need a GPU'
	@echo 'make bench-emulator      how fast the CPU backend is'
	@echo 'make bench-reference     how fast the verification is'
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

# What knows nothing of CUDA is built once for both backends.
support = $(patsubst %.c,build/support/%.o,support.c $(notdir $(wildcard support/*.c)))

build/support/%.o: support/%.c support.h support/shared.h build/support/settings
	$(CC) $(C_FLAGS) -c $< -o $@

build/support/%.o: %.c support.h support/shared.h build/support/settings
	$(CC) $(C_FLAGS) -c $< -o $@

# ---------------------------------------------------------------- CUDA backend -------------------

# What kernel.o was made from: the file's name and its bytes.
build/cuda/kernel.source: FORCE build/cuda/settings
	@$(kernel_exists)
	@{ echo "$$KERNEL"; cat "$$KERNEL"; } | cmp -s - $@ || { \
	    rm -f sgemm; { echo "$$KERNEL"; cat "$$KERNEL"; } >$@; }

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
	$(CC) $(C_FLAGS) $< -o $@

# Preprocessed and rewritten at every make, but touched only when that gives something new: so
# whatever kernel.cu includes counts, and no name of a file has to go through make.
build/cpu/%.ii: FORCE build/cpu/rewrite
	@$(kernel_exists)
	@mkdir -p $(@D)
	@$(CXX) $(EMULATED_FLAGS) -isystem emulator/include -include cuda_runtime.h -E -x c++ \
	    "$(if $(filter kernel,$*),$$KERNEL,$*.cu)" -o build/cpu/$*.i && \
	    build/cpu/rewrite <build/cpu/$*.i >build/cpu/$*.new || { rm -f sgemm; exit 2; }
	@cmp -s build/cpu/$*.new $@ || { rm -f sgemm; mv build/cpu/$*.new $@; }

build/cpu/%.o: build/cpu/%.ii build/cpu/settings
	$(CXX) $(EMULATED_FLAGS) -x c++-cpp-output -c $< -o $@

build/cpu/%.o: emulator/runtime/%.c emulator/runtime/runtime.h \
               $(wildcard emulator/include/*.h) build/cpu/settings
	$(CC) $(C_FLAGS) -c $< -o $@

build/cpu/libemulator.a: $(runtime)
	@rm -f $@
	$(AR) rcs $@ $^

build/cpu/sgemm: build/cpu/kernel.o build/cpu/main.o $(support) build/cpu/libemulator.a
	@sh make/check_kernel.sh $<
	$(CXX) $(EMULATED_FLAGS) $^ -o $@ -lm

build/cpu/program: build/cpu/kernel.o build/cpu/libemulator.a
	$(CXX) $(EMULATED_FLAGS) $^ -o $@ -lm

kernel_exists = test -f "$$KERNEL" || { rm -f sgemm; \
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

clean:
	rm -rf build sgemm

distclean: clean
	rm -rf .venv
