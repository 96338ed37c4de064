# The SGEMM assignment: what builds ./sgemm. `make help` lists every target. The CPU backend,
# ./sgemm-check, the grader and what is for instructors have a .mk in their folders.

include make/values.mk # what was given is taken as it is
KERNEL  ?= kernel.cu
BACKEND ?= auto
ARCH    ?= native
PYTHON  ?= python3
VENV    ?= .venv
NVCC    ?= $(or $(shell command -v nvcc),$(wildcard /usr/local/cuda/bin/nvcc))
CC      := $(if $(filter default,$(origin CC)),cc,$(CC))
CXX     := $(if $(filter default,$(origin CXX)),c++,$(CXX))
ifneq ($(filter -%,$(firstword $(KERNEL))),)
override KERNEL := ./$(KERNEL)# or the compiler would take it for an option
endif
export KERNEL # recipes use "$$KERNEL": the path may hold spaces, quotes, anything

C_FLAGS    = -std=c11 -O2 -g -Wall -Wextra -pthread

# As many jobs as cores, unless make was given a number: a cold build takes seconds, and students
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
progress = @$(if $(silent)$(filter 1,$(V)),:,sh make/say.sh file $<)

.SUFFIXES:
.SECONDEXPANSION:
.DELETE_ON_ERROR:
.PRECIOUS: %/. build/%/settings build/%/kernel.source build/cpu/%.ii
.PHONY: all program clean distclean help writable FORCE

## make                     build ./sgemm from kernel.cu
##      KERNEL=path.cu      ... from another file
##      BACKEND=cuda|cpu    ... for a GPU or the CPU (default: a GPU if any)
##      ARCH=sm_90          ... for this GPU (default: the one at hand)
##      V=1                 ... showing every command
## ./sgemm --help           how to run it
all: sgemm
takes_tools = ARCH CC CXX NVCC AR
takes_build = KERNEL BACKEND $(takes_tools) C_FLAGS CUDA_FLAGS EMULATED_FLAGS CHECKED_FLAGS CHECKED_O
takes_all   = $(takes_build)
takes_sgemm = $(takes_build)

include make/backend.mk # says what $(backend) is

sgemm: build/backend build/$(backend)/sgemm FORCE
	@cmp -s build/$(backend)/sgemm $@ || cp build/$(backend)/sgemm $@
	@$(say) "./sgemm is built from $$KERNEL, for $(target_$(backend))"

# ---------------------------------------------------------------- how files are compiled ---------

# Objects lie as their sources do, below build/c (C), build/cuda (nvcc), build/cpu and build/check
# (engine/cuda/cuda.mk). A compiler writes beside each which headers it has read.
headers = -MMD -MP -MF $(basename $@).d
-include $(shell find build/c build/cuda build/cpu -name '*.d' 2>/dev/null)

build/c/%.o: %.c build/c/settings | $$(@D)/.
	$(progress)
	$(CC) $(C_FLAGS) $(headers) -c $< -o $@

build/lib%.a: | $$(@D)/.
	@rm -f $@
	$(AR) rcs $@ $^

# What main.cu leans on: no part of make check, which has libengine.a beside them. These archives need
# each other, so $(linked) has them in a group.
driver  = build/liblab.a build/libhost.a build/libreport.a
lessons = $(wildcard lab/cause*.c)
host    = $(patsubst %,engine/host/%.c,options watchdog failure failure_json cores \
                                      launch_report report result)
build/liblab.a: $(patsubst %.c,build/c/%.o,support.c $(filter-out $(lessons),$(wildcard lab/*.c)))
build/libhost.a: $(patsubst %.c,build/c/%.o,$(host))
build/libreport.a: $(patsubst %.c,build/c/%.o,$(wildcard engine/report/*.c))
grouped = $(filter-out %.a,$1) -Xlinker --start-group $(filter %.a,$1) -Xlinker --end-group
linked  = $(call grouped,$^)

%/.: | writable
	mkdir -p $@

writable:
	@test -w . || { \
	    echo 'this folder cannot be written: copy it (cp -r), and run make in the copy' >&2; exit 2; }
	@test ! -e build || test -w build || { \
	    echo 'build/ cannot be written: remove it as the user it belongs to' >&2; exit 2; }

# Rewritten when the compilers or flags differ from last time, which rebuilds everything.
build/c/settings:    settings = $(CC), $(C_FLAGS)
build/cpu/settings:  settings = $(CC), $(C_FLAGS), $(CXX), $(EMULATED_FLAGS)
build/cuda/settings: settings = $(NVCC), $(CUDA_FLAGS), $(C_FLAGS)
build/%/settings: FORCE | $$(@D)/.
	@echo '$(settings)' | cmp -s - $@ || { \
	    sh make/check_tools.sh $* '$(CC)' '$(CXX)' '$(AR)' '$(NVCC)' '$(ARCH)' && \
	    echo '$(settings)' >$@; }

# One after the other, so that what a machine lacks is reported once. make check needs no GPU.
build/c/settings: | build/$(if $(filter check sgemm-check,$(MAKECMDGOALS)),cpu,$(backend))/settings

# What a program is built from, the name of kernel.cu and its bytes, which it carries along: so it
# can say when the file has changed since. A build that fails leaves no older program.
build/%/kernel.source: FORCE build/%/settings
	@test -f "$$KERNEL" || { rm -f $(program); \
	    echo "$$KERNEL: no such file; KERNEL=... names the .cu file to build" >&2; exit 2; }
	@{ printf '%s\0' "$$KERNEL"; cat "$$KERNEL"; } | cmp -s - $@ || { rm -f $(program); \
	    { printf '%s\0' "$$KERNEL"; cat "$$KERNEL"; } >$@; }

program = $(if $(filter build/check/%,$@),sgemm-check,$(plain_program))
plain_program = $(if $(filter program,$(MAKECMDGOALS)),build/program,sgemm)

build/%/source.o: engine/report/source.S build/%/kernel.source build/%/settings
	$(CC) -DKERNEL_SOURCE='"build/$*/kernel.source"' -c $< -o $@

## make program KERNEL=p.cu build build/program from a .cu file with its own main()
program: build/$(backend)/program FORCE
	@cmp -s $< build/$@ || cp $< build/$@
takes_program = $(takes_build)

include make/cuda.mk
# A student's copy has no instructor/.
include $(wildcard $(addsuffix .mk,engine/cuda/cuda engine/host/check grader/grader \
                                   instructor/instructor))

## make clean, distclean    remove what was built; and the .venv
clean:
	rm -rf build sgemm sgemm-check
takes_clean =

distclean: clean
	rm -rf $(VENV)
takes_distclean = VENV

help:
	@sed -n 's/^## \{0,1\}//p' $(filter %Makefile %.mk,$(MAKEFILE_LIST))
takes_help =

FORCE:

include make/variables.mk
